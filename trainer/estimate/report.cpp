#include "estimate/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "text/format.hpp"

namespace hpcboot::estimate {
namespace {

constexpr std::size_t kShownLayouts = 20;

/// Three or four digits with a unit: "405.9 G".
std::string scaled(double value) {
  constexpr const char* kUnits[] = {"", " k", " M", " G", " T", " P", " E"};
  std::size_t unit = 0;
  while (value >= 999.95 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f}{}", value, unit == 0 && value == std::floor(value) ? 0 : 1,
                     kUnits[unit]);
}

std::string bytes_text(double bytes) {
  return bytes == 0 ? "0" : scaled(bytes) + (bytes < 999.95 ? " B" : "B");
}

std::string seconds_text(double seconds) {
  if (std::isinf(seconds)) return "unlimited";
  if (seconds == 0) return "0 s";
  return seconds < 0.9995 ? fmt::format("{:.3g} ms", seconds * 1000)
                          : fmt::format("{:.4g} s", seconds);
}

double samples_per_step(const Plan& plan) {
  return static_cast<double>(plan.batch.micro) * static_cast<double>(plan.batch.accumulate) *
         static_cast<double>(plan.layout.data * plan.layout.shard);
}

/// A file may contain any name.
std::string short_name(const std::string& name) {
  constexpr std::size_t kLongest = 30;
  return name.size() <= kLongest ? name : name.substr(0, kLongest) + "...";
}

std::string layout_text(const Layout& layout) {
  if (layout.devices() == 1) return "1 device";
  return fmt::format("data {} x shard {} x tensor {} x pipeline {} = {} devices", layout.data,
                     layout.shard, layout.tensor, layout.pipeline, layout.devices());
}

const char* rate_unit(const Report& report) {
  return report.model.tokens == 1 ? "images/s" : "tokens/s";
}

std::string rate_text(const Report& report, const Plan& plan) {
  const double samples = samples_per_step(plan) / plan.time.total();
  return scaled(samples * static_cast<double>(report.model.tokens));
}

using Rows = std::vector<std::pair<const char*, double>>;

Rows memory_rows(const Memory& memory) {
  return {{"weights", memory.weights},     {"gradients", memory.gradients},
          {"optimizer", memory.optimizer}, {"activations", memory.activations},
          {"buckets", memory.buckets},     {"temporary", memory.working},
          {"host", memory.host},           {"peak", memory.peak}};
}

Encoded one_plan(const Report& report, const Plan& plan) {
  const StepTime& time = plan.time;
  const Traffic& traffic = plan.needs.traffic;
  TextTable about({Align::left, Align::left});
  about.add({"model",
             fmt::format("{}: {} parameters, {}, {}", short_name(report.model.name),
                         scaled(report.model.parameters()), report.types.name, report.optimizer)});
  about.add({"layout", layout_text(plan.layout)});
  if (plan.layout.shard > 1 || plan.layout.offload) {
    about.add({"sharded", fmt::format("ZeRO-{}: {}", plan.layout.zero,
                                      plan.layout.zero == 1   ? "optimizer"
                                      : plan.layout.zero == 2 ? "optimizer, gradients"
                                                              : "optimizer, gradients, weights")});
  }
  if (plan.layout.offload) {
    about.add({"offloaded", "weights, gradients, optimizer: " + bytes_text(plan.needs.memory.host) +
                                " of the host's memory"});
  }
  if (plan.layout.checkpoint) about.add({"kept", "the input of each layer"});
  about.add({"batch", fmt::format("{} in a pass x {} passes x {} replicas = {}", plan.batch.micro,
                                  plan.batch.accumulate, plan.layout.data * plan.layout.shard,
                                  scaled(samples_per_step(plan)))});
  Encoded text = about.text() + "\n";
  TextTable table(
      {Align::left, Align::right, Align::left, Align::right, Align::left, Align::right});
  table.add_titles({"Memory", "", "Sent in a step", "", "Time of a step", ""});
  const Rows memory = memory_rows(plan.needs.memory);
  const std::vector<std::pair<const char*, std::string>> sent = {
      {"data", bytes_text(traffic.data)},
      {"shard", bytes_text(traffic.shard)},
      {"tensor", bytes_text(traffic.tensor)},
      {"pipeline", bytes_text(traffic.pipeline)},
      {"to the host", bytes_text(traffic.to_host)},
      {"from the host", bytes_text(traffic.from_host)}};
  const std::vector<std::pair<const char*, std::string>> times = {
      {"computation", seconds_text(time.compute)},
      {"tensor sums", seconds_text(time.tensor)},
      {"exchange, exposed", seconds_text(time.exchange)},
      {"update on the host", seconds_text(time.update)},
      {"pipeline idle", seconds_text(time.pipeline)},
      {"step", seconds_text(time.total())},
      {rate_unit(report), rate_text(report, plan)},
      {"operations", scaled(plan.needs.flop) + "FLOP"}};
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool is_sent = i < sent.size();
    table.add({memory[i].first, bytes_text(memory[i].second), is_sent ? sent[i].first : "",
               is_sent ? sent[i].second : "", times[i].first, times[i].second});
  }
  text += table.text();
  const double room = report.machine.memory;
  const bool fits = plan.needs.memory.peak <= room;
  text += encoded_format("\nOn each device this {} into {}.\n", fits ? "fits" : "does not fit",
                         bytes_text(room));
  if (!fits) {
    text += encoded_format(
        "Try --shard, --offload, --checkpoint-activations or a smaller --micro-batch.\n");
  }
  return text;
}

Encoded all_plans(const Report& report, const Look& look) {
  if (report.plans.empty()) {
    return encoded_format(
        "No layout fits into {} a device and divides the batch.\n"
        "Try more --devices, --checkpoint-activations, or another --batch-size, such as a "
        "multiple\n"
        "of --devices.\n",
        bytes_text(report.machine.memory));
  }
  TextTable table({Align::right, Align::right, Align::right, Align::right, Align::right,
                   Align::right, Align::right, Align::right, Align::right});
  table.add_titles({"Data", "Shard", "Tensor", "Pipeline", "Micro-batch", "Passes", "Memory",
                    "Step", rate_unit(report)});
  const std::size_t shown = std::min(kShownLayouts, report.plans.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Plan& plan = report.plans[i];
    table.add({std::to_string(plan.layout.data), std::to_string(plan.layout.shard),
               std::to_string(plan.layout.tensor), std::to_string(plan.layout.pipeline),
               std::to_string(plan.batch.micro), std::to_string(plan.batch.accumulate),
               bytes_text(plan.needs.memory.peak), seconds_text(plan.time.total()),
               rate_text(report, plan)});
  }
  Encoded text = table.text(look);
  text += encoded_format("\n{} of the {} layouts that fit into {} a device, the fastest first.\n",
                         shown, report.plans.size(), bytes_text(report.machine.memory));
  return text;
}

Json plan_json(const Plan& plan) {
  Json json;
  const Layout& layout = plan.layout;
  json["layout"] = {{"data", layout.data},         {"shard", layout.shard},
                    {"tensor", layout.tensor},     {"pipeline", layout.pipeline},
                    {"devices", layout.devices()}, {"zero", layout.zero},
                    {"offload", layout.offload},   {"checkpoint", layout.checkpoint}};
  json["micro_batch"] = plan.batch.micro;
  json["accumulate"] = plan.batch.accumulate;
  for (const auto& [name, bytes] : memory_rows(plan.needs.memory))
    json["memory_bytes"][name] = bytes;
  const Traffic& traffic = plan.needs.traffic;
  json["sent_bytes"] = {{"data", traffic.data},       {"shard", traffic.shard},
                        {"tensor", traffic.tensor},   {"pipeline", traffic.pipeline},
                        {"to_host", traffic.to_host}, {"from_host", traffic.from_host}};
  json["flop"] = plan.needs.flop;
  json["seconds"] = {{"compute", plan.time.compute},   {"tensor", plan.time.tensor},
                     {"exchange", plan.time.exchange}, {"update", plan.time.update},
                     {"pipeline", plan.time.pipeline}, {"step", plan.time.total()}};
  return json;
}

}  // namespace

Json to_json(const Report& report) {
  Json json;
  json["model"] = report.model.name;
  json["parameters"] = report.model.parameters();
  json["precision"] = report.types.name;
  json["optimizer"] = report.optimizer;
  json["memory_of_device_bytes"] = report.machine.memory;
  json["plans"] = Json::array();
  for (const Plan& plan : report.plans) json["plans"].push_back(plan_json(plan));
  return json;
}

Encoded to_text(const Report& report, const Look& look) {
  return report.is_search ? all_plans(report, look) : one_plan(report, report.plans.front());
}

}  // namespace hpcboot::estimate

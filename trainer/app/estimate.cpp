#include "hpcboot/torch/estimate.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/options.hpp"
#include "estimate/report.hpp"
#include "estimate/shape_file.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {

namespace {

namespace es = hpcboot::estimate;

struct Options {
  std::string model = "resnet50";
  std::int64_t channels = 1, image_size = 128, classes = 10;
  std::int64_t sequence = 0;
  std::string precision = "fp32";
  std::string optimizer = "adam";
  es::Layout layout;
  es::Batch batch;
  bool keep_gathered = false;
  std::int64_t devices = 0, batch_size = 0;
  double memory = 80, tflops = 0, node_bandwidth = 300, network_bandwidth = 25;
  std::int64_t devices_per_node = 8;
  double host_bandwidth = 25, host_memory_bandwidth = 50;
};

/// A model of the trainer.
struct ImageModel {
  const char* name;
  std::int64_t least;  ///< pixels; below, poolings have none
  std::int64_t patch;  ///< pixels, of which the image size is a multiple
  es::Model (*make)(std::int64_t channels, std::int64_t size, std::int64_t classes);
};

constexpr ImageModel kImageModels[] = {
    {"mnistnet", 2, 1, es::mnistnet},   {"resnet18", 32, 1, es::resnet18},
    {"resnet50", 32, 1, es::resnet50},  {"vit_b_16", 16, 16, es::vit_b_16},
    {"vit_s_16", 16, 16, es::vit_s_16}, {"vit_ti_16", 16, 16, es::vit_ti_16},
};

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const ImageModel& model : kImageModels) names.emplace_back(model.name);
  for (const std::string& name : es::known_transformers()) names.push_back(name);
  return names;
}

options::Command command_for(Options& o) {
  options::Command command{
      "trainer",
      "estimate",
      "calculate what training a model needs: memory, traffic and time of a step",
      {"trainer estimate [OPTIONS]"},
      {{"trainer estimate --model resnet50 --micro-batch 256", "on one device"},
       {"trainer estimate --model gpt2 --data 8 --micro-batch 4", "DDP on 8 devices"},
       {"trainer estimate --model config.json --shard 8", "sharded over 8 devices by ZeRO-3"},
       {"trainer estimate --model llama-3.1-8b --devices 64 --batch-size 64",
        "which layouts fit, the fastest first"}}};
  command.details = {
      "Nothing is allocated: the model may be of any size. Memory is that of live tensors, in fp32 "
      "within 7 %; allocators and libraries need more. Autocast keeps some results, such as "
      "those of softmax, in fp32, which is not counted. Times assume that exchanges overlap "
      "with computation as far as the method allows.",
      "A FILE.json describes a transformer: layers, hidden_size, heads, vocabulary, sequence; "
      "optionally head_size, key_value_heads, feed_forward (4 x hidden_size), and true or false "
      "for gated, rms_norm, bias (or attention_bias and mlp_bias), tied, learned_positions, "
      "fused_attention (by default of Llama and Mistral). The config.json of a GPT-2, Llama or "
      "Mistral model of Hugging Face can be used as it is.",
      "bf16 and fp16 are autocast, with weights in fp32, as --precision of the trainer; "
      "bf16-master "
      "has weights and gradients in bf16 and the optimizer in fp32; bf16-pure everything in bf16."};
  command.groups = {
      {"Model",
       {{"model", options::into(o.model, "NAME|FILE.json", options::Completes::file),
         options::one_of(models()) + "; or a file"},
        {"image-size", options::into(o.image_size, "N"), "pixels of the images of an image model"},
        {"channels", options::into(o.channels, "N"), "of its images"},
        {"classes", options::into(o.classes, "N"), "of its images"},
        {"sequence", options::into(o.sequence, "N").otherwise_is("the model's"),
         "tokens of a transformer's sample"},
        {"precision", options::choice_into(o.precision, es::type_names()), "types of the numbers"},
        {"optimizer", options::choice_into(o.optimizer, es::optimizer_names()),
         "momentum: SGD with momentum; sgd: SGD without it"}}},
      {"Layout",
       {{"data", options::into(o.layout.data, "N"), "replicas of the model"},
        {"shard", options::into(o.layout.shard, "N"), "devices that share a replica's state"},
        {"tensor", options::into(o.layout.tensor, "N"), "devices that share each matrix"},
        {"pipeline", options::into(o.layout.pipeline, "N"), "stages of layers"},
        {"zero", options::into(o.layout.zero, "1|2|3"),
         "what --shard divides: 1 the optimizer's state, 2 also gradients, 3 also weights"},
        {"offload", options::flag(o.layout.offload),
         "ZeRO-2 and 3: keep what a rank has in host memory, and step there"},
        {"keep-gathered", options::flag(o.keep_gathered),
         "ZeRO-3: keep weights from the forward to the backward pass"},
        {"checkpoint-activations", options::flag(o.layout.checkpoint),
         "keep each layer's input only, and compute the rest again"},
        {"micro-batch", options::into(o.batch.micro, "N"), "samples of a replica in a pass"},
        {"accumulate", options::into(o.batch.accumulate, "N"), "passes in a step"}}},
      {"Search",
       {{"devices", options::into(o.devices, "N").otherwise_is("none"),
         "list the layouts over N devices that fit, instead of --data to --pipeline"},
        {"batch-size", options::into(o.batch_size, "N").otherwise_is("--devices"),
         "samples of all devices in a step, instead of --micro-batch and --accumulate"}}},
      {"Machine",
       {{"memory", options::into(o.memory, "GB"), "of a device"},
        {"devices-per-node", options::into(o.devices_per_node, "N"), "linked by --node-bandwidth"},
        {"tflops", options::into(o.tflops, "N").otherwise_is("40 % of an H100's"),
         "that a device reaches in training"},
        {"node-bandwidth", options::into(o.node_bandwidth, "GB/s"), "of a device, within a node"},
        {"network-bandwidth", options::into(o.network_bandwidth, "GB/s"),
         "of a device, between nodes"},
        {"host-bandwidth", options::into(o.host_bandwidth, "GB/s"),
         "between a device and its host, one way"},
        {"host-memory-bandwidth", options::into(o.host_memory_bandwidth, "GB/s"),
         "of the host, for each device"}}},
      {"Output", {{"json", options::flag(), "print one JSON object"}}}};
  command.exit_codes = {{"0", "it fits into --memory"},
                        {"1", "it does not fit, or no layout does"},
                        {"2", "the command line is wrong"},
                        {"27, 28", "FILE.json cannot be read, or is damaged"},
                        {"43", "the model is impossible"}};
  return command;
}

options::Command estimate_command() {
  Options unused;  // only described, never parsed
  return command_for(unused);
}

es::Model image_model(const ImageModel& model, const Options& o) {
  if (o.channels < 1 || o.classes < 1)
    throw UsageError("--channels and --classes must be at least 1");
  if (o.sequence != 0)
    throw UsageError("--sequence is for transformers; " + o.model + " takes images");
  if (o.image_size < model.least) {
    throw UsageError("--image-size is " + std::to_string(o.image_size) + "; for " + o.model +
                     " it must be at least " + std::to_string(model.least));
  }
  if (o.image_size % model.patch != 0) {
    throw UsageError("--image-size is " + std::to_string(o.image_size) + "; " + o.model +
                     " needs a multiple of " + std::to_string(model.patch));
  }
  return model.make(o.channels, o.image_size, o.classes);
}

es::Model model_of(const Options& o, const po::variables_map& values) {
  for (const ImageModel& model : kImageModels) {
    if (o.model == model.name) return image_model(model, o);
  }
  const bool is_file = o.model.find('/') != std::string::npos ||
                       std::filesystem::path(o.model).extension() == ".json";
  const std::vector<std::string> known = es::known_transformers();
  if (!is_file && std::find(known.begin(), known.end(), o.model) == known.end()) {
    throw UsageError("--model is '" + o.model + "'; expected " + options::one_of(models()) +
                     ", or a file, such as config.json");
  }
  for (const char* option : {"image-size", "channels", "classes"}) {
    if (!values[option].defaulted())
      throw UsageError("--" + std::string(option) + " is for models of images; " + o.model +
                       " is a transformer");
  }
  es::Transformer shape = is_file ? es::read_transformer(o.model) : es::known_transformer(o.model);
  if (o.sequence == 0) return es::transformer(shape);
  if (shape.learned_positions && o.sequence > shape.sequence) {
    throw UsageError("--sequence is " + std::to_string(o.sequence) + "; " + o.model +
                     " has learned only " + std::to_string(shape.sequence) + " positions");
  }
  shape.positions = std::exchange(shape.sequence, o.sequence);
  return es::transformer(shape);
}

/// Of devices in a dimension, and of samples: as the estimate accepts them.
constexpr std::int64_t kMost = 1'000'000'000;

void check(const Options& o, const po::variables_map& values) {
  const double tflops = values["tflops"].defaulted() ? 1 : o.tflops;
  for (const double number : {o.memory, tflops, o.node_bandwidth, o.network_bandwidth,
                              o.host_bandwidth, o.host_memory_bandwidth}) {
    if (!(number > 0)) throw UsageError("--memory, --tflops and the bandwidths must be above 0");
    if (number > 1e9) {
      throw UsageError("--memory, --tflops and the bandwidths must be at most 1e9");
    }
  }
  if (o.devices_per_node < 1) throw UsageError("--devices-per-node must be at least 1");
  const std::pair<const char*, std::int64_t> numbers[] = {
      {"data", o.layout.data},        {"shard", o.layout.shard},
      {"tensor", o.layout.tensor},    {"pipeline", o.layout.pipeline},
      {"micro-batch", o.batch.micro}, {"accumulate", o.batch.accumulate}};
  for (const auto& [name, number] : numbers) {
    if (number < 1 || number > kMost)
      throw UsageError("--" + std::string(name) + " is " + std::to_string(number) +
                       "; expected 1 to " + std::to_string(kMost));
  }
  if (o.layout.offload && o.layout.zero < 2) throw UsageError("--offload needs --zero 2 or 3");
  if (o.devices == 0 && o.layout.shard == 1 && !o.layout.offload) {
    const char* expected = " needs --shard: what it divides";
    if (!values["zero"].defaulted()) throw UsageError(std::string("--zero") + expected);
    if (o.keep_gathered) throw UsageError(std::string("--keep-gathered") + expected);
  }
  if (o.devices == 0) {
    if (o.batch_size != 0) throw UsageError("--batch-size needs --devices; else use --micro-batch");
    return;
  }
  if (o.devices < 1 || o.devices > 1'000'000) throw UsageError("--devices must be 1 to 1000000");
  if (o.batch_size < 0 || o.batch_size > kMost)
    throw UsageError("--batch-size must be 1 to " + std::to_string(kMost));
  for (const auto& [name, number] : numbers) {
    if (!values[name].defaulted()) {
      throw UsageError("--devices searches all layouts; it cannot be used with --" +
                       std::string(name));
    }
  }
}

/// @throws UsageError for a layout that the model does not allow: its sizes are options
es::Estimate needs_of(const es::Report& report, int averages, const es::Plan& plan) {
  try {
    return es::estimate(report.model, report.types, averages, plan.layout, plan.batch);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_model_use) throw;
    throw UsageError(error.found() + "; expected " + error.expected() + "; " + error.remedy());
  }
}

int print(const es::Report& report, bool as_json) {
  if (as_json) {
    out() << json_text(es::to_json(report), 2) << "\n";
  } else {
    out() << es::to_text(report, look_of(STDOUT_FILENO));
  }
  const bool fits = std::any_of(
      report.plans.begin(), report.plans.end(),
      [&](const es::Plan& plan) { return plan.needs.memory.peak <= report.machine.memory; });
  return fits ? 0 : 1;
}

int estimate(const Arguments& arguments) {
  Options o;
  const auto parsed = parse(command_for(o), arguments);
  if (!parsed) return 0;
  check(o, parsed->values);
  o.layout.reshard_after_forward = !o.keep_gathered;
  constexpr double kGiga = 1e9;
  es::Report report;
  report.model = model_of(o, parsed->values);
  report.types = es::types_of(o.precision);
  report.optimizer = o.optimizer;
  report.machine = {o.tflops > 0 ? o.tflops * 1e12 : report.types.flops,
                    o.memory * kGiga,
                    o.node_bandwidth * kGiga,
                    o.network_bandwidth * kGiga,
                    o.devices_per_node,
                    o.host_bandwidth * kGiga,
                    o.host_memory_bandwidth * kGiga};
  const int averages = es::averages_of(o.optimizer);
  report.is_search = o.devices > 0;
  if (report.is_search) {
    const std::int64_t samples = o.batch_size > 0 ? o.batch_size : o.devices;
    report.plans = es::fitting_layouts(report.model, report.types, averages, o.devices, samples,
                                       o.layout, report.machine);
  } else {
    es::Plan plan{o.layout, o.batch, {}, {}};
    plan.needs = needs_of(report, averages, plan);
    plan.time = es::step_time(plan.needs, plan.layout, plan.batch, report.machine);
    report.plans = {plan};
  }
  return print(report, parsed->values.count("json") != 0);
}

}  // namespace

const Verb kEstimate{estimate_command, estimate};

}  // namespace hpcboot::app

#include "watch/view_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/counted.hpp"
#include "record/run_phases.hpp"
#include "record/run_work.hpp"
#include "record/runtime_columns.hpp"
#include "text/display_width.hpp"
#include "text/format.hpp"
#include "text/wrap.hpp"

namespace hpcboot::watch {
namespace {

using record::StepMetrics;

constexpr std::size_t kMostRanks = 10;  // with their own lines, so that 24 are enough for all
constexpr std::size_t kBar = 30;        // columns
constexpr std::size_t kCurve = 40;
constexpr std::size_t kHost = 20;

std::string state_of(const RunView& view) {
  if (view.is_killed) return "killed: its process is gone";
  if (view.is_running()) return "running";
  return view.record.exit_reason;
}

Encoded state_text(const RunView& view, bool has_colour) {
  const Style style = view.is_running()                              ? Style::green
                      : view.record.exit_reason == record::kFinished ? Style::bold
                                                                     : Style::red;
  return styled(terminal_text(state_of(view)), style, has_colour);
}

/// The number of epochs of the training; empty if unknown.
std::string epochs_of(const RunView& view) {
  const Json epochs = record::config_value(view.record, "epochs");
  return epochs.is_number_integer() ? fmt::format("/{}", epochs.get<std::int64_t>()) : "";
}

/// "images/s"
std::string rate_of(const record::RunRecord& run) {
  const std::string sample = record::sample_of(run);
  return record::rate_unit(sample, sample);
}

/// The epoch of the last step that is known.
int epoch_of(const RunView& view) {
  const auto& epochs = view.record.epochs;
  return std::max(view.steps.empty() ? 0 : view.steps.back().epoch,
                  epochs.empty() ? 0 : epochs.back().epoch);
}

std::string progress_bar(double share) {
  const auto full = static_cast<std::size_t>(std::lround(share * static_cast<double>(kBar)));
  std::string bar;
  for (std::size_t i = 0; i < kBar; ++i) bar += i < full ? "█" : "░";
  return bar;
}

std::string progress(const RunView& view) {
  std::string text =
      fmt::format("epoch {}{}  step {}", epoch_of(view), epochs_of(view), view.step());
  if (!view.total_steps || *view.total_steps <= 0) return text;
  const double share = std::clamp(
      static_cast<double>(view.step()) / static_cast<double>(*view.total_steps), 0.0, 1.0);
  text += fmt::format("/{}  {} {:.0f}%", *view.total_steps, progress_bar(share), 100 * share);
  return text;
}

/// Values from left to right as blocks of different heights, in at most kCurve columns.
std::string curve(const std::vector<StepMetrics>& steps, double StepMetrics::*value) {
  static constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::vector<double> means;
  const std::size_t bins = std::min(kCurve, steps.size());
  for (std::size_t bin = 0; bin < bins; ++bin) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = bin * steps.size() / bins; i < (bin + 1) * steps.size() / bins; ++i) {
      if (!std::isfinite(steps[i].*value)) continue;
      sum += steps[i].*value;
      ++count;
    }
    if (count > 0) means.push_back(sum / static_cast<double>(count));
  }
  if (means.size() < 2) return "";
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  std::string text;
  for (const double mean : means) {
    const double share = *high > *low ? (mean - *low) / (*high - *low) : 0;
    text += kBlocks[static_cast<std::size_t>(std::lround(share * (kBlocks.size() - 1)))];
  }
  return text;
}

std::string number(double value, const char* unit = "") {
  return std::isfinite(value) ? fmt::format("{:.4g}{}", value, unit) : "–";
}

std::string milliseconds(std::optional<double> seconds) {
  constexpr double kMost = 1e6;  // seconds; beyond, it is no time of a step
  return seconds && *seconds < kMost ? fmt::format("{:.1f}", 1e3 * *seconds) : "–";
}

std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "–";
}

std::string gibibytes(const std::optional<double>& bytes) {
  return bytes ? fmt::format("{:.1f}", *bytes / (1 << 30)) : "–";
}

/// What the last step consisted of.
std::string step_line(const StepMetrics& step) {
  const std::pair<const char*, double StepMetrics::*> parts[] = {
      {"data", &StepMetrics::data_wait_seconds},
      {"forward", &StepMetrics::forward_seconds},
      {"backward", &StepMetrics::backward_seconds},
      {"all-reduce", &StepMetrics::communication_seconds},
      {"optimizer", &StepMetrics::optimizer_seconds}};
  std::string text = "step ms   " + milliseconds(step.step_seconds);
  for (const auto& [name, value] : parts)
    text += fmt::format("  {} {}", name, milliseconds(step.*value));
  return text;
}

/// Loss and measures of the last validation; empty if there is none.
std::string validation_line(const record::RunRecord& run) {
  if (run.epochs.empty()) return "";
  const record::EpochRecord& epoch = run.epochs.back();
  std::string text;
  if (epoch.validation_loss) text += "  loss " + number(*epoch.validation_loss);
  for (const record::Measure& measure : epoch.measures)
    text += "  " + measure.name + " " + number(measure.value);
  return text.empty() ? "" : fmt::format("validation of epoch {}:{}", epoch.epoch, text);
}

/// The ranks that the table shows: all of them, or the slowest of many.
std::vector<monitor::MonitorRow> shown_ranks(const RunView& view) {
  std::vector<monitor::MonitorRow> rows = view.ranks;
  if (rows.size() <= kMostRanks) return rows;
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.own_seconds.value_or(0) > b.own_seconds.value_or(0);
  });
  rows.resize(kMostRanks);
  return rows;
}

Encoded ranks_text(const RunView& view, const Look& look) {
  if (view.ranks.empty()) {
    if (!view.monitor_problem.empty())
      return encoded_format("each rank: unknown; {}\n", view.monitor_problem);
    if (!view.is_running()) return {};
    return "each rank: unknown; --monitor 5 of the trainer records it\n";
  }
  const bool has_gpus = std::any_of(view.ranks.begin(), view.ranks.end(), [](const auto& row) {
    return row.gpu_load_percent || row.gpu_memory_bytes;
  });
  std::vector<std::string> titles{"Rank", "Host", "Device", "Step ms", "Own ms", "CPU %", "GiB"};
  if (has_gpus) titles.insert(titles.end(), {"GPU %", "GPU GiB", "°C"});
  std::vector<Align> columns(titles.size(), Align::right);
  columns[1] = columns[2] = Align::left;
  titles.emplace_back();
  columns.push_back(Align::left);
  TextTable table(columns);
  table.add_titles(titles);
  for (const monitor::MonitorRow& row : shown_ranks(view)) {
    const bool is_slow = view.slow.count(row.rank) != 0;
    std::vector<std::string> cells{std::to_string(row.rank),
                                   cut_in_the_middle(row.host, kHost),
                                   cut_in_the_middle(row.device, kHost),
                                   milliseconds(row.step_seconds),
                                   milliseconds(row.own_seconds),
                                   percent(row.rank_cpu_percent),
                                   gibibytes(row.resident_bytes)};
    if (has_gpus) {
      cells.push_back(percent(row.gpu_load_percent));
      cells.push_back(gibibytes(row.gpu_memory_bytes));
      cells.push_back(percent(row.gpu_temperature_celsius));
    }
    cells.emplace_back(is_slow ? "slow" : "");
    table.add(cells, std::vector<Style>(cells.size(), is_slow ? Style::yellow : Style::plain));
  }
  Encoded text = table.text(look);
  if (view.ranks.size() > kMostRanks) {
    const bool is_sorted = view.ranks.front().own_seconds.has_value();
    text += encoded_format("the {} {} of {}\n", kMostRanks, is_sorted ? "slowest" : "first",
                           view.ranks.size());
  }
  return text;
}

}  // namespace

Encoded view_text(const RunView& view, const Look& look,
                  std::optional<std::chrono::seconds> silence) {
  const record::RunRecord& run = view.record;
  std::vector<std::string> lines;
  const Json model = record::config_value(run, "model");
  lines.push_back(fmt::format("{} {}x{}  {}{}", record::method_of(run.mode()), run.nodes,
                              run.devices_per_node,
                              model.is_string() ? model.get<std::string>() + "  " : "",
                              counted(static_cast<std::int64_t>(run.ranks.size()), "rank")));
  lines.push_back(progress(view));
  if (view.remaining_seconds)
    lines.back() += "  " + record::duration_text(view.remaining_seconds) + " left";
  if (!view.steps.empty()) {
    const StepMetrics& last = view.steps.back();
    const std::string rate = rate_of(run);
    const std::size_t label = std::max<std::size_t>(9, rate.size());
    lines.push_back(fmt::format("{:<{}} {:<10}{}", "loss", label, number(last.loss),
                                curve(view.steps, &StepMetrics::loss)));
    lines.push_back(fmt::format("{:<{}} {:<10}{}", rate, label, number(last.images_per_second),
                                curve(view.steps, &StepMetrics::images_per_second)));
    lines.push_back(step_line(last));
  }
  if (const std::string validation = validation_line(run); !validation.empty())
    lines.push_back(validation);
  if (run.totals.runtime_seconds && !view.is_running())
    lines.push_back("runtime   " + record::duration_text(run.totals.runtime_seconds));
  if (silence)
    lines.push_back("no new step for " +
                    record::duration_text(static_cast<double>(silence->count())));
  const std::size_t room = std::max<std::size_t>(20, std::min<std::size_t>(look.width, 200) - 12);
  Encoded text = encoded_format("{}  ", cut_in_the_middle(run.run, room)) +
                 state_text(view, look.has_colour) + "\n";
  for (const std::string& line : lines) {
    for (std::string& part : wrapped(line, look.width)) {
      part.erase(part.find_last_not_of(' ') + 1);
      text += encoded_format("{}\n", part);
    }
  }
  return text + ranks_text(view, look);
}

Encoded view_line(const RunView& view) {
  const record::RunRecord& run = view.record;
  if (!view.is_running()) return encoded_format("{}: {}\n", run.run, state_of(view));
  std::string text =
      fmt::format("epoch {}{}, step {}", epoch_of(view), epochs_of(view), view.step());
  if (view.total_steps) text += fmt::format("/{}", *view.total_steps);
  if (!view.steps.empty()) {
    text += fmt::format(", loss {}, {} {}", number(view.steps.back().loss),
                        number(view.steps.back().images_per_second), rate_of(run));
  }
  if (view.remaining_seconds)
    text += ", " + record::duration_text(view.remaining_seconds) + " left";
  for (const int rank : view.slow) text += fmt::format(", rank {} is slow", rank);
  return encoded_format("{}\n", text);
}

}  // namespace hpcboot::watch

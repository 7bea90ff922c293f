#include "report/run_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "record/run_phases.hpp"
#include "record/run_settings.hpp"
#include "record/run_work.hpp"
#include "text/format.hpp"
#include "text/wrap.hpp"

namespace hpcboot::report {
namespace {

using record::Phase;
using record::RunRecord;
using Number = std::optional<double>;

struct Setting {
  std::string name;
  std::string a;
  std::string b;
};

/// A number of both runs, or of one of them.
struct Figure {
  std::string name;
  int level = 0;
  Number a;
  Number b;
};

std::vector<Setting> differing_settings(const RunRecord& a, const RunRecord& b) {
  std::map<std::string, std::string> of_a = record::run_settings(a);
  std::map<std::string, std::string> of_b = record::run_settings(b);
  std::set<std::string> names;
  for (const auto& [name, value] : of_a) names.insert(name);
  for (const auto& [name, value] : of_b) names.insert(name);
  std::vector<Setting> differing;
  for (const std::string& name : names) {
    of_a.emplace(name, record::kUnknownSetting);
    of_b.emplace(name, record::kUnknownSetting);
    if (of_a[name] != of_b[name]) differing.push_back({name, of_a[name], of_b[name]});
  }
  return differing;
}

std::vector<Figure> phases(const RunRecord& a, const RunRecord& b) {
  const std::vector<Phase> of_a = record::run_phases(a);
  const std::vector<Phase> of_b = record::run_phases(b);
  std::vector<Figure> figures;
  for (std::size_t i = 0; i < of_a.size(); ++i)
    figures.push_back({of_a[i].name, of_a[i].level, of_a[i].seconds, of_b[i].seconds});
  return figures;
}

/// Steps of all epochs; none if the record lacks them.
Number steps_of(const RunRecord& run) {
  const bool is_known = std::any_of(run.epochs.begin(), run.epochs.end(),
                                    [](const auto& epoch) { return epoch.steps.has_value(); });
  if (!is_known) return std::nullopt;
  return static_cast<double>(record::last_steps(run.epochs).back());
}

std::string rate_of(const RunRecord& a, const RunRecord& b) {
  return record::rate_unit(record::sample_of(a), record::sample_of(b));
}

std::vector<Figure> results(const RunRecord& a, const RunRecord& b) {
  std::vector<Figure> figures{
      {"steps", 0, steps_of(a), steps_of(b)},
      {rate_of(a, b), 0, a.totals.images_per_second, b.totals.images_per_second}};
  const auto last = [](const RunRecord& run) {
    return run.epochs.empty() ? record::EpochRecord() : run.epochs.back();
  };
  const record::EpochRecord of_a = last(a);
  const record::EpochRecord of_b = last(b);
  figures.push_back({"training loss", 0, of_a.train_loss, of_b.train_loss});
  figures.push_back({"validation loss", 0, of_a.validation_loss, of_b.validation_loss});
  std::map<std::string, std::pair<Number, Number>> measures;
  for (const record::Measure& one : of_a.measures) measures[one.name].first = one.value;
  for (const record::Measure& one : of_b.measures) measures[one.name].second = one.value;
  for (const auto& [name, values] : measures)
    figures.push_back({name, 0, values.first, values.second});
  return figures;
}

constexpr double kLargest = 1e9;  // above, figures are written with an exponent

std::string number_text(const Number& value) {
  if (!value) return "–";
  if (*value == std::floor(*value) && std::abs(*value) < kLargest)
    return fmt::format("{:.0f}", *value);
  return std::abs(*value) < 100 || std::abs(*value) >= kLargest ? fmt::format("{:.4g}", *value)
                                                                : fmt::format("{:.1f}", *value);
}

std::string seconds_of(const Number& value) {
  if (!value) return "–";
  if (std::abs(*value) >= kLargest) return fmt::format("{:.4g}", *value);
  return std::abs(*value) < 100 ? fmt::format("{:.3f}", *value) : fmt::format("{:.1f}", *value);
}

std::string ratio_of(const Number& a, const Number& b) {
  constexpr double kMost = 1e6;  // beyond, one of them is next to nothing
  return a && b && *a > 0 && *b / *a < kMost ? fmt::format("{:.2f}", *b / *a) : "–";
}

/// @param is_time whether the values are seconds
Encoded figures_text(const std::vector<Figure>& figures, bool is_time, const Look& look) {
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right});
  table.add_titles({is_time ? "Time, s" : "Result", "A", "B", "B - A", "B / A"});
  const auto shown = is_time ? seconds_of : number_text;
  for (const Figure& figure : figures) {
    if (!figure.a && !figure.b) continue;
    const Number difference = figure.a && figure.b ? Number(*figure.b - *figure.a) : std::nullopt;
    const std::string sign = difference && *difference > 0 ? "+" : "";
    table.add(
        {std::string(2 * static_cast<std::size_t>(figure.level), ' ') + figure.name,
         shown(figure.a), shown(figure.b), sign + shown(difference), ratio_of(figure.a, figure.b)},
        {figure.level == 0 && is_time ? Style::bold : Style::plain});
  }
  return table.text(look);
}

Encoded settings_text(const std::vector<Setting>& settings, const Look& look) {
  if (settings.empty()) return "The settings are equal.\n";
  TextTable table({Align::left, Align::left, Align::left});
  table.add_titles({"Setting", "A", "B"});
  for (const Setting& one : settings) table.add({one.name, one.a, one.b});
  if (table.width() <= look.width) return table.text(look);
  // Long values, such as paths: below each other.
  TextTable narrow({Align::left, Align::left});
  for (const Setting& one : settings) {
    narrow.add({one.name, ""}, {Style::bold});
    narrow.add({"  A", one.a});
    narrow.add({"  B", one.b});
  }
  return narrow.text(look);
}

/// Whether the phase has parts, and both runs know them all.
bool is_divided(const std::vector<Figure>& figures, std::size_t phase) {
  bool has_parts = false;
  for (std::size_t i = phase + 1; i < figures.size() && figures[i].level > figures[phase].level;
       ++i) {
    if (!figures[i].a || !figures[i].b) return false;
    has_parts = true;
  }
  return has_parts;
}

/// The phase, or the part of one, that accounts for most of the difference in runtime; null if none
/// stands out.
const Figure* largest_of(const std::vector<Figure>& figures, double difference) {
  constexpr double kLeast = 0.25;  // a smaller share explains little
  const Figure* largest = nullptr;
  double most = kLeast;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Figure& figure = figures[i];
    if (figure.level == 0 || is_divided(figures, i) || !figure.a || !figure.b) continue;
    const double share = (*figure.b - *figure.a) / difference;
    if (share > most) {
      most = share;
      largest = &figure;
    }
  }
  return largest;
}

/// What the differences did, as a sentence.
std::string verdict(const RunRecord& a, const RunRecord& b, const std::vector<Figure>& figures) {
  if (record::work_of(a) != record::work_of(b))
    return "A and B did different work: compare " + rate_of(a, b) + ", not times.";
  const double of_a = a.totals.runtime_seconds.value_or(0);
  const double of_b = b.totals.runtime_seconds.value_or(0);
  if (of_a < record::kShortestRuntime || of_b < record::kShortestRuntime)
    return "At least one of the runs has no runtime to compare.";
  const double difference = of_b - of_a;
  constexpr double kNoise = 0.02;  // a rule of thumb for one run each
  if (std::abs(difference) < kNoise * of_a) return "A and B took about the same time.";
  const std::string faster = difference < 0 ? "B" : "A";
  const std::string slower = difference < 0 ? "A" : "B";
  const double ratio = difference < 0 ? of_a / of_b : of_b / of_a;
  std::string text = fmt::format("{} is {:.3g} times as fast as {}, by {:.4g} s", faster, ratio,
                                 slower, std::abs(difference));
  const Figure* largest = largest_of(figures, difference);
  if (largest == nullptr) return text + ".";
  return text + fmt::format("; most of it is {}, which takes {:.4g} s less.", largest->name,
                            std::abs(*largest->b - *largest->a));
}

std::string head_of(const char* name, const RunRecord& run) {
  return fmt::format("{}  {}, {} {}x{}", name, run.run, record::method_of(run.mode()), run.nodes,
                     run.devices_per_node);
}

Json figures_json(const std::vector<Figure>& figures) {
  const auto value = [](const Number& number) { return number ? Json(*number) : Json(); };
  Json object = Json::object();
  std::string parent;
  for (const Figure& figure : figures) {
    if (figure.level < 2) parent = figure.name;
    const std::string name = figure.level == 2 ? parent + "/" + figure.name : figure.name;
    object[name] = {{"a", value(figure.a)}, {"b", value(figure.b)}};
  }
  return object;
}

}  // namespace

Encoded diff_text(const RunRecord& a, const RunRecord& b, const Look& look) {
  const std::vector<Figure> times = phases(a, b);
  const std::size_t width = std::min<std::size_t>(look.width, 80);
  Encoded text;
  for (const std::string& head : {head_of("A", a), head_of("B", b)}) {
    for (const std::string& line : wrapped(head, look.width)) text += encoded_format("{}\n", line);
  }
  text += "\n" + settings_text(differing_settings(a, b), look) + "\n";
  text += figures_text(times, true, look) + "\n" + figures_text(results(a, b), false, look) + "\n";
  for (const std::string& line : wrapped(verdict(a, b, times), width))
    text += encoded_format("{}\n", line);
  return text;
}

Json diff_json(const RunRecord& a, const RunRecord& b) {
  Json settings = Json::object();
  for (const Setting& one : differing_settings(a, b))
    settings[one.name] = {{"a", one.a}, {"b", one.b}};
  const std::vector<Figure> times = phases(a, b);
  return {{"a", a.run},
          {"b", b.run},
          {"settings", settings},
          {"phases", figures_json(times)},
          {"results", figures_json(results(a, b))},
          {"verdict", verdict(a, b, times)}};
}

}  // namespace hpcboot::report

#include "record/run_record.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "json/json_reader.hpp"
#include "record/atomic_file.hpp"
#include "record/json_values.hpp"
#include "record/places_json.hpp"
#include "record/utc_time.hpp"

namespace hpcboot::record {
namespace {

/// Option names with '_' for '-', so that a key has one spelling, whoever wrote it.
Json with_plain_keys(const Json& config) {
  JsonMembers plain;
  for (const auto& [key, value] : config.items()) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '-', '_');
    plain[name] = value;
  }
  return plain.take();
}

constexpr std::string_view kMeasurePrefix = "validation_";

Json to_json(const EpochRecord& epoch) {
  const Json known{{"epoch", epoch.epoch},
                   {"steps", json_of(epoch.steps)},
                   {"train_seconds", json_of(epoch.train_seconds)},
                   {"validation_seconds", json_of(epoch.validation_seconds)},
                   {"train_loss", json_of(epoch.train_loss)},
                   {"validation_loss", json_of(epoch.validation_loss)},
                   {"images_per_second", json_of(epoch.images_per_second)},
                   {"data_wait_seconds", json_of(epoch.data_wait_seconds)},
                   {"forward_seconds", json_of(epoch.forward_seconds)},
                   {"backward_seconds", json_of(epoch.backward_seconds)},
                   {"communication_seconds", json_of(epoch.communication_seconds)},
                   {"optimizer_seconds", json_of(epoch.optimizer_seconds)},
                   {"bytes_reduced", json_of(epoch.bytes_reduced)},
                   {"skipped_steps", json_of(epoch.skipped_steps)}};
  JsonMembers json;
  for (const auto& [key, value] : known.items()) json[key] = value;
  for (const Measure& one : epoch.measures) {
    json[std::string(kMeasurePrefix) + one.name] = json_of(std::optional<double>(one.value));
  }
  return json.take();
}

Json to_json(const Totals& totals) {
  return Json{{"runtime_seconds", json_of(totals.runtime_seconds)},
              {"launch_seconds", json_of(totals.launch_seconds)},
              {"start_up_seconds", json_of(totals.start_up_seconds)},
              {"first_step_seconds", json_of(totals.first_step_seconds)},
              {"train_seconds", json_of(totals.train_seconds)},
              {"checkpoint_seconds", json_of(totals.checkpoint_seconds)},
              {"validation_seconds", json_of(totals.validation_seconds)},
              {"data_wait_seconds", json_of(totals.data_wait_seconds)},
              {"images", json_of(totals.images)},
              {"images_per_second", json_of(totals.images_per_second)}};
}

Json to_json(const ResumedRecord& resumed) {
  return Json{{"time", resumed.time},
              {"checkpoint", resumed.checkpoint},
              {"epoch", resumed.epoch},
              {"step", resumed.step},
              {"world_size", resumed.world_size},
              {"devices_before", json_of(resumed.devices_before)},
              {"job_id", json_of(resumed.job_id)},
              {"restart_count", json_of(resumed.restart_count)},
              {"steps_again", json_of(resumed.steps_again)},
              {"went_back_to", json_of(resumed.went_back_to)}};
}

// Upper limits for a run. A larger number is damage, which a table would show as if it were true.
constexpr double kLongest = 1e9;                              // seconds: 30 years
constexpr double kFastest = 1e12;                             // images/s
constexpr std::int64_t kMostCounted = std::int64_t{1} << 53;  // counts; exact as a double
constexpr double kLargestLoss = std::numeric_limits<float>::max();
/// Of options, libraries or measures: an export has a column of all runs for each.
constexpr std::size_t kMostNames = 1000;

std::optional<double> seconds(const JsonReader& reader, const char* key) {
  const auto value = reader.number(key);
  if (value && !(*value >= 0 && *value <= kLongest)) reader.fail(key, "seconds from 0 to 1e9");
  return value;
}

std::optional<double> rate(const JsonReader& reader, const char* key) {
  return reader.number(key, 0, kFastest);
}

std::optional<std::int64_t> count(const JsonReader& reader, const char* key) {
  return reader.integer(key, 0, kMostCounted);
}

std::optional<double> loss(const JsonReader& reader, const char* key) {
  return reader.number(key, -kLargestLoss, kLargestLoss);
}

ResumedRecord resumed_from(const JsonReader& reader) {
  ResumedRecord resumed;
  resumed.time = reader.require("time", reader.text("time"), "a UTC time");
  resumed.checkpoint = reader.text("checkpoint").value_or("");
  resumed.epoch = reader.small_integer("epoch").value_or(0);
  resumed.step = reader.integer("step").value_or(0);
  resumed.world_size = reader.small_integer("world_size").value_or(1);
  resumed.devices_before = count(reader, "devices_before");
  resumed.job_id = reader.text("job_id");
  resumed.restart_count = reader.integer("restart_count");
  resumed.steps_again = count(reader, "steps_again");
  resumed.went_back_to = reader.text("went_back_to");
  return resumed;
}

std::vector<Measure> measures_from(const JsonReader& reader) {
  std::vector<Measure> measures;
  for (const auto& item : reader.json().items()) {
    const std::string& key = item.key();
    if (key.compare(0, kMeasurePrefix.size(), kMeasurePrefix) != 0) continue;
    const std::string name = key.substr(kMeasurePrefix.size());
    if (!is_measure_name(name)) continue;
    const bool is_share = name == "accuracy";
    const auto value = is_share ? reader.number(key.c_str(), 0, 1) : loss(reader, key.c_str());
    if (measures.size() == kMostNames) reader.fail(key.c_str(), "at most 1000 measures");
    if (value) measures.push_back({name, *value, is_share});
  }
  return measures;
}

EpochRecord epoch_from(const JsonReader& reader) {
  EpochRecord epoch;
  epoch.epoch = reader.require("epoch", reader.small_integer("epoch"), "the number of the epoch");
  epoch.steps = count(reader, "steps");
  epoch.train_seconds = seconds(reader, "train_seconds");
  epoch.validation_seconds = seconds(reader, "validation_seconds");
  epoch.train_loss = loss(reader, "train_loss");
  epoch.validation_loss = loss(reader, "validation_loss");
  epoch.measures = measures_from(reader);
  epoch.images_per_second = rate(reader, "images_per_second");
  epoch.data_wait_seconds = seconds(reader, "data_wait_seconds");
  epoch.forward_seconds = seconds(reader, "forward_seconds");
  epoch.backward_seconds = seconds(reader, "backward_seconds");
  epoch.communication_seconds = seconds(reader, "communication_seconds");
  epoch.optimizer_seconds = seconds(reader, "optimizer_seconds");
  epoch.bytes_reduced =
      reader.integer("bytes_reduced", 0, std::numeric_limits<std::int64_t>::max());
  epoch.skipped_steps = count(reader, "skipped_steps");
  return epoch;
}

Totals totals_from(const JsonReader& reader) {
  Totals totals;
  totals.runtime_seconds = seconds(reader, "runtime_seconds");
  totals.launch_seconds = seconds(reader, "launch_seconds");
  totals.start_up_seconds = seconds(reader, "start_up_seconds");
  totals.first_step_seconds = seconds(reader, "first_step_seconds");
  totals.train_seconds = seconds(reader, "train_seconds");
  totals.checkpoint_seconds = seconds(reader, "checkpoint_seconds");
  totals.validation_seconds = seconds(reader, "validation_seconds");
  totals.data_wait_seconds = seconds(reader, "data_wait_seconds");
  totals.images = count(reader, "images");
  totals.images_per_second = rate(reader, "images_per_second");
  return totals;
}

int count_from(const JsonReader& reader, const char* key) {
  const int count = reader.require(key, reader.small_integer(key), "a number of at least 1");
  if (count < 1) reader.fail(key, "a number of at least 1");
  constexpr int kMostMachines = 1'000'000;
  if (count > kMostMachines) reader.fail(key, "a number from 1 to 1000000");
  return count;
}

/// The objects of an array. Each takes many times the memory of its text: more than the ranks,
/// epochs or starts of any run are damage.
template <typename From>
auto list_from(const JsonReader& reader, const char* key, const From& from) {
  constexpr std::size_t kMost = 200'000;
  std::vector<std::decay_t<decltype(from(reader))>> list;
  reader.for_each_object(key, [&](const JsonReader& one) {
    if (list.size() == kMost) reader.fail(key, "at most 200000 objects");
    list.push_back(from(one));
  });
  return list;
}

/// A time in the form that sorts, as the runtime table needs the newest run.
std::optional<std::string> time_from(const JsonReader& reader, const char* key) {
  const std::optional<std::string> time = reader.text(key);
  if (time && !is_iso8601_utc(*time)) reader.fail(key, "a UTC time such as 2026-11-20T23:59:01Z");
  return time;
}

}  // namespace

bool is_measure_name(std::string_view name) {
  return !name.empty() && name != "loss" && name != "seconds" &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

Json to_json(const RunRecord& record) {
  Json ranks = Json::array();
  for (const RankRecord& rank : record.ranks) ranks.push_back(to_json(rank));
  Json hosts = Json::array();
  for (const HostRecord& host : record.hosts) hosts.push_back(to_json(host));
  Json epochs = Json::array();
  for (const EpochRecord& epoch : record.epochs) epochs.push_back(to_json(epoch));
  Json resumed = Json::array();
  for (const ResumedRecord& one : record.resumed) resumed.push_back(to_json(one));
  JsonMembers versions;
  for (const auto& [name, version] : record.versions) versions[name] = version;
  return Json{{"schema", kSchema},
              {"run", record.run},
              {"started", record.started},
              {"finished", json_of(record.finished)},
              {"exit_reason", record.exit_reason},
              {"config", with_plain_keys(record.config)},
              {"train_samples", json_of(record.train_samples)},
              {"validation_samples", json_of(record.validation_samples)},
              {"launcher", record.launcher},
              {"rendezvous", json_of(record.rendezvous)},
              {"scheduler", json_of(record.scheduler)},
              {"job_id", json_of(record.job_id)},
              {"site", json_of(record.site)},
              {"origin", json_of(record.origin)},
              {"nodes", record.nodes},
              {"devices_per_node", record.devices_per_node},
              {"ranks", std::move(ranks)},
              {"hosts", std::move(hosts)},
              {"versions", versions.take()},
              {"epochs", std::move(epochs)},
              {"resumed", std::move(resumed)},
              {"identity", record.identity},
              {"totals", to_json(record.totals)}};
}

RunRecord run_record_from_json(const Json& json, const std::string& file) {
  const JsonReader reader(file, json);
  if (reader.require("schema", reader.integer("schema"), "schema 1") != kSchema) {
    reader.fail("schema", "schema 1");
  }
  RunRecord record;
  record.run = reader.require("run", reader.text("run"), "the name of the run");
  record.started = reader.require("started", time_from(reader, "started"), "a UTC time");
  record.finished = time_from(reader, "finished");
  record.exit_reason =
      reader.require("exit_reason", reader.text("exit_reason"), "running, finished or a failure");
  const JsonReader config = reader.require("config", reader.object("config", kMostNames),
                                           "an object with the options of the run");
  config.require("mode", config.text("mode"), "single, dp or ddp");
  config.small_integer("epochs");
  record.config = with_plain_keys(config.json());
  record.train_samples = count(reader, "train_samples");
  record.validation_samples = count(reader, "validation_samples");
  record.launcher = reader.require("launcher", reader.text("launcher"), "the name of a launcher");
  record.rendezvous = reader.text("rendezvous");
  record.scheduler = reader.text("scheduler");
  record.job_id = reader.text("job_id");
  record.site = reader.text("site");
  record.origin = reader.text("origin");
  record.nodes = count_from(reader, "nodes");
  record.devices_per_node = count_from(reader, "devices_per_node");
  record.ranks = list_from(reader, "ranks", rank_from);
  record.hosts = list_from(reader, "hosts", host_from);
  if (const auto versions = reader.object("versions", kMostNames)) {
    for (const auto& item : versions->json().items()) {
      record.versions[item.key()] = versions->text(item.key().c_str()).value_or("");
    }
  }
  int before = 0;
  record.epochs = list_from(reader, "epochs", [&](const JsonReader& one) {
    EpochRecord epoch = epoch_from(one);
    if (epoch.epoch <= before) one.fail("epoch", "more than the previous one");
    before = epoch.epoch;
    return epoch;
  });
  record.resumed = list_from(reader, "resumed", resumed_from);
  if (const auto identity = reader.object("identity")) record.identity = identity->json();
  if (const auto totals = reader.object("totals")) record.totals = totals_from(*totals);
  return record;
}

void RunRecord::write(const std::filesystem::path& file) const {
  // A host name or comment that is not UTF-8 must not cost the run its record.
  write_file_atomically(file, json_text(to_json(*this), 2).str() + "\n");
}

RunRecord RunRecord::read(const std::filesystem::path& file) {
  return run_record_from_json(read_json_file(file), file.string());
}

std::vector<std::pair<std::string, double>> epoch_values(const EpochRecord& epoch) {
  const std::pair<const char*, std::optional<double>> known[] = {
      {"train_loss", epoch.train_loss},
      {"validation_loss", epoch.validation_loss},
      {"images_per_second", epoch.images_per_second},
      {"train_seconds", epoch.train_seconds},
      {"validation_seconds", epoch.validation_seconds},
      {"data_wait_seconds", epoch.data_wait_seconds}};
  std::vector<std::pair<std::string, double>> values;
  for (const auto& [name, value] : known) {
    if (value) values.emplace_back(name, *value);
  }
  for (const Measure& one : epoch.measures)
    values.emplace_back("validation_" + one.name, one.value);
  return values;
}

std::optional<std::string> origin_of(const RunRecord& record) {
  if (record.origin) return record.origin;
  if (!record.resumed.empty() || record.ranks.empty()) return std::nullopt;
  const RankRecord& first = record.ranks.front();
  if (first.host.empty() || first.pid == 0) return std::nullopt;
  return record.job_id.value_or("") + " " + first.host + " " + std::to_string(first.pid);
}

std::string RunRecord::mode() const {
  const auto mode = config.find("mode");
  return mode == config.end() ? "" : mode->get<std::string>();
}

}  // namespace hpcboot::record

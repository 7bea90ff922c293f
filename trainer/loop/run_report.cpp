#include "loop/run_report.hpp"

#include <fmt/format.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "loop/lost_neighbours.hpp"
#include "record/run_work.hpp"
#include "record/utc_time.hpp"
#include "tasks/task_names.hpp"
#include "text/terminal.hpp"

namespace hpcboot::train {
namespace {

/// "accuracy 97.12%, ": each followed by a comma.
std::string text_of(const std::vector<record::Measure>& measures) {
  std::string text;
  for (const record::Measure& one : measures) {
    text += one.is_share ? fmt::format("{} {:.2f}%, ", one.name, 100 * one.value)
                         : fmt::format("{} {:.4f}, ", one.name, one.value);
  }
  return text;
}

}  // namespace

RunReport::RunReport(Communicator& communicator, const TrainOptions& options, const Env& env,
                     std::chrono::steady_clock::time_point begin, double launch_seconds)
    : communicator_(communicator),
      options_(options),
      env_(env),
      begin_(begin),
      host_(own_hostname()) {
  record_.totals.launch_seconds = launch_seconds;
}

double RunReport::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

record::RankRecord RunReport::own_record(const RunFacts& facts) const {
  const Resolution& me = communicator_.resolution();
  record::RankRecord own;
  own.placement = me.placement;
  own.host = host_;
  own.pid = getpid();
  own.device = facts.device;
  own.device_name = facts.device_name;
  own.interface = me.interface;
  if (!facts.backend.empty()) own.backend = facts.backend;
  own.provenance = me.provenance;
  return own;
}

void RunReport::start(const RunFacts& facts, const Json& identity, ResumePoint* resumed) {
  if (resumed != nullptr) go_on(*resumed);
  const record::RankRecord own = own_record(facts);
  for (const std::string& text : communicator_.gather(json_text(record::to_json(own)).str())) {
    record_.ranks.push_back(record::rank_record_from_json(parse_json(text), "a rank's record"));
  }
  neighbours_ = neighbours_seen(record_.ranks, communicator_.rank());
  const bool on_processors = facts.device.rfind("cpu", 0) == 0;
  threads_ = on_processors ? facts.devices * facts.threads : facts.threads;
  first_looks_ = look_at_hosts();
  record_.hosts = hosts_at_start(first_looks_);
  fill_record(facts);
  if (resumed == nullptr) record_.origin = record::origin_of(record_);
  record_.identity = identity;
  make_folder();
  const Placement& p = own.placement;
  log_->info(fmt::format(
      "rank {} of {} on {} (pid {}, local rank {}, launcher {}), device {}, {} threads, {}", p.rank,
      p.world_size, own.host, own.pid, p.local_rank, record_.launcher, own.device, facts.threads,
      communicator_.group() != nullptr
          ? facts.backend + " through " + communicator_.group()->description()
          : std::string("alone")));
  write();
  say(fmt::format(
      "{}, {}: {} x {} {}, {} + {} {}s, batch {}", options_.model, facts.mode, record_.nodes,
      record_.devices_per_node, own.device.substr(0, own.device.find(':')), facts.train_samples,
      facts.validation_samples, tasks::known_task(options_.task).sample, facts.batches.global));
  say("run folder: " + folder_->path().string());
  if (communicator_.group() != nullptr && !communicator_.group()->warning().empty())
    note("warning: " + communicator_.group()->warning());
  if (!has_locks_) {
    note(fmt::format(
        "the file system of {} does not support locks: two jobs that resume this run at "
        "the same time would both train it",
        options_.runs_dir));
  }
  for (const record::RankRecord& rank : record_.ranks) {
    say(fmt::format("rank {} of {}: host {}, pid {}, local rank {}, device {}, {}",
                    rank.placement.rank, rank.placement.world_size, rank.host, rank.pid,
                    rank.placement.local_rank, rank.device,
                    rank.backend ? *rank.backend + " over " + rank.interface.value_or("loopback")
                                 : std::string("alone")));
  }
  warn(busy_at_start(record_.hosts));
}

std::vector<HostLook> RunReport::look_at_hosts() {
  const std::string own = json_text(to_json(look_at_host(host_, threads_))).str();
  std::vector<HostLook> looks;
  for (const std::string& text : communicator_.gather(own)) {
    looks.push_back(host_look_from_json(parse_json(text), "a rank's report on its host"));
  }
  return looks;
}

void RunReport::trained() {
  try {
    const std::vector<record::HostRecord> before = record_.hosts;
    add_end(record_.hosts, first_looks_, look_at_hosts());
    warn(busy_since(record_.hosts, before));
  } catch (const Error& error) {
    log_->info("the load of the hosts at the end cannot be determined: " + error.found());
  }
}

void RunReport::fill_record(const RunFacts& facts) {
  const Resolution& me = communicator_.resolution();
  std::map<std::string, int> ranks_of_host;
  for (const auto& rank : record_.ranks) ++ranks_of_host[rank.host];
  record_.nodes = static_cast<int>(ranks_of_host.size());
  record_.devices_per_node = 0;
  for (const auto& [host, ranks] : ranks_of_host) {
    record_.devices_per_node = std::max(record_.devices_per_node, ranks * facts.devices);
  }
  record_.config = to_json(options_);
  record_.config["mode"] = facts.mode;
  record_.config["requested_mode"] = options_.mode;
  if (facts.mode == "dp") record_.config["devices"] = facts.device;
  record_.config["batch_size"] = facts.batches.global;
  record_.config["micro_batch"] = facts.batches.micro;
  record_.config["accumulate"] = facts.batches.local / facts.batches.micro;
  record_.config["threads"] = facts.threads;
  record_.config["sample"] = facts.sample;
  record_.train_samples = facts.train_samples;
  record_.validation_samples = facts.validation_samples;
  // The name that users know: the agents of `hpcboot run` set the variables of "explicit".
  record_.launcher =
      me.launcher == "explicit" && env_.has("HPCBOOT_RUN_ID") ? "hpcboot" : me.launcher;
  if (communicator_.group() != nullptr) record_.rendezvous = communicator_.group()->description();
  record_.scheduler = me.scheduler;
  record_.job_id = me.job_id;
  if (const auto site = env_.text("HPCBOOT_SITE")) record_.site = std::string(*site);
  record_.versions = {
      {"hpcboot", HPCBOOT_VERSION}, {"libtorch", TORCH_VERSION}, {"compiler", __VERSION__}};
}

void RunReport::make_folder() {
  std::string path;
  if (folder_) {
    path = folder_->path().string();
  } else if (communicator_.is_first()) {
    const auto started = std::chrono::system_clock::now();
    const record::RunName name{started,
                               record_.mode(),
                               record_.nodes,
                               record_.devices_per_node,
                               record_.job_id.value_or(""),
                               options_.comment};
    try {
      path = record::RunFolder::create(options_.runs_dir, name).path().string();
      auto taken = record::RunLock::try_take(path, holder());
      lock_ = std::move(taken.lock);
      has_locks_ = taken.has_locks;
    } catch (const Error&) {
      communicator_.broadcast("");  // the other ranks wait for the name
      throw;
    }
    record_.started = record::iso8601_utc(started);
  }
  path = communicator_.broadcast(path);
  if (path.empty()) {
    throw Error(ErrorCode::unwritable_output,
                "rank 0 could not create the run folder in '" + options_.runs_dir + "'",
                "a folder where this run can write its output", "see the message of rank 0");
  }
  folder_.emplace(path);
  // If hosts share no file system, each keeps the logs of its ranks under the same local path.
  std::error_code ignored;
  std::filesystem::create_directories(folder_->path(), ignored);
  log_.emplace(folder_->log(communicator_.rank()));
  record_.run = folder_->name();
}

void RunReport::go_on(ResumePoint& resumed) {
  const TrainingState& state = resumed.checkpoint.state;
  record_.started = resumed.record.started;
  record_.origin = record::origin_of(resumed.record);
  record_.epochs = resumed.record.epochs;
  record_.resumed = resumed.record.resumed;
  record::ResumedRecord entry;
  entry.time = record::iso8601_utc(std::chrono::system_clock::now());
  entry.checkpoint = resumed.file.filename().string();
  entry.epoch = state.epoch;
  entry.step = state.step;
  entry.steps_again = resumed.steps_again;
  if (!resumed.went_back_to.empty()) entry.went_back_to = resumed.went_back_to;
  entry.world_size = communicator_.size();
  entry.devices_before = record::device_count(resumed.record);
  entry.job_id = communicator_.resolution().job_id;
  if (const auto count = env_.text("SLURM_RESTART_COUNT")) {
    std::int64_t number = 0;
    const char* const end = count->data() + count->size();
    if (std::from_chars(count->data(), end, number).ptr == end) entry.restart_count = number;
  }
  record_.resumed.push_back(std::move(entry));
  runtime_before_ = state.runtime_seconds;
  folder_ = resumed.folder;
  lock_.emplace(std::move(resumed.lock));
  has_locks_ = resumed.has_locks;
}

record::LockHolder RunReport::holder() const {
  return {host_, getpid(), communicator_.resolution().job_id.value_or("")};
}

void RunReport::note(const std::string& line) {
  if (log_ && communicator_.is_first()) log_->info(line);
  say(line);
}

void RunReport::show(const Encoded& lines) {
  if (!communicator_.is_first()) return;
  if (log_) log_->info_lines(lines);
  out() << lines;
  out().flush();
}

void RunReport::started_up() {
  record_.totals.start_up_seconds = seconds();
}

void RunReport::stepped() {
  record_.totals.first_step_seconds = seconds();
  say(fmt::format("first step done {:.1f} s after the start", seconds()));
}

void RunReport::add_epoch(const record::EpochRecord& epoch) {
  record_.epochs.push_back(epoch);
  const std::string line = fmt::format(
      "epoch {}/{}: train loss {:.4f}, validation loss {:.4f}, {}{:.1f} {}s/s, training {:.1f} s "
      "({:.1f}% waiting for data), validation {:.1f} s",
      epoch.epoch, options_.epochs, *epoch.train_loss, *epoch.validation_loss,
      text_of(epoch.measures), *epoch.images_per_second, tasks::known_task(options_.task).sample,
      *epoch.train_seconds, 100 * *epoch.data_wait_seconds / *epoch.train_seconds,
      *epoch.validation_seconds);
  log_->info(line);
  say(line);
  write();
}

void RunReport::finish(const std::string& exit_reason) {
  record_.exit_reason = exit_reason;
  record_.finished = record::iso8601_utc(std::chrono::system_clock::now());
  double train = 0;
  double validation = 0;
  double waiting = 0;
  for (const record::EpochRecord& epoch : record_.epochs) {
    train += epoch.train_seconds.value_or(0);
    validation += epoch.validation_seconds.value_or(0);
    waiting += epoch.data_wait_seconds.value_or(0);
  }
  record::Totals& totals = record_.totals;
  totals.runtime_seconds = runtime_before_ + seconds();
  totals.train_seconds = train;
  totals.validation_seconds = validation;
  totals.data_wait_seconds = waiting;
  totals.images =
      static_cast<std::int64_t>(record_.epochs.size()) * record_.train_samples.value_or(0);
  if (train > 0) totals.images_per_second = static_cast<double>(*totals.images) / train;
  if (log_) log_->info("end: " + exit_reason);
  write();
  lock_.reset();
}

void RunReport::warn(const std::vector<std::string>& lines) {
  if (!communicator_.is_first()) return;
  for (const std::string& line : lines) {
    log_->info(line);
    err() << "trainer: " << line << "\n";
  }
}

void RunReport::say(const std::string& line) {
  if (!communicator_.is_first()) return;
  out() << line << "\n";
  out().flush();  // users read a job's output file while the job runs
}

void RunReport::write() {
  if (communicator_.is_first() && folder_) record_.write(folder_->run_json());
}

}  // namespace hpcboot::train

#include "loop/run_monitor.hpp"

#include <utility>

#include "json/json_reader.hpp"

namespace hpcboot::train {
namespace {

using Clock = std::chrono::steady_clock;
using monitor::MonitorRow;

constexpr std::chrono::seconds kEnd{3};
constexpr std::size_t kMostNews = 100'000;  // rows

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

struct RunMonitor::State {
  /// What the training loop reports.
  struct Progress {
    int epoch = 0;
    Clock::time_point epoch_begin = Clock::now();
    std::int64_t step = 0;
    std::int64_t steps = 0;  // since the last look, as are the next ones
    double seconds = 0;
    double waited = 0;
  };

  State(MonitorOptions with, const Communicator& communicator)
      : options(std::move(with)),
        rank(communicator.rank()),
        sampler(options.cuda_devices),
        stragglers(communicator.size()) {
    progress.step = options.steps_before;
  }

  void run();
  void look();
  void pass_on(const MonitorRow& row);

  const MonitorOptions options;
  const int rank;
  Clock::time_point begin;
  // Used by the thread, and after its end by finish().
  monitor::Sampler sampler;
  std::unique_ptr<Mailbox> mailbox;     // null without other ranks
  std::optional<record::CsvFile> file;  // on rank 0
  monitor::Stragglers stragglers;

  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  Progress progress;
  News news;
  std::exception_ptr failure;
  bool stopping = false;
  bool has_ended = false;
  bool is_lost = false;  // a look failed
};

/// On rank 0.
void RunMonitor::State::pass_on(const MonitorRow& row) {
  file->append(monitor_line(row));
  std::vector<std::string> notes = stragglers.add(row);
  const std::lock_guard<std::mutex> lock(mutex);
  // Nobody takes them during a long validation.
  if (news.rows.size() == kMostNews) news.rows.clear();
  news.rows.push_back(row);
  for (std::string& note : notes) news.notes.push_back(std::move(note));
}

void RunMonitor::State::look() {
  Progress now;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    now = progress;
    progress.steps = 0;
    progress.seconds = progress.waited = 0;
  }
  for (MonitorRow& row : sampler.sample()) {
    row.seconds = options.seconds_before + seconds_since(begin);
    row.epoch = now.epoch;
    row.epoch_seconds = seconds_since(now.epoch_begin);
    row.step = now.step;
    row.rank = rank;
    row.host = options.host;
    if (now.steps > 0) {
      row.step_seconds = now.seconds / static_cast<double>(now.steps);
      row.own_seconds = (now.seconds - now.waited) / static_cast<double>(now.steps);
    }
    if (rank == 0) {
      pass_on(row);
    } else {
      mailbox->send(json_text(to_json(row)).str());
    }
  }
  if (rank != 0) return;
  if (mailbox) {
    for (const std::string& text : mailbox->receive())
      pass_on(monitor::monitor_row_from_json(parse_json(text), "a rank's monitor"));
  }
  file->flush();
}

void RunMonitor::State::run() {
  const auto interval = std::chrono::duration_cast<Clock::duration>(options.interval);
  std::unique_lock<std::mutex> lock(mutex);
  for (auto next = Clock::now() + interval;
       !changed.wait_until(lock, next, [this] { return stopping; }); next += interval) {
    lock.unlock();
    try {
      look();
    } catch (...) {
      lock.lock();
      // On another rank, the store did not answer: rank 0 is gone, and training will notice.
      if (rank == 0) failure = std::current_exception();
      is_lost = true;
      break;
    }
    lock.lock();
    next = std::max(next, Clock::now());  // no burst after a pause of the process
  }
  has_ended = true;
  changed.notify_all();
}

RunMonitor::RunMonitor(MonitorOptions options, Communicator& communicator, Clock::time_point begin)
    : communicator_(communicator),
      state_(std::make_shared<State>(std::move(options), communicator)) {
  const monitor::Sampler& sampler = state_->sampler;
  const Json own = {
      {"seconds", seconds_since(begin)},
      {"problem",
       sampler.problem().empty() ? "" : state_->options.host + ": " + sampler.problem()}};
  const std::vector<std::string> texts = communicator.gather(json_text(own).str());
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const Json json = parse_json(texts[rank]);
    const JsonReader of_rank("a rank's monitor", json);
    const std::string problem = of_rank.text("problem").value_or("");
    if (!problem.empty()) problems_.push_back(problem);
    // Times of all ranks count from the start of rank 0.
    if (rank == 0) {
      state_->begin =
          Clock::now() - std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(of_rank.number("seconds").value_or(0)));
    }
  }
  if (communicator.size() > 1)
    state_->mailbox = std::make_unique<Mailbox>(*communicator.group(), "monitor");
  if (communicator.is_first()) {
    const auto is_kept = [last = state_->options.steps_before](std::string_view row) {
      return monitor::step_of_line(row) <= last;
    };
    state_->file.emplace(state_->options.file, monitor::monitor_header(), is_kept);
    state_->file->flush();
  }
  thread_ = std::thread([state = state_] { state->run(); });
}

bool RunMonitor::end_thread() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  if (!thread_.joinable()) return state_->has_ended;
  state_->stopping = true;
  state_->changed.notify_all();
  const bool has_ended = state_->changed.wait_for(lock, kEnd, [this] { return state_->has_ended; });
  lock.unlock();
  has_ended ? thread_.join() : thread_.detach();
  return has_ended;
}

RunMonitor::~RunMonitor() {
  end_thread();
}

void RunMonitor::begin_epoch(int epoch) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->progress.epoch = epoch;
  state_->progress.epoch_begin = Clock::now();
}

void RunMonitor::stepped(std::int64_t step, double seconds, double waited) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  State::Progress& progress = state_->progress;
  progress.step = step;
  ++progress.steps;
  progress.seconds += seconds;
  progress.waited += waited;
}

RunMonitor::News RunMonitor::news() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->failure) std::rethrow_exception(std::exchange(state_->failure, nullptr));
  return std::exchange(state_->news, {});
}

RunMonitor::News RunMonitor::finish() {
  // An abandoned thread still uses what a look needs: a file system or a driver that hangs.
  const bool can_look = end_thread() && !state_->is_lost;
  if (communicator_.is_first()) communicator_.gather("");  // the others have sent their last rows
  if (can_look) state_->look();
  if (!communicator_.is_first()) communicator_.gather("");
  return news();
}

}  // namespace hpcboot::train

#include "loop/run_monitor.hpp"

#include <utility>

namespace hpcboot::train {
namespace {

using Clock = std::chrono::steady_clock;
using monitor::MonitorRow;

constexpr std::chrono::seconds kEnd{3};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// What the training loop reports.
struct TrainingProgress {
  int epoch = 0;
  Clock::time_point epoch_begin = Clock::now();
  std::int64_t step = 0;
  std::int64_t steps = 0;  // since the last look, as are the next ones
  double seconds = 0;
  double waited = 0;
};

}  // namespace

struct RunMonitor::State {
  State(MonitorOptions with, const Communicator& communicator, Clock::time_point run_begin)
      : options(std::move(with)),
        rank(communicator.rank()),
        begin(run_begin),
        sampler(options.cuda_devices),
        stragglers(communicator.size()) {}

  void run();
  void look();
  void pass_on(const MonitorRow& row);

  const MonitorOptions options;
  const int rank;
  const Clock::time_point begin;
  // Used by the thread, and after its end by finish().
  monitor::Sampler sampler;
  std::unique_ptr<Mailbox> mailbox;     // null without other ranks
  std::optional<record::CsvFile> file;  // on rank 0
  monitor::Stragglers stragglers;

  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  TrainingProgress progress;
  News news;
  std::exception_ptr failure;
  bool stopping = false;
  bool has_ended = false;
};

/// On rank 0.
void RunMonitor::State::pass_on(const MonitorRow& row) {
  file->append(monitor_line(row));
  std::vector<std::string> notes = stragglers.add(row);
  const std::lock_guard<std::mutex> lock(mutex);
  news.rows.push_back(row);
  for (std::string& note : notes) news.notes.push_back(std::move(note));
}

void RunMonitor::State::look() {
  TrainingProgress now;
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
      break;
    }
    lock.lock();
    next = std::max(next, Clock::now() - interval);  // no burst after a pause of the process
  }
  has_ended = true;
  changed.notify_all();
}

RunMonitor::RunMonitor(MonitorOptions options, Communicator& communicator, Clock::time_point begin)
    : communicator_(communicator) {
  // Times of all ranks count from the start of rank 0.
  double first = 0;
  const auto texts = communicator.gather(std::to_string(seconds_since(begin)));
  first = std::stod(texts.front());
  const auto of_all = Clock::now() - std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(first));
  state_ = std::make_shared<State>(std::move(options), communicator, of_all);
  if (communicator.size() > 1)
    state_->mailbox = std::make_unique<Mailbox>(*communicator.group(), "monitor");
  if (communicator.is_first()) {
    state_->file.emplace(state_->options.file, monitor::monitor_header(),
                         [](std::string_view) { return true; });
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
  TrainingProgress& progress = state_->progress;
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
  const bool can_look = end_thread();
  if (communicator_.is_first()) communicator_.gather("");  // the others have sent their last rows
  if (can_look) state_->look();
  if (!communicator_.is_first()) communicator_.gather("");
  return news();
}

const std::string& RunMonitor::problem() const {
  return state_->sampler.problem();
}

}  // namespace hpcboot::train

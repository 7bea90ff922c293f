#include "rank_stacks.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::run {
namespace {

constexpr std::chrono::seconds kTimeForProcess{10};
constexpr std::chrono::seconds kTimeForRank{40};
constexpr std::chrono::seconds kTimeForQuit{2};  // to print the stacks after SIGQUIT
constexpr std::size_t kMostProcesses = 16;
constexpr std::size_t kMostLines = 200;  // of a rank
constexpr std::size_t kFewestLines = 40;
constexpr std::size_t kMostBytes = std::size_t{4} << 20U;

// "process 4711 (python3)"
std::string title(pid_t process) {
  return "process " + std::to_string(process) + " (" + name_of_process(process) + ")";
}

std::string as_line(const std::string& text) {
  return terminal_text(text).str() + "\n";
}

// The last line of its output: why it could not attach.
std::string last_line(std::string_view output) {
  output = output.substr(0, output.find_last_not_of(" \n") + 1);
  return std::string(output.substr(output.rfind('\n') + 1));  // npos + 1: from the start
}

}  // namespace

RankStacks::RankStacks(std::string rank, pid_t program,
                       const std::map<std::string, std::string>& env, Write write)
    : rank_(std::move(rank)),
      program_(program),
      env_(environment_for_debuggers(env)),
      write_(std::move(write)),
      until_(Clock::now() + kTimeForRank) {
  std::vector<pid_t> all = processes_of_rank(program);
  if (all.size() > kMostProcesses) {
    write_(as_line(rank_ + ": stacks of " + std::to_string(kMostProcesses) + " of " +
                   std::to_string(all.size()) + " processes"));
    all.resize(kMostProcesses);
  }
  processes_.assign(all.begin(), all.end());
  most_lines_ = std::max(kMostLines / std::max<std::size_t>(1, all.size()), kFewestLines);
  start_next();
}

std::optional<pid_t> RankStacks::child() const {
  if (!debugger_) return std::nullopt;
  return debugger_->pid();
}

void RankStacks::go_on() {
  processes_.pop_front();
  has_begun_ = false;
}

// Starts the next debugger for this process, or goes on to the next process.
void RankStacks::start_next() {
  while (!processes_.empty()) {
    const pid_t process = processes_.front();
    if (!has_begun_) {
      has_begun_ = true;
      title_ = title(process);
      last_reason_ = "no gdb or eu-stack found";
      const auto all = debuggers_for(process);
      debuggers_.assign(all.begin(), all.end());
    }
    while (!debuggers_.empty() && Clock::now() < until_) {
      const Debugger next = debuggers_.front();
      debuggers_.pop_front();
      if (start(next)) return;
    }
    if (Clock::now() >= until_) last_reason_ = "no time left";
    if (name_of_process(process).empty()) last_reason_ = "it has ended";
    unseen_.push_back(process);
    write_(as_line(rank_ + ": no stacks of " + title_ + ": " + last_reason_));
    go_on();
  }
  finish();
}

bool RankStacks::start(const Debugger& debugger) {
  ChildSpec spec;
  spec.words = debugger.words;
  spec.env = env_;
  spec.own_session = true;  // the terminal would stop it in the background
  try {
    debugger_.emplace(spec);
  } catch (const CannotExecute&) {
    return false;
  } catch (const Error& error) {
    last_reason_ = debugger.name + ": " + error.found();
    return false;
  }
  used_ = debugger.name;
  output_.clear();
  errors_.clear();
  debugger_until_ = std::min(Clock::now() + kTimeForProcess, until_);
  return true;
}

void RankStacks::add_to(PollSet& set) const {
  if (!debugger_) return;
  set.add(debugger_->out_fd(), POLLIN);
  set.add(debugger_->err_fd(), POLLIN);
}

Clock::time_point RankStacks::next_time() const {
  constexpr std::chrono::milliseconds kLook{50};  // for a debugger that has closed its output
  if (is_done_) return Clock::time_point::max();
  if (quit_until_) return *quit_until_;
  const bool is_about_to_end = debugger_->out_fd() < 0 && debugger_->err_fd() < 0;
  return is_about_to_end ? Clock::now() + kLook : debugger_until_;
}

void RankStacks::handle(const PollSet& set) {
  if (quit_until_ && Clock::now() >= *quit_until_) is_done_ = true;
  if (!debugger_) return;
  if (set.is_ready(debugger_->out_fd()) || set.is_ready(debugger_->err_fd())) read_output();
  const bool is_late = Clock::now() >= debugger_until_;
  if (!is_late && !debugger_->ended()) return;
  read_output();
  debugger_.reset();
  take_output(is_late);
  start_next();
}

void RankStacks::read_output() {
  char buffer[std::size_t{64} << 10U];
  for (const bool is_error : {false, true}) {
    std::string& to = is_error ? errors_ : output_;
    const int fd = is_error ? debugger_->err_fd() : debugger_->out_fd();
    ssize_t size = -1;
    while (fd >= 0 && (size = read(fd, buffer, sizeof buffer)) > 0) {
      if (to.size() < kMostBytes) to.append(buffer, static_cast<std::size_t>(size));
    }
    if (size == 0) is_error ? debugger_->close_err() : debugger_->close_out();
  }
}

void RankStacks::take_output(bool is_late) {
  const pid_t process = processes_.front();
  if (is_late) kill(process, SIGCONT);  // a killed debugger may leave it stopped
  const auto lines = stack_lines(output_, most_lines_);
  if (lines.empty()) {
    const std::string words = last_line(errors_.empty() ? output_ : errors_);
    last_reason_ = used_ + ": " + (is_late ? "timed out" : words);
    return;
  }
  std::string text = as_line(rank_ + ": stacks of " + title_ + ", by " + used_ + ":");
  for (const std::string& line : lines) text += as_line(line);
  write_(text);
  go_on();
}

// Some of them may have ended, and their ids may have been reused.
void RankStacks::finish() {
  const auto there = processes_of_rank(program_);
  for (const pid_t process : unseen_) {
    if (std::find(there.begin(), there.end(), process) == there.end()) continue;
    kill(process, SIGQUIT);
    quit_until_ = Clock::now() + kTimeForQuit;
  }
  is_done_ = !quit_until_;
}

}  // namespace hpcboot::run

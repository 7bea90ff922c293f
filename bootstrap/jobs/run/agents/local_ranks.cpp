#include "local_ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/cpu_quota.hpp"
#include "core/numa.hpp"
#include "jobs/run/ranks/graces.hpp"
#include "jobs/run/ranks/oom_kills.hpp"
#include "jobs/run/stage/stage.hpp"

namespace hpcboot::run {
namespace {

Variables base_of(const AgentSpec& spec) {
  const Env env = Env::from_process();
  Variables base(env.variables().begin(), env.variables().end());
  for (const std::string& name : spec.unset) base.erase(name);
  for (const auto& [name, value] : spec.set) base[name] = value;
  return base;
}

// Does the user bind threads to CPUs? Such settings refer to all CPUs of the host.
bool binds_itself(const Env& env) {
  return env.has("OMP_PROC_BIND") || env.has("KMP_AFFINITY") || env.has("GOMP_CPU_AFFINITY");
}

std::vector<int> cpus_of(const std::vector<Core>& cores) {
  std::vector<int> cpus;
  for (const Core& core : cores) cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
  return cpus;
}

}  // namespace

LocalRanks::LocalRanks(AgentSpec spec, Send send)
    : spec_(std::move(spec)),
      send_(std::move(send)),
      env_(base_of(spec_)),
      facts_(Facts::of_this_process(env_)),
      ranks_(static_cast<std::size_t>(spec_.ranks)) {
  const Variables base(env_.variables().begin(), env_.variables().end());
  for (int local = 0; local < spec_.ranks; ++local) {
    const int rank = spec_.first_rank + local;
    const Placement placement{rank,        spec_.world_size, local,
                              spec_.ranks, spec_.node_rank,  spec_.num_nodes};
    environments_.emplace_back(base, placement, spec_.handover, facts_);
    Rank& own = ranks_[static_cast<std::size_t>(local)];
    own.rank = rank;
    if (!spec_.output_dir) continue;
    own.out_log = std::make_unique<RankLog>(*spec_.output_dir, rank, "out");
    own.err_log = std::make_unique<RankLog>(*spec_.output_dir, rank, "err");
  }
}

void LocalRanks::set_staged(const std::string& path) {
  staged_ = path;
  spec_.words = with_staged(std::move(spec_.words), path);
}

void LocalRanks::start(const MasterEndpoint& master, const std::function<void()>& between) {
  oom_kills_before_ = oom_kills();
  const std::vector<Core> cores = cores_of("/sys", cpus_of_this_process());
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    start_rank(i, master, cores);
    between();
  }
}

void LocalRanks::start_rank(std::size_t index, const MasterEndpoint& master,
                            const std::vector<Core>& cores) {
  Rank& rank = ranks_[index];
  ChildSpec child;
  child.words = spec_.words;
  if (!spec_.is_in_folder) child.folder = spec_.folder;
  if (!binds_itself(env_))
    child.cpus = cpus_of(share_of_cores(cores, static_cast<int>(index), spec_.ranks));
  Facts facts = facts_;
  if (facts.device_distance && !child.cpus.empty())
    facts.device_distance = device_distances("/sys", child.cpus);
  child.env = environments_[index].complete(master, spec_.gpu_bind, facts);
  child.env["PWD"] = spec_.folder;
  if (!staged_.empty()) child.env[kStagedVariable] = staged_;
  // Otherwise each rank would start as many threads as there are CPUs.
  const int all = static_cast<int>(cores.size());
  const int usable = std::min(all, cpus_of_quota().value_or(all));
  child.env.emplace("OMP_NUM_THREADS", std::to_string(std::max(1, usable / spec_.ranks)));
  FdPair input;
  if (rank.rank == 0) {
    input = make_pipe();
    set_nonblocking(input.second);
    child.input = input.first;
    input_fd_ = input.second;
  }
  try {
    rank.child.emplace(child);
  } catch (const CannotExecute& error) {
    rank.err_lines.take(error.reason);
    report(rank, {error.exit_code, 0}, 0);
    send_(FrameKind::complete, to_payload(*rank.end));
  }
  if (input.first >= 0) close(input.first);
}

bool LocalRanks::have_ended() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.end && !rank.child; });
}

std::vector<pid_t> LocalRanks::children() const {
  std::vector<pid_t> pids;
  for (const Rank& rank : ranks_) {
    if (rank.child) pids.push_back(rank.child->pid());
  }
  if (stacks_) stacks_->add_children(pids);
  return pids;
}

void LocalRanks::signal(int number) {
  for (Rank& rank : ranks_) {
    // What an ended rank has started, such as its `tee`, is still writing.
    if (rank.child && !rank.end) rank.child->signal(number);
  }
}

void LocalRanks::write_stacks() {
  stacks_.emplace(Variables(env_.variables().begin(), env_.variables().end()));
  for (Rank& rank : ranks_) {
    if (!rank.child) continue;
    stacks_->add(rank.rank, rank.child->pid(),
                 [this, &rank](const std::string& lines) { show_stacks(rank, lines); });
  }
}

void LocalRanks::show_stacks(Rank& rank, const std::string& lines) {
  show(rank, true, (rank.err_lines.is_in_line() ? "\n" : "") + lines);
}

void LocalRanks::give_input(std::string_view bytes) {
  input_ += bytes;
  input_ends_ = input_ends_ || bytes.empty();
  write_input();
}

void LocalRanks::write_input() {
  const bool was_waiting = !input_.empty();
  while (!input_.empty()) {
    const ssize_t size = write(input_fd_, input_.data(), input_.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size < 0) {
      // Rank 0 has closed its input, or has ended. Without an answer `run` reads no more.
      close_input();
      input_.clear();
      return;
    }
    input_.erase(0, static_cast<std::size_t>(size));
  }
  if (input_ends_) close_input();
  if (was_waiting) send_(FrameKind::input_taken, "");
}

void LocalRanks::close_input() {
  if (input_fd_ >= 0) close(input_fd_);
  input_fd_ = -1;
}

void LocalRanks::add_to(PollSet& set, bool reads) const {
  if (!input_.empty()) set.add(input_fd_, POLLOUT);
  for (const Rank& rank : ranks_) {
    if (!rank.child || !reads) continue;
    set.add(rank.child->out_fd(), POLLIN);
    set.add(rank.child->err_fd(), POLLIN);
  }
  if (stacks_ && reads) stacks_->add_to(set);
}

void LocalRanks::handle(const PollSet& set) {
  if (!input_.empty()) write_input();
  for (Rank& rank : ranks_) {
    if (!rank.child) continue;
    if (set.is_ready(rank.child->out_fd())) read_output(rank, false);
    if (set.is_ready(rank.child->err_fd())) read_output(rank, true);
    look_for_end(rank);
  }
  if (!stacks_) return;
  stacks_->handle(set);
  if (!stacks_->are_done()) return;
  stacks_.reset();
  send_(FrameKind::stacks_written, "");
}

// @return whether there may be more
bool LocalRanks::read_output(Rank& rank, bool is_error) {
  char buffer[std::size_t{64} << 10U];
  const int fd = is_error ? rank.child->err_fd() : rank.child->out_fd();
  if (fd < 0) return false;
  const ssize_t size = read(fd, buffer, sizeof buffer);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (size <= 0) {
    is_error ? rank.child->close_err() : rank.child->close_out();
    return false;
  }
  show(rank, is_error, {buffer, static_cast<std::size_t>(size)});
  return true;
}

void LocalRanks::show(Rank& rank, bool is_error, std::string_view bytes) {
  (is_error ? rank.err_lines : rank.out_lines).take(bytes);
  if (const auto& log = is_error ? rank.err_log : rank.out_log) {
    const std::string reason = log->write(bytes);
    if (!reason.empty()) send_(FrameKind::note, reason);
  }
  send_(is_error ? FrameKind::error_output : FrameKind::output, to_payload({rank.rank, bytes}));
}

void LocalRanks::read_rest(Rank& rank) {
  for (const bool is_error : {false, true}) {
    for (int i = 0; i < kMostLastReads && read_output(rank, is_error);) ++i;
  }
}

void LocalRanks::look_for_end(Rank& rank) {
  if (!rank.end) {
    const auto end = rank.child->ended();
    if (!end) return;
    read_rest(rank);
    // At once: otherwise a rank that failed because of it might be named first.
    report(rank, *end, rank.child->pid());
    if (stacks_) stacks_->forget(rank.rank);
  }
  const bool is_silent = rank.child->out_fd() < 0 && rank.child->err_fd() < 0;
  if (!is_silent && Clock::now() < rank.ended_at + kTimeForRest) return;
  rank.child->reap();
  read_rest(rank);
  rank.child.reset();
  rank.end->last_lines = last_lines(rank);
  send_(FrameKind::complete, to_payload(*rank.end));
}

std::vector<std::string> LocalRanks::last_lines(const Rank& rank) {
  auto lines = rank.err_lines.lines();
  return lines.empty() ? rank.out_lines.lines() : lines;
}

void LocalRanks::report(Rank& rank, const ChildEnd& end, int process_id) {
  rank.ended_at = Clock::now();
  rank.end = RankEnd{rank.rank, "", process_id, end.exit_code, end.signal, last_lines(rank)};
  rank.end->is_out_of_memory = end.signal == SIGKILL && oom_kills() > oom_kills_before_;
  send_(FrameKind::ended, to_payload(*rank.end));
}

Clock::time_point LocalRanks::next_time() const {
  auto next = Clock::time_point::max();
  for (const Rank& rank : ranks_) {
    if (rank.child && rank.end) next = std::min(next, rank.ended_at + kTimeForRest);
  }
  if (stacks_) next = std::min(next, stacks_->next_time());
  return next;
}

}  // namespace hpcboot::run

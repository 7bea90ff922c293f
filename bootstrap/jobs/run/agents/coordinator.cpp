#include "coordinator.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "hpcboot/version.hpp"
#include "jobs/run/plan/working_folder.hpp"

namespace hpcboot::run {
namespace {

constexpr std::chrono::seconds kTurn{1};
constexpr std::chrono::seconds kTimeToRemove{65};    // the staged copy
constexpr std::chrono::milliseconds kFarewell{500};  // for ssh to report why it lost its agent

std::vector<std::string> words_for(const AgentRun& run, const AgentPlace& place) {
  std::vector<std::string> words = place.shell;
  if (words.empty()) return words;
  // ssh passes its command to a shell.
  words.push_back(run.plan.launcher == Launcher::ssh ? shell_quote(run.self) : run.self);
  words.emplace_back("run-agent");
  return words;
}

AgentSpec spec_for_all(const AgentRun& run) {
  AgentSpec spec;
  spec.version = version();
  spec.words = run.plan.words;
  const Env env = Env::from_process();
  spec.folder = run.request.chdir ? absolute_path(env, *run.request.chdir) : working_folder(env);
  for (const std::string& name : run.plan.exported) {
    if (const auto value = env.raw(name)) spec.set[name] = *value;
  }
  for (const auto& [name, value] : run.plan.set) spec.set[name] = value;
  spec.unset = run.plan.unset;
  spec.handover = run.handover;
  spec.num_nodes = static_cast<int>(run.plan.layout.hosts.size());
  spec.world_size = run.plan.layout.world_size();
  spec.gpu_bind = run.request.gpu_bind;
  spec.output_dir = run.request.output_dir;
  spec.stage = run.request.stage;
  return spec;
}

}  // namespace

Coordinator::Coordinator(const AgentRun& run, Console& console, const BlockedSignals& signals)
    : run_(run),
      console_(console),
      signals_(signals),
      start_until_(Clock::now() + run.request.timeout),
      silence_(run.request.silence) {}

int Coordinator::run() {
  try {
    start_links();
    while (!have_ended() && stop_signal_ == 0) turn();
  } catch (const Error&) {
    close_links();
    throw;
  }
  return end_of_run();
}

void Coordinator::start_links() {
  AgentSpec spec = spec_for_all(run_);
  std::vector<int> fds;
  for (std::size_t i = 0; i < run_.plan.agents.size(); ++i) {
    const AgentPlace& place = run_.plan.agents[i];
    spec.node_rank = static_cast<int>(i);
    spec.ranks = run_.plan.layout.hosts[i].ranks;
    std::set<int> ranks;
    for (int rank = 0; rank < spec.ranks; ++rank) ranks.insert(spec.first_rank + rank);
    links_.emplace_back(place.host, words_for(run_, place), std::move(ranks), fds);
    fds.push_back(links_.back().fd());
    links_.back().is_staged = !spec.stage;
    if (spec.stage) links_.back().time_to_end = kTimeToRemove;
    spec.silence.reset();
    if (!links_.back().is_here()) spec.silence = run_.silence;
    // Whose path may lead through a folder that the user may not search.
    spec.is_in_folder = links_.back().is_here() && !run_.request.chdir;
    links_.back().send(FrameKind::spec, to_payload(spec));
    spec.first_rank += spec.ranks;
  }
  std::vector<std::weak_ptr<FrameChannel>> remote;
  for (const AgentLink& link : links_) {
    if (!link.is_here()) remote.emplace_back(link.channel());
  }
  heartbeats_.emplace(std::move(remote));
}

bool Coordinator::have_ended() const {
  return std::all_of(links_.begin(), links_.end(),
                     [](const AgentLink& link) { return link.fd() < 0 || link.ranks().empty(); });
}

bool Coordinator::have_answered() const {
  return std::all_of(links_.begin(), links_.end(),
                     [](const AgentLink& link) { return link.hello.has_value(); });
}

bool Coordinator::are_ready() const {
  return have_answered() && std::all_of(links_.begin(), links_.end(),
                                        [](const AgentLink& link) { return link.is_staged; });
}

void Coordinator::turn() {
  PollSet set;
  set.add(signals_.fd(), POLLIN);
  for (const AgentLink& link : links_) link.add_to(set, true);
  console_.add_to(set);
  if (has_started_) input_.add_to(set);
  if (can_be_warned()) set.add(run_.clock->fd(), POLLIN);
  auto until = Clock::now() + kTurn;
  if (const auto next = console_.next_time()) until = std::min(until, *next);
  if (!have_answered()) until = std::min(until, start_until_);
  set.wait(until);
  take_signals();  // SIGTSTP stops this process here
  // An agent only seems silent while this process is stopped.
  const auto now = Clock::now();
  const bool was_stopped = now > last_turn_ + 3 * kTurn;
  if (was_stopped) start_until_ += now - last_turn_;
  last_turn_ = now;
  warn_in_time();
  for (AgentLink& link : links_) {
    if (was_stopped) link.last_seen = now;
    if (set.is_ready(link.fd())) take_frames(link);
    if (console_.has_room()) link.give_room();
    look_at(link);
  }
  if (has_started_) {
    if (const auto bytes = input_.read(set)) links_.front().send(FrameKind::input, *bytes);
  } else if (are_ready()) {
    start_ranks();
  }
  console_.flush();
  take_out_error();
  look_for_readers();
  check_deadlines();
  look_for_silence();
}

void Coordinator::take_frames(AgentLink& link) {
  FrameChannel& channel = *link.channel();
  const bool is_there = channel.receive();
  std::optional<Error> failure;
  try {
    while (const auto frame = channel.next()) {
      if (frame->kind == FrameKind::failed) failure = read_error(frame->payload);
      if (failure) break;  // the last message
      take(link, *frame);
    }
  } catch (const Error& error) {
    if (has_started_) {
      lose(link, error.what());
      return;
    }
    failure = error;
  }
  if (failure) {
    end_without(link, Error(failure->code(), link.host() + ": " + failure->found(),
                            failure->expected(), failure->remedy()));
    return;
  }
  if (!is_there && link.ranks().empty()) link.close();
  if (is_there || link.ranks().empty()) return;
  // Only the first loss is reported. Waiting for the reason of each further one would only delay
  // the end of the ranks.
  const bool is_told = !first_failure_ && !first_loss_;
  lose(link, is_told ? link.reason(kFarewell) : "");
}

void Coordinator::take(AgentLink& link, const Frame& frame) {
  link.last_seen = Clock::now();
  switch (frame.kind) {
    case FrameKind::heartbeat:
      return;
    case FrameKind::hello:
      link.hello = read_hello(frame.payload);
      if (link.hello->version != version()) {
        throw Error(ErrorCode::backend_unavailable,
                    "the agent runs hpcboot " + link.hello->version + ", this process " +
                        std::string(version()),
                    "the same version of hpcboot on all hosts", "install one version everywhere");
      }
      return;
    case FrameKind::staged:
      link.is_staged = true;
      return;
    case FrameKind::output:
    case FrameKind::error_output: {
      const RankBytes output = read_output(frame.payload);
      link.note_output(output.rank, frame.payload.size());
      silence_.note_sign(link.last_seen);
      console_.show(output.rank, frame.kind == FrameKind::error_output, output.bytes);
      return;
    }
    case FrameKind::input_taken:
      input_.go_on();
      return;
    case FrameKind::note:
      console_.say(
          [&](Terminal& to) { to << "note: " << link.host() << ": " << frame.payload << "\n"; });
      return;
    case FrameKind::stacks_written:
      link.has_written_stacks = true;
      return;
    case FrameKind::ended:
      take_end(link, frame);
      return;
    case FrameKind::complete: {
      RankEnd end = read_end(frame.payload);
      link.note_complete(end.rank, frame.payload.size());
      console_.finish(end.rank);
      if (first_failure_ && first_failure_->rank == end.rank)
        first_failure_->last_lines = std::move(end.last_lines);
      return;
    }
    case FrameKind::failed:
    case FrameKind::spec:
    case FrameKind::start:
    case FrameKind::signal:
    case FrameKind::input:
    case FrameKind::stacks:
    case FrameKind::room:
      break;
  }
  throw Error(
      ErrorCode::exchange_failed,
      std::string("unexpected message '") + static_cast<char>(frame.kind) + "' from an agent",
      "a message of hpcboot run-agent", "use the same version of hpcboot on all hosts");
}

void Coordinator::take_end(AgentLink& link, const Frame& frame) {
  RankEnd end = read_end(frame.payload);
  end.host = link.host();
  link.note_end(end.rank);
  if (!end.is_failure() || first_loss_) return;
  const bool may_others_save = end.has_stopped_in_order();
  if (first_failure_) {
    if (end_others_at_ && !may_others_save) end_others();
    return;
  }
  first_failure_ = std::move(end);
  has_failed_itself_ = !is_stopping_;
  if (is_stopping_) return;
  if (may_others_save) {
    end_others_at_ = Clock::now() + grace_to_stop(run_.clock);
  } else {
    end_others();
  }
}

void Coordinator::look_at(AgentLink& link) {
  show_messages(link);
  if (link.channel() != nullptr) link.channel()->flush();
  if (link.fd() < 0 || link.ranks().empty() || !link.hello) return;
  if (Clock::now() < link.last_seen + run_.silence) return;
  lose(link, "no message from it for " + std::to_string(run_.silence.count() / 1000) + " s");
}

void Coordinator::show_messages(AgentLink& link) {
  for (const std::string& line : link.new_messages())
    console_.say([&](Terminal& to) { to << link.host() << ": " << line << "\n"; });
}

void Coordinator::start_ranks() {
  const AgentHello& first = *links_.front().hello;
  const MasterEndpoint master{first.address.empty() ? links_.front().host() : first.address,
                              first.port};
  for (AgentLink& link : links_) {
    link.last_seen = Clock::now();
    link.send(FrameKind::start, to_payload(master));
  }
  has_started_ = true;
  silence_.note_sign(Clock::now());
}

}  // namespace hpcboot::run

#include "jobs/run/agents/agent.hpp"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "hpcboot/version.hpp"
#include "jobs/run/agents/agent_messages.hpp"
#include "jobs/run/agents/frames.hpp"
#include "jobs/run/agents/output_queue.hpp"
#include "jobs/run/ranks/event_loop.hpp"
#include "jobs/run/ranks/rank_child.hpp"
#include "rendezvous/handover.hpp"
#include "rendezvous/store/held_port.hpp"
#include "run_process.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

// An agent to which the test plays `hpcboot run`, and the messages between the two.
namespace hpcboot::run {
namespace {

using test::has_gone;
using test::has_state;
using test::state_of;
using testing::HasSubstr;

class AgentProcess {
 public:
  AgentProcess() : AgentProcess(make_ends()) {}

  void send(FrameKind kind, const std::string& payload) { channel_->send(kind, payload); }
  void send_bytes(const std::string& bytes) {
    ASSERT_EQ(write(channel_->out(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }
  void leave() { channel_.reset(); }

  // The next frame of this kind.
  Frame await(FrameKind kind) {
    Frame frame = next();
    while (frame.kind != kind) frame = next();
    return frame;
  }
  Frame next() {
    const auto until = Clock::now() + std::chrono::seconds(30);
    while (Clock::now() < until) {
      if (auto frame = channel_->next()) return *std::move(frame);
      PollSet set;
      set.add(channel_->in(), POLLIN);
      set.wait(until);
      if (!channel_->receive()) break;
    }
    throw std::runtime_error("the frame does not arrive");
  }

  int exit_code() const {
    for (int i = 0; i < 3000 && !process_.ended(); ++i) usleep(10000);
    const auto end = process_.ended();
    return end ? end->exit_code : -1;
  }

 private:
  explicit AgentProcess(FdPair ends)
      : process_(spec_of(ends)), channel_(std::in_place, ends.first, ends.first) {
    close(ends.second);
  }
  static FdPair make_ends() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::runtime_error("socketpair");
    return {ends[0], ends[1]};
  }
  static ChildSpec spec_of(FdPair ends) {
    ChildSpec spec;
    spec.words = {"agent"};
    spec.input = ends.second;
    spec.output = ends.second;
    spec.body = [ends] {
      close(ends.first);
      close(ends.second);
      return agent_main(STDIN_FILENO, STDOUT_FILENO);
    };
    return spec;
  }

  RankChild process_;
  std::optional<FrameChannel> channel_;
};

AgentSpec spec_of(const std::string& script) {
  AgentSpec spec;
  spec.version = version();
  spec.words = {"sh", "-c", script};
  spec.folder = "/";
  return spec;
}

// The process id of the only rank, which prints it.
int start(AgentProcess& agent, const std::string& script,
          std::optional<std::chrono::milliseconds> silence = {}) {
  AgentSpec spec = spec_of(script);
  spec.silence = silence;
  agent.send(FrameKind::spec, to_payload(spec));
  agent.await(FrameKind::hello);
  agent.send(FrameKind::start, to_payload(MasterEndpoint{"127.0.0.1", 20001}));
  const Frame frame = agent.await(FrameKind::output);
  return std::stoi(std::string(read_output(frame.payload).bytes));
}

TEST(Frames, AreTheSameHoweverTheBytesAreCut) {
  const std::string bytes = to_bytes(FrameKind::output, std::string("a\0b\n", 4)) +
                            to_bytes(FrameKind::heartbeat, "") + to_bytes(FrameKind::note, "x");
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    FrameReader reader;
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < bytes.size(); i += step) {
      reader.take(std::string_view(bytes).substr(i, step));
      while (auto frame = reader.next()) frames.push_back(std::move(*frame));
    }
    ASSERT_EQ(frames.size(), 3U);
    EXPECT_EQ(frames[0].payload, std::string("a\0b\n", 4));
    EXPECT_EQ(frames[1].kind, FrameKind::heartbeat);
    EXPECT_EQ(frames[2].payload, "x");
  }
}

TEST(Frames, OfNoKindOrTooLongAreRefused) {
  for (const std::string& bytes : {std::string("?\0\0\0\0", 5), std::string("o\xff\0\0\0", 5),
                                   std::string("Hello, world\n")}) {
    FrameReader reader;
    reader.take(bytes);
    test::expect_error(
        ErrorCode::exchange_failed, [&] { reader.next(); }, "not a message");
  }
}

TEST(AgentMessages, KeepEveryByte) {
  AgentSpec spec = spec_of("");
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  spec.words = {"x", all, ""};
  spec.set = {{"A", all}, {"B", ""}};
  spec.output_dir = all;
  const AgentSpec again = read_spec(to_payload(spec));
  EXPECT_EQ(again.words, spec.words);
  EXPECT_EQ(again.set, spec.set);
  EXPECT_EQ(again.output_dir, spec.output_dir);
}

TEST(AgentMessages, ThatAreNoneAreRefused) {
  for (const char* payload : {"", "{", "[]", "{}", "{\"rank\":\"x\"}", "{\"rank\":1}"})
    test::expect_error(
        ErrorCode::malformed_file, [&] { read_end(payload); }, "hpcboot run");
  test::expect_error(ErrorCode::malformed_file, [] { read_output("abc"); });
  test::expect_error(ErrorCode::malformed_file, [] { read_room("{\"bytes\":-1}"); });
  AgentSpec spec = spec_of("");
  spec.ranks = 0;
  test::expect_error(
      ErrorCode::malformed_file, [&] { read_spec(to_payload(spec)); }, "ranks");
}

TEST(AgentMessages, HaveAnExitCodeOfAnError) {
  const auto code_of = [](const std::string& code) {
    return read_error("{\"code\":" + code + R"(,"found":"x","expected":"y","remedy":"z"})").code();
  };
  EXPECT_EQ(code_of("44"), ErrorCode::peer_lost);
  for (const char* code : {"0", "1", "19", "139", "512"})
    EXPECT_EQ(code_of(code), ErrorCode::exchange_failed) << code;
}

TEST(Agent, RefusesAnotherVersion) {
  AgentProcess agent;
  AgentSpec spec = spec_of("echo started");
  spec.version = "0.0.7";
  agent.send(FrameKind::spec, to_payload(spec));
  const Error error = read_error(agent.await(FrameKind::failed).payload);
  EXPECT_EQ(error.code(), ErrorCode::backend_unavailable);
  EXPECT_THAT(error.found(), HasSubstr("version 0.0.7 started an agent of version"));
  EXPECT_EQ(agent.exit_code(), 30);
}

TEST(Agent, RefusesWhatIsNoFrameOrOutOfTurn) {
  {
    AgentProcess agent;
    agent.send_bytes("hello?");
    EXPECT_EQ(read_error(agent.await(FrameKind::failed).payload).code(),
              ErrorCode::exchange_failed);
    EXPECT_EQ(agent.exit_code(), 31);
  }
  AgentProcess agent;
  agent.send(FrameKind::start, to_payload(MasterEndpoint{"127.0.0.1", 20001}));
  EXPECT_THAT(read_error(agent.await(FrameKind::failed).payload).found(),
              HasSubstr("out of order"));
}

TEST(Agent, EndsItsRanksWithNonsenseAndWithTheConnection) {
  AgentProcess first;
  const int pid = start(first, "echo $$; while :; do sleep 0.1; done");
  first.send_bytes("?????");
  EXPECT_TRUE(has_gone(pid));
  AgentProcess second;
  const int other = start(second, "echo $$; while :; do sleep 0.1; done");
  second.leave();
  EXPECT_TRUE(has_gone(other));
  EXPECT_EQ(second.exit_code(), 0);
}

TEST(Agent, SpeaksWhileItsRanksAreStoppedAndEndsThem) {
  AgentProcess agent;
  const int pid = start(agent, "echo $$; exec sleep 1000");
  agent.send(FrameKind::signal, to_payload(SignalOrder{SIGSTOP, std::nullopt}));
  EXPECT_TRUE(has_state(pid, 'T'));
  agent.await(FrameKind::heartbeat);
  agent.await(FrameKind::heartbeat);
  agent.leave();
  EXPECT_TRUE(has_gone(pid));
}

TEST(Agent, EndsItsRanksOnceTheRunIsSilentUnlessItHasStoppedWithThem) {
  constexpr std::chrono::milliseconds silence{2000};
  const auto wait = [] { usleep(3500000); };
  AgentProcess agent;
  const int pid = start(agent, "echo $$; exec sleep 1000", silence);
  for (int i = 0; i < 6; ++i) {
    usleep(500000);
    agent.send(FrameKind::heartbeat, "");
  }
  EXPECT_EQ(state_of(pid), 'S') << "heartbeats are heard";
  agent.send(FrameKind::signal, to_payload(SignalOrder{SIGTSTP, std::nullopt}));
  EXPECT_TRUE(has_state(pid, 'T'));
  agent.send(FrameKind::heartbeat, "");  // may cross the order
  wait();
  EXPECT_EQ(state_of(pid), 'T') << "the run has stopped";
  agent.send(FrameKind::signal, to_payload(SignalOrder{SIGCONT, std::nullopt}));
  EXPECT_TRUE(has_state(pid, 'S'));
  EXPECT_TRUE(has_gone(pid));
  EXPECT_THAT(agent.await(FrameKind::note).payload,
              HasSubstr("no message from hpcboot run for 2 s"));
  EXPECT_EQ(agent.exit_code(), 0);
  AgentProcess another;
  const int other = start(another, "echo $$; exec sleep 1000");
  wait();
  EXPECT_EQ(state_of(other), 'S') << "on the run's own host the connection is enough";
}

TEST(Agent, TellsTheEndOfARankThoughItsOutputHasNoRoom) {
  const BlockedSignals no_broken_pipe({});  // the agent ends once it has sent everything
  AgentProcess agent;
  constexpr std::size_t all = 1000000;
  start(agent, "echo $$; read -r go; head -c " + std::to_string(all) + " /dev/zero; exit 3");
  agent.send(FrameKind::input, "go\n");
  std::size_t shown = 0;
  const auto take = [&](const Frame& frame) {
    if (frame.kind != FrameKind::output) return 0;
    shown += read_output(frame.payload).bytes.size();
    return static_cast<int>(frame.payload.size());
  };
  int taken = 0;
  Frame frame = agent.next();
  for (; frame.kind != FrameKind::ended; frame = agent.next()) taken += take(frame);
  EXPECT_EQ(read_end(frame.payload).exit_code, 3);
  EXPECT_GE(shown, kOutputWindow / 2);
  EXPECT_LE(shown, 2 * kOutputWindow);
  for (; frame.kind != FrameKind::complete; frame = agent.next()) {
    taken += take(frame);
    if (taken > 0) agent.send(FrameKind::room, to_payload(OutputRoom{taken}));
    taken = 0;
  }
  EXPECT_EQ(shown, all);
  EXPECT_EQ(agent.exit_code(), 0);
}

TEST(Agent, KeepsThePortThatItHasToldUntilTheStart) {
  AgentProcess agent;
  agent.send(FrameKind::spec, to_payload(spec_of("echo $$")));
  const AgentHello hello = read_hello(agent.await(FrameKind::hello).payload);
  EXPECT_EQ(hello.version, version());
  EXPECT_EQ(hello.address, "127.0.0.1");
  EXPECT_GT(hello.port, 1023);
  test::expect_error(
      ErrorCode::exchange_failed, [&] { rendezvous::HeldPort another(hello.port); }, "bind");
}

TEST(Agent, CopiesTheDataToItsHostBeforeTheStart) {
  const test::TemporaryFolder folder;
  test::write_text(folder.path() / "data", "one");
  AgentProcess agent;
  AgentSpec spec = spec_of("cat $HPCBOOT_STAGED; rm $HPCBOOT_STAGED");
  spec.stage = (folder.path() / "data").string();
  spec.set["HPCBOOT_STAGE_DIR"] = folder.path().string();
  spec.handover[rendezvous::kHandoverId] = "0123abcd";
  agent.send(FrameKind::spec, to_payload(spec));
  agent.await(FrameKind::staged);
  agent.send(FrameKind::start, to_payload(MasterEndpoint{"127.0.0.1", 20001}));
  EXPECT_EQ(read_output(agent.await(FrameKind::output).payload).bytes, "one");
  EXPECT_EQ(read_end(agent.await(FrameKind::ended).payload).exit_code, 0);
  agent.leave();
  EXPECT_EQ(agent.exit_code(), 0);
  EXPECT_EQ(test::read_text(folder.path() / "data"), "one");
}

// The rank's child is in its process group and would hold the pipe.
TEST(Agent, TakesWhatARankLeavesBehindWithIt) {
  AgentProcess agent;
  const int pid = start(agent, "sleep 1000 & echo $!");
  EXPECT_EQ(read_end(agent.await(FrameKind::ended).payload).exit_code, 0);
  EXPECT_TRUE(has_gone(pid));
  EXPECT_EQ(agent.exit_code(), 0);
}

TEST(Agent, IsNotEndedByTheSignalsOfItsJob) {
  AgentProcess agent;
  const int pid = start(agent, "trap 'exit 5' USR1; echo $$; while :; do sleep 0.1; done");
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const int parent = std::stoi(text.substr(text.rfind(") ") + 4));
  for (const int number : {SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGQUIT, SIGXCPU})
    kill(parent, number);
  agent.send(FrameKind::signal, to_payload(SignalOrder{SIGUSR1, std::nullopt}));
  EXPECT_EQ(read_end(agent.await(FrameKind::ended).payload).exit_code, 5);
}

}  // namespace
}  // namespace hpcboot::run

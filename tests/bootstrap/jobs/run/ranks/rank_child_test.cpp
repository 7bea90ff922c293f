#include "jobs/run/ranks/rank_child.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "core/numa.hpp"
#include "hpcboot/error.hpp"
#include "support/temporary_folder.hpp"

namespace {

using hpcboot::run::CannotExecute;
using hpcboot::run::ChildSpec;
using hpcboot::run::RankChild;
using hpcboot::test::TemporaryFolder;

constexpr int kDeadline = 20000;  // ms

ChildSpec shell(const std::string& script) {
  ChildSpec spec;
  spec.words = {"sh", "-c", script};
  spec.env = {{"PATH", "/usr/bin:/bin"}};
  return spec;
}

// Reads up to the end of the stream.
std::string all_of(int fd) {
  std::string text;
  char buffer[4096];
  while (true) {
    pollfd entry{fd, POLLIN, 0};
    if (poll(&entry, 1, kDeadline) != 1) throw std::runtime_error("the output does not end");
    const ssize_t size = read(fd, buffer, sizeof buffer);
    if (size <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(size));
  }
}

hpcboot::run::ChildEnd end_of(const RankChild& child) {
  for (int i = 0; i < kDeadline / 10; ++i) {
    if (const auto end = child.ended()) return *end;
    usleep(10000);
  }
  throw std::runtime_error("the child does not end");
}

TEST(RankChild, HasItsEnvironmentFolderAndPipes) {
  const TemporaryFolder folder;
  ChildSpec spec = shell("echo $NAME in $PWD; echo bad >&2; cat; exit 3");
  spec.env["NAME"] = "x y";
  spec.folder = folder.path();
  RankChild child(spec);
  EXPECT_EQ(all_of(child.out_fd()), "x y in " + folder.path().string() + "\n");
  EXPECT_EQ(all_of(child.err_fd()), "bad\n");
  EXPECT_EQ(end_of(child).exit_code, 3);
  EXPECT_EQ(end_of(child).signal, 0);
  child.reap();
}

TEST(RankChild, SaysTheSignalThatEndedItAndTakesItsGroupAlong) {
  RankChild child(shell("sleep 1000 & echo $!; kill -9 $$; sleep 1"));
  char buffer[32] = {};
  pollfd entry{child.out_fd(), POLLIN, 0};
  ASSERT_EQ(poll(&entry, 1, kDeadline), 1);
  ASSERT_GT(read(child.out_fd(), buffer, sizeof buffer - 1), 0);
  EXPECT_EQ(end_of(child).exit_code, 137);
  EXPECT_EQ(end_of(child).signal, 9);
  child.reap();
  all_of(child.out_fd());  // ends only when no process holds it any more
  SUCCEED();
}

TEST(RankChild, SaysWhyAProgramCannotBeExecuted) {
  const TemporaryFolder folder;
  const auto code_of = [](ChildSpec spec, const std::string& program) {
    spec.words = {program};
    try {
      const RankChild child(spec);
    } catch (const CannotExecute& error) {
      EXPECT_NE(error.reason.find(program + ": "), std::string::npos) << error.reason;
      return error.exit_code;
    }
    return 0;
  };
  EXPECT_EQ(code_of(shell(""), "no-such-program"), 127);
  EXPECT_EQ(code_of(shell(""), "/no/such/program"), 127);
  EXPECT_EQ(code_of(shell(""), folder.path()), 126);
  ChildSpec spec = shell("");
  spec.folder = "/no/such/folder";
  try {
    const RankChild child(spec);
    FAIL();
  } catch (const CannotExecute& error) {
    EXPECT_EQ(error.exit_code, 126);
    EXPECT_EQ(error.reason,
              "cannot change to the working folder /no/such/folder: No such file or directory "
              "(--chdir selects another)");
  }
}

// An agent that starts ranks again and again would run out of them.
TEST(RankChild, KeepsNoDescriptorOfAProgramThatCannotBeExecuted) {
  const auto open_descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  ChildSpec spec = shell("");
  spec.words = {"/no/such/program"};
  const auto before = open_descriptors();
  EXPECT_THROW(const RankChild child(spec), CannotExecute);
  EXPECT_EQ(open_descriptors(), before);
}

// Of a program that was started without standard input and output.
TEST(Pipe, ThatCannotBeMadeLeavesNoDescriptor) {
  const pid_t child = fork();
  if (child == 0) {
    const auto are_open = [](std::initializer_list<int> fds) {
      return std::any_of(fds.begin(), fds.end(), [](int fd) { return fcntl(fd, F_GETFD) >= 0; });
    };
    for (int fd = 0; fd < 1024; ++fd) {
      if (fd != STDERR_FILENO) close(fd);
    }
    const rlimit one_more{STDERR_FILENO + 2, STDERR_FILENO + 2};
    setrlimit(RLIMIT_NOFILE, &one_more);
    try {
      hpcboot::run::make_pipe();
    } catch (const hpcboot::Error&) {
      _exit(are_open({0, 1, 3}) ? 2 : 0);
    }
    _exit(1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(RankChild, RunsAFileWithoutAFirstLineByTheShell) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "script";
  std::ofstream(file) << "echo $0 $1\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  ChildSpec spec = shell("");
  spec.words = {"script", "one"};
  spec.env["PATH"] = "/no/such:" + folder.path().string();
  const RankChild child(spec);
  EXPECT_EQ(all_of(child.out_fd()), file.string() + " one\n");
}

TEST(RankChild, RunsWhereItIsTold) {
  const int cpu = hpcboot::cpus_of_this_process().back();
  ChildSpec spec = shell("grep Cpus_allowed_list /proc/self/status");
  spec.cpus = {cpu};
  const RankChild child(spec);
  EXPECT_EQ(all_of(child.out_fd()), "Cpus_allowed_list:\t" + std::to_string(cpu) + "\n");
}

TEST(RankChild, KeepsAnExceptionOfItsBody) {
  ChildSpec spec = shell("");
  spec.body = []() -> int { throw std::runtime_error("no room"); };
  const RankChild child(spec);
  EXPECT_EQ(all_of(child.err_fd()), "no room\n");
  EXPECT_EQ(end_of(child).exit_code, 1);
}

TEST(RankChild, SaysThatThereIsNoRoomForDescriptors) {
#ifdef HPCBOOT_SANITIZED
  GTEST_SKIP() << "the sanitizers open their own descriptors and abort if none is left";
#endif
  ChildSpec spec = shell("");
  // In a separate process, whose limit is raised until it suffices.
  spec.body = [] {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    int refusals = 0;
    for (limit.rlim_cur = 3; limit.rlim_cur < 100; ++limit.rlim_cur) {
      setrlimit(RLIMIT_NOFILE, &limit);
      try {
        const RankChild child(shell("exit 7"));
        return end_of(child).exit_code == 7 && refusals > 0 ? 0 : 2;
      } catch (const hpcboot::Error& error) {
        if (error.found().find("Too many open files") == std::string::npos) return 3;
        ++refusals;
      } catch (const CannotExecute&) {
        return 4;
      }
    }
    return 5;
  };
  const RankChild child(spec);
  EXPECT_EQ(end_of(child).exit_code, 0);
}

}  // namespace

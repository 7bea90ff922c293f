#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <optional>
#include <tuple>

#include "hpcboot/doctor.hpp"
#include "support/free_port.hpp"
#include "support/pretended_file_system.hpp"
#include "support/pretended_name_server.hpp"
#include "support/temporary_folder.hpp"
#include "support/without_threads.hpp"

// What doctor examines, on this machine.
namespace hpcboot {
namespace {

namespace fs = std::filesystem;

SystemFacts look_up(const std::string& dump, const std::string& runs) {
  const Env env = Env::parse(dump);
  return look_up_system(situation_of(env, Facts::of_this_process(env)), runs);
}

TEST(SystemFacts, LooksAtThisMachine) {
  const test::TemporaryFolder folder;
  const SystemFacts s = look_up("PATH=/nonexistent\n", folder.path());
  EXPECT_EQ(s.mpirun, "");
  EXPECT_GE(s.usable_cores.value_or(0), 1);
  EXPECT_GE(s.all_cores.value_or(0), s.usable_cores.value_or(0));
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_EQ(s.open_files_limit, files.rlim_cur);
  EXPECT_LT(s.first_ephemeral_port.value_or(0), s.last_ephemeral_port.value_or(0));
  ASSERT_TRUE(s.work_folder);
  EXPECT_EQ(s.work_folder->path, fs::current_path());
  ASSERT_TRUE(s.runs_folder);
  EXPECT_EQ(s.runs_folder->path, fs::canonical(folder.path()));
  EXPECT_TRUE(s.runs_folder->writable);
  EXPECT_TRUE(fs::is_empty(folder.path())) << "its file was removed";
}

TEST(SystemFacts, AnUnwritableFolderIsToldByTrying) {
  const test::TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec |
                                     fs::perms::others_read | fs::perms::others_exec);
  const test::WithoutRoot without_root;
  if (!without_root.bound()) GTEST_SKIP() << "this container has no user but root";
  const SystemFacts s = look_up("", folder.path());
  ASSERT_TRUE(s.runs_folder);
  EXPECT_FALSE(s.runs_folder->writable);
}

TEST(SystemFacts, BeforeTheFirstRunTheFolderAboveMustTakeIt) {
  const SystemFacts s = look_up("", "nonexistent_runs");
  ASSERT_TRUE(s.runs_folder);
  EXPECT_EQ(s.runs_folder->path, fs::current_path());
  EXPECT_EQ(s.runs_folder->not_made_yet, "nonexistent_runs");
  EXPECT_FALSE(fs::exists("nonexistent_runs"));

  const test::TemporaryFolder folder;
  for (const char* below : {"runs", "runs/", "some/more/runs"}) {
    const std::string runs = folder.path() / below;
    const SystemFacts there = look_up("", runs);
    ASSERT_TRUE(there.runs_folder);
    EXPECT_EQ(there.runs_folder->path, fs::canonical(folder.path()));
    EXPECT_EQ(there.runs_folder->not_made_yet, runs);
    EXPECT_TRUE(there.runs_folder->writable);
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  const SystemFacts proc = look_up("", "/proc/nowhere/runs");
  ASSERT_TRUE(proc.runs_folder);
  EXPECT_EQ(proc.runs_folder->path, "/proc");
  EXPECT_FALSE(proc.runs_folder->writable);
}

TEST(SystemFacts, AFolderForRunsThatCannotBeReachedIsNotTheCurrentOne) {
  const test::TemporaryFolder folder;
  test::write_text(folder.path() / "file", "x");
  fs::create_symlink("nowhere", folder.path() / "link");
  fs::create_directory(folder.path() / "closed");
  fs::permissions(folder.path() / "closed", fs::perms::none);
  fs::permissions(folder.path(), fs::perms::others_read | fs::perms::others_exec,
                  fs::perm_options::add);
  const auto expect_error_at = [&](const char* below, const std::string& error) {
    const SystemFacts s = look_up("", folder.path() / below);
    ASSERT_TRUE(s.runs_folder);
    EXPECT_EQ(s.runs_folder->path, folder.path() / below);
    EXPECT_EQ(s.runs_folder->error, error);
  };
  expect_error_at("file", "Not a directory");
  expect_error_at("file/runs", "Not a directory");
  expect_error_at("link", "No such file or directory");
  expect_error_at("link/runs", "No such file or directory");
  const test::WithoutRoot without_root;
  if (!without_root.bound()) GTEST_SKIP() << "this container has no user but root";
  expect_error_at("closed/runs", "Permission denied");
}

class MpirunInPath : public testing::Test {
 protected:
  void make_program(const char* name) const {
    test::write_text(folder.path() / name, "#!/bin/sh\n");
    fs::permissions(folder.path() / name, fs::perms::all);
  }
  // Expects the file of this program.
  void expect_found(const char* name) const {
    const SystemFacts s =
        look_up("PATH=/nonexistent:" + folder.path().string() + "\n", folder.path());
    EXPECT_EQ(s.mpirun, fs::canonical(folder.path() / name));
  }

  test::TemporaryFolder folder;
};

TEST_F(MpirunInPath, LinksAreFollowed) {
  make_program("orterun");
  make_program("prterun");
  fs::create_symlink("orterun", folder.path() / "mpirun");
  expect_found("orterun");
}

TEST_F(MpirunInPath, WhoseACopyIsTheProgramBesideItTells) {
  make_program("mpirun");
  expect_found("mpirun");
  make_program("prterun");
  expect_found("prterun");
}

TEST(SystemFacts, AFolderHasItsFileSystemsName) {
  const test::TemporaryFolder empty;
  struct statfs status {};
  constexpr auto kTmpfs = 0x01021994;
  if (statfs("/dev/shm", &status) != 0 || status.f_type != kTmpfs || access("/dev/shm", W_OK) != 0)
    GTEST_SKIP() << "no tmpfs at /dev/shm";
  const SystemFacts s = look_up("", "/dev/shm");
  ASSERT_TRUE(s.runs_folder);
  EXPECT_EQ(s.runs_folder->file_system, "tmpfs");
  EXPECT_TRUE(s.runs_folder->local);
  EXPECT_TRUE(s.runs_folder->writable);
  EXPECT_EQ(s.runs_folder->path, "/dev/shm");
  EXPECT_GT(s.runs_folder->free_bytes, 0U);
  ASSERT_TRUE(s.runs_folder->clock_ahead_seconds);
  EXPECT_LT(std::abs(*s.runs_folder->clock_ahead_seconds), 1);
}

TEST(SystemFacts, AFolderOnAnotherHostsFileSystemIsNotLocal) {
  const test::TemporaryFolder folder;
  for (const auto& [type, name, local] : {std::tuple{EXT4_SUPER_MAGIC, "ext", true},
                                          {NFS_SUPER_MAGIC, "nfs", false},
                                          {0x18031977, "weka", false},
                                          {0x65735546, "fuse", false},
                                          {0x12345678, "file system 0x12345678", false}}) {
    const test::PretendedFileSystem pretended(static_cast<std::uint32_t>(type));
    const SystemFacts s = look_up("", folder.path());
    ASSERT_TRUE(s.runs_folder);
    EXPECT_EQ(s.runs_folder->file_system, name);
    EXPECT_EQ(s.runs_folder->local, local) << name;
  }
}

TEST(SystemFacts, APortThatSomebodyListensOnIsTaken) {
  std::optional<testing_support::ListeningPort> somebody(testing_support::free_port());
  const std::string dump =
      "HPCBOOT_MASTER_ADDR=127.0.0.1\nHPCBOOT_MASTER_PORT=" + std::to_string(somebody->port()) +
      "\n";
  const test::TemporaryFolder folder;
  EXPECT_EQ(look_up(dump, folder.path()).master_port_taken, true);
  somebody.reset();
  EXPECT_EQ(look_up(dump, folder.path()).master_port_taken, false);
}

// This process is the agent, which has loaded a part of torch, and its child is the rank.
TEST(SystemFacts, ThePyTorchOfTheAgentCountsUnderTorchrunOnly) {
  const test::TemporaryFolder folder;
  test::write_text(folder.path() / "torch/version.py", "__version__ = '9.8.7'\n");
  const fs::path module = folder.path() / "torch/_C.so";
  test::write_text(module, "x");
  const int file = open(module.c_str(), O_RDONLY | O_CLOEXEC);
  void* const loaded = mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  ASSERT_NE(loaded, MAP_FAILED);
  const auto expect_in_rank = [&](const std::string& dump, const std::string& version) {
    const pid_t rank = fork();
    if (rank == 0) {
      const auto agrees = [&]() noexcept {
        return look_up(dump, folder.path()).torchrun == version;
      };
      _exit(agrees() ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(waitpid(rank, &status, 0), rank);
    EXPECT_EQ(status, 0) << "not '" << version << "' under: " << dump;
  };
  const std::string place = "RANK=0\nWORLD_SIZE=1\nLOCAL_RANK=0\n";
  expect_in_rank(place + "TORCHELASTIC_RUN_ID=none\nMASTER_ADDR=127.0.0.1\nMASTER_PORT=29400\n",
                 "9.8.7");
  expect_in_rank(place, "");
  munmap(loaded, 1);
}

TEST(SystemFacts, ASilentNameServerIsNoAnswer) {
  const test::PretendedNameServer server(test::PretendedNameServer::Answers::never);
  const test::TemporaryFolder folder;
  Facts facts;
  facts.hostname = "n1.here";
  const auto look = [&](const std::string& dump) {
    return look_up_system(situation_of(Env::parse(dump), facts), folder.path());
  };
  const SystemFacts s = look("HPCBOOT_MASTER_ADDR=n2.here\n");
  EXPECT_EQ(s.unanswered_names, (std::vector<std::string>{"n1.here", "n2.here"}));
  EXPECT_FALSE(s.own_addresses);
  EXPECT_FALSE(s.master_resolves);
  EXPECT_EQ(look("HPCBOOT_MASTER_ADDR=n1.here\n").unanswered_names,
            std::vector<std::string>{"n1.here"});
  EXPECT_EQ(look("HPCBOOT_MASTER_ADDR=192.0.2.7\n").master_resolves, true);
}

TEST(SystemFacts, WithoutThreadsNamesAreUnknownAndTheRestIsExamined) {
  Facts facts;
  facts.hostname = "n1.here";
  const auto holds = test::holds_without_threads([&] {
    const SystemFacts s =
        look_up_system(situation_of(Env::parse("HPCBOOT_MASTER_ADDR=n2.here\n"), facts), "/tmp");
    return s.thread_error && s.thread_error->found().find("ulimit -u: 0") != std::string::npos &&
           !s.own_addresses && !s.master_resolves && s.unanswered_names.empty() && s.work_folder;
  });
  if (!holds) GTEST_SKIP() << "this process cannot be limited";
  EXPECT_TRUE(*holds);
}

TEST(SystemFacts, ANameWithoutAddressIsTold) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(look_up("HPCBOOT_MASTER_ADDR=127.0.0.1\n", folder.path()).master_resolves, true);
  const test::PretendedNameServer server(test::PretendedNameServer::Answers::no_such_name);
  EXPECT_EQ(look_up("HPCBOOT_MASTER_ADDR=n1\n", folder.path()).master_resolves, false);
}

}  // namespace
}  // namespace hpcboot

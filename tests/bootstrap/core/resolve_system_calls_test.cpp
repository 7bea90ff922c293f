#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>

#include "json/capture_folder.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

// resolve() does not fork, contact anything or read any file except the nodefile: it runs in a
// child process in which the kernel refuses all system calls except those for memory.
#if defined(__x86_64__) && !defined(HPCBOOT_SANITIZED)
namespace hpcboot {
namespace {

// Shared with the child.
struct Report {
  int refused_call = -1;  // number of the first system call that was refused
  char refused_path[256] = {};
  int resolved = 0;
  int nodefile_opened = 0;
};

constexpr int kNoFilter = 77;  // the child's exit code if the kernel has no seccomp

Report* report = nullptr;
const char* allowed_path = nullptr;
int allowed_file = -1;  // opened before the filter was set

// Opening the nodefile returns the descriptor that is already open; any other call that the filter
// stops ends the child.
void on_refused_call(int, siginfo_t* info, void* context) {
  auto* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (info->si_syscall == SYS_openat) {
    const auto* path = reinterpret_cast<const char*>(registers[REG_RSI]);
    if (allowed_path != nullptr && std::strcmp(path, allowed_path) == 0) {
      ++report->nodefile_opened;
      registers[REG_RAX] = allowed_file;
      return;
    }
    std::strncpy(report->refused_path, path, sizeof report->refused_path - 1);
  }
  report->refused_call = info->si_syscall;
  _exit(1);
}

bool refuse_all_but_memory(bool reading) {
  struct sigaction action {};
  action.sa_sigaction = on_refused_call;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);
  std::vector<long> allowed = {SYS_brk,     SYS_mmap,  SYS_munmap,       SYS_mremap,
                               SYS_madvise, SYS_futex, SYS_rt_sigreturn, SYS_exit_group};
  // For the file that is already open; no other can be opened.
  if (reading) {
    for (const long call : {SYS_read, SYS_readv, SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_close})
      allowed.push_back(call);
  }
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : allowed) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<__u32>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

class ResolveSystemCalls : public testing::Test {
 protected:
  void SetUp() override {
    void* memory =
        mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    report = new (memory) Report;
  }
  void TearDown() override { munmap(report, sizeof(Report)); }

  void run_in_child(bool reading, const std::function<void()>& body) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      if (!refuse_all_but_memory(reading)) _exit(kNoFilter);
      try {
        body();
      } catch (...) {
        _exit(2);
      }
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNoFilter)
      GTEST_SKIP() << "this kernel has no seccomp filters";
    finished_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  void expect_no_refusal() const {
    EXPECT_EQ(report->refused_call, -1) << "a system call of this number " << report->refused_path;
    EXPECT_TRUE(finished_);
  }

  bool finished_ = false;
};

TEST_F(ResolveSystemCalls, TheFilterStopsAForkAndAFile) {
  run_in_child(false, [] { report->resolved = fork() >= 0; });
  EXPECT_FALSE(finished_);
  EXPECT_NE(report->refused_call, -1);
  EXPECT_EQ(report->resolved, 0);
  run_in_child(true, [] { open("/etc/hostname", O_RDONLY); });
  EXPECT_FALSE(finished_);
  EXPECT_STREQ(report->refused_path, "/etc/hostname");
}

TEST_F(ResolveSystemCalls, NoneForAnyCapturedEnvironment) {
  std::vector<CapturedRank> ranks;
  for (const auto& folder : std::filesystem::directory_iterator(test::golden_environments())) {
    for (const std::string& name : list_capture(folder.path().string())) {
      CapturedRank rank = read_captured_rank(folder.path().string(), name);
      if (!rank.options.allocation.nodefile) ranks.push_back(std::move(rank));
    }
  }
  ASSERT_FALSE(ranks.empty());
  run_in_child(false, [&] {
    for (const CapturedRank& rank : ranks) {
      resolve(rank.env, rank.facts, rank.options);
      ++report->resolved;
    }
  });
  expect_no_refusal();
  EXPECT_EQ(report->resolved, static_cast<int>(ranks.size()));
}

TEST_F(ResolveSystemCalls, TheNodefileIsReadAndNothingElse) {
  const test::TemporaryFolder folder;
  const std::string nodefile = (folder.path() / "nodes").string();
  test::write_text(nodefile, "n1\nn1\nn2\nn2\n");
  const Env env =
      Env::parse("PBS_JOBID=7.server\nPBS_ENVIRONMENT=PBS_BATCH\nPBS_NODEFILE=" + nodefile + "\n");
  allowed_path = nodefile.c_str();
  allowed_file = open(nodefile.c_str(), O_RDONLY);
  ASSERT_GE(allowed_file, 0);
  run_in_child(true,
               [&] { report->resolved = static_cast<int>(resolve(env, Facts{}).hosts.size()); });
  close(allowed_file);
  expect_no_refusal();
  EXPECT_EQ(report->resolved, 2);
  EXPECT_EQ(report->nodefile_opened, 1);
}

}  // namespace
}  // namespace hpcboot
#else
TEST(ResolveSystemCalls, NoneForAnyCapturedEnvironment) {
  GTEST_SKIP() << "written for x86-64; sanitizers make their own system calls";
}
#endif

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>

#include "agents_of_scripts.hpp"
#include "core/cpu_topology.hpp"
#include "core/numa.hpp"
#include "support/temporary_folder.hpp"

namespace {

using hpcboot::test::count;
using hpcboot::test::lines_of;
using hpcboot::test::run;
using hpcboot::test::RunOutcome;
using hpcboot::test::RunProcess;
using hpcboot::test::script;
using hpcboot::test::TemporaryFolder;
using testing::EndsWith;
using testing::HasSubstr;

TEST(Agents, ShowNoSecretOnACommandLine) {
  const RunOutcome outcome =
      run(script({1, 1}, "echo is $HPCBOOT_RUN_SECRET; cat /proc/[0-9]*/cmdline | tr '\\0' ' '"));
  EXPECT_EQ(count(outcome.out, std::string("is ") + RunProcess::kSecret + "\n"), 2U);
  EXPECT_EQ(count(outcome.out, RunProcess::kSecret), 2U);
}

TEST(Agents, WorkWhereTheyAreTold) {
  RunProcess::Options options = script({1, 1}, "echo $PWD $(pwd)");
  options.request.chdir = "/usr";
  EXPECT_EQ(run(options).out, "/usr /usr\n/usr /usr\n");
  options.request.chdir = "/no/such/folder";
  EXPECT_THAT(run(options).err,
              HasSubstr("/no/such/folder: No such file or directory (--chdir selects another)"));
}

TEST(Agents, SayThatTheWorkingFolderIsGone) {
  const auto before = std::filesystem::current_path();
  std::optional<TemporaryFolder> folder(std::in_place);
  std::filesystem::current_path(folder->path());
  RunProcess::Options options = script({1}, "pwd");
  folder.reset();
  const RunOutcome outcome = run(options);
  EXPECT_EQ(outcome.exit_code, 27);
  EXPECT_THAT(outcome.err, HasSubstr("the working folder: No such file or directory"));
  options.request.chdir = "/usr";
  EXPECT_EQ(run(options).out, "/usr\n");
  std::filesystem::current_path(before);
}

TEST(Agents, ShareOutTheCoresUnlessTheUserBinds) {
  const std::size_t cpus = hpcboot::cpus_of_this_process().size();
  if (cpus < 2) GTEST_SKIP() << "one CPU";
  const auto cores = hpcboot::cores_of("/sys", hpcboot::cpus_of_this_process());
  std::size_t share = 0;
  for (const hpcboot::Core& core : hpcboot::share_of_cores(cores, 0, 2)) share += core.cpus.size();
  RunProcess::Options options =
      script({2}, "env -u OMP_NUM_THREADS nproc; echo threads $OMP_NUM_THREADS");
  const std::string threads = std::to_string(std::max<std::size_t>(cores.size() / 2, 1));
  EXPECT_THAT(run(options).out, HasSubstr(std::to_string(share) + "\n"));
  EXPECT_EQ(count(run(options).out, "threads " + threads + "\n"), 2U);
  options.set = {{"OMP_PROC_BIND", "close"}, {"OMP_NUM_THREADS", "7"}};
  const std::string out = run(options).out;
  EXPECT_THAT(out, HasSubstr(std::to_string(cpus) + "\n"));
  EXPECT_EQ(count(out, "threads 7\n"), 2U);
}

TEST(Agents, NameAProgramThatIsNotThere) {
  RunProcess::Options options = script({2}, "");
  options.command = {"no-such-program"};
  const RunOutcome outcome = run(options);
  EXPECT_EQ(outcome.exit_code, 127);
  EXPECT_THAT(outcome.err, EndsWith("exit code 127; last lines:\n"
                                    "  no-such-program: No such file or directory\n"));
  options.command = {"/etc/passwd"};
  EXPECT_EQ(run(options).exit_code, 126);
}

TEST(Agents, RaiseTheirLimitOfDescriptorsAndNotThatOfTheRanks) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit lower{200, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  const RunOutcome outcome =
      run(script({1, 1}, "ulimit -Sn; ulimit -Hn; grep 'open files' /proc/$PPID/limits"));
  setrlimit(RLIMIT_NOFILE, &before);
  const std::string hard = std::to_string(before.rlim_max);
  const std::vector<std::string> lines = lines_of(outcome.out);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "200"), 2) << outcome.out << outcome.err;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), hard), 2);
  EXPECT_EQ(count(outcome.out, " 200 "), 0U) << outcome.out;
}

}  // namespace

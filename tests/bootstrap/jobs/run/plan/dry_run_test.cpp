#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/run/plan/plan.hpp"

// The output of --dry-run, line by line.
namespace hpcboot::run {
namespace {

Plan a_plan() {
  Plan plan;
  plan.launcher = Launcher::srun;
  plan.launcher_origin = "a Slurm job";
  plan.layout.origin = "SLURM_JOB_NODELIST";
  plan.words = {"srun", "-n", "7", "--", "a b"};
  return plan;
}

std::string table_of(const std::string& text) {
  const std::size_t begin = text.find("hosts ");
  return text.substr(begin, text.find("\n\n", begin) - begin);
}

TEST(DryRun, ShowsEverythingThatWillBeDone) {
  Plan plan = a_plan();
  plan.layout.hosts = {{"n1", 2}, {"n2", 2}, {"n3", 1}, {"n4", 2}};
  plan.set = {{"A", "1 2"}, {"API_KEY", "hush"}};
  plan.unset = {"RANK"};
  plan.exported = {"B"};
  plan.own_session = true;
  plan.stage = "/data";
  plan.notes = {"a note"};
  plan.hostfile = "n1\n";
  EXPECT_EQ(dry_run_text(plan),
            "launcher: srun: a Slurm job\n"
            "layout:   7 ranks on 4 hosts, from SLURM_JOB_NODELIST\n"
            "\n"
            "hosts   ranks  per host  rank numbers\n"
            "n[1-2]      4         2  0-3\n"
            "n3          1         1  4\n"
            "n4          2         2  5-6\n"
            "\n"
            "set:      A='1 2' API_KEY=REDACTED\n"
            "unset:    RANK\n"
            "exported: B\n"
            "session:  its own\n"
            "stage:    /data, to each host's own disk: under $HPCBOOT_STAGE_DIR, $SLURM_TMPDIR, "
            "$TMPDIR or /tmp; {staged} is the copy\n"
            "note:     a note\n"
            "\n"
            "{hostfile}:\n"
            "n1\n"
            "\n"
            "command:\n"
            "env -u RANK A='1 2' API_KEY=REDACTED srun -n 7 -- 'a b'\n");
}

TEST(DryRun, ShowsControlCharactersSoThatTheCommandCanStillBePasted) {
  Plan plan = a_plan();
  plan.layout.hosts = {{"n1", 1}};
  plan.set = {{"A", "1\nset:  B=2"}};
  plan.unset = {"RANK\nset:"};
  plan.words = {"srun", "a\tb", "\xff"};
  EXPECT_THAT(dry_run_text(plan),
              testing::AllOf(testing::HasSubstr("set:      A=$'1\\nset:  B=2'\n"),
                             testing::HasSubstr("unset:    RANK\\nset:\n"),
                             testing::HasSubstr(" srun $'a\\tb' $'\\xff'\n")));
}

TEST(DryRun, OfOneRankLeavesOutWhatThereIsNot) {
  Plan plan = a_plan();
  plan.layout.hosts = {{"n1", 1}};
  plan.exported = {"B"};  // for other hosts, of which there are none
  EXPECT_EQ(dry_run_text(plan),
            "launcher: srun: a Slurm job\n"
            "layout:   1 rank on 1 host, from SLURM_JOB_NODELIST\n"
            "\n"
            "hosts  ranks  per host  rank numbers\n"
            "n1         1         1  0\n"
            "\n"
            "command:\n"
            "srun -n 7 -- 'a b'\n");
}

TEST(DryRun, LongNamesHaveRowsOfTheirOwn) {
  Plan plan = a_plan();
  const std::string long_name = std::string(30, 'a');
  plan.layout.hosts = {{long_name + "-x", 2}, {long_name + "-y", 2}};
  EXPECT_EQ(table_of(dry_run_text(plan)),
            "hosts                             ranks  per host  rank numbers\n" + long_name +
                "-x      2         2  0-1\n" + long_name + "-y      2         2  2-3");
  plan.layout.hosts = {{std::string(45, 'b'), 1}};
  EXPECT_NE(dry_run_text(plan).find("\n" + std::string(41, 'b') + "...      1         1  0\n"),
            std::string::npos);
  plan.layout.hosts = {{std::string(44, 'b'), 1}};
  EXPECT_NE(dry_run_text(plan).find(std::string(44, 'b')), std::string::npos);
}

TEST(DryRun, LongListsGoOnInTheNextLine) {
  Plan plan = a_plan();
  plan.layout.hosts = {{"n1", 1}};
  plan.unset = {std::string(35, 'A'), std::string(34, 'B'), "C"};
  EXPECT_NE(dry_run_text(plan).find("unset:    " + plan.unset[0] + " " + plan.unset[1] +
                                    "\n          C\n"),
            std::string::npos)
      << dry_run_text(plan);
}

}  // namespace
}  // namespace hpcboot::run

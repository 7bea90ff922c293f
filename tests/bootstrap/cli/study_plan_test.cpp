// hpcboot run --study: the runs of a study, and what they show.
#include "cli/study_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/rank_counts.hpp"

namespace hpcboot::tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

TEST(RankCounts, AreOneOrSeveralNumbers) {
  EXPECT_THAT(rank_counts("8"), ElementsAre(8));
  EXPECT_THAT(rank_counts("1,2,4"), ElementsAre(1, 2, 4));
  for (const char* wrong :
       {"", "0", "-1", "1,", ",1", "1,,2", "x", "2x", "1 2", "99999999999999999999"})
    EXPECT_THROW(rank_counts(wrong), options::UsageError) << wrong;
}

TEST(StudyPlan, PlaceholdersAreReplacedByProducts) {
  EXPECT_EQ(scaled_program({"p", "{ranks}", "-n={1000*ranks},{ranks}", "{rank}", "{x*ranks}"}, 4),
            (Words{"p", "4", "-n=4000,4", "{rank}", "{x*ranks}"}));
  EXPECT_EQ(scaled_program({"{{ranks}}", "{2*{3*ranks}", "{1ranks}", "{*ranks}", "{ranks"}, 2),
            (Words{"{2}", "{2*6", "{1ranks}", "{*ranks}", "{ranks"}));
  const std::string digits = "{" + std::string(120'000, '1');
  EXPECT_EQ(scaled_program({digits, digits + "}{ranks}"}, 2), (Words{digits, digits + "}2"}));
  EXPECT_THROW(scaled_program({"{9223372036854775807*ranks}"}, 2), options::UsageError);
  EXPECT_THROW(scaled_program({"{99999999999999999999*ranks}"}, 1), options::UsageError);
}

TEST(StudyPlan, SpeedUpAndEfficiencyAreOfMedians) {
  StudyPlan plan;
  plan.ranks = {1, 2, 4};
  const std::vector<StudyRun> runs{{1, 0, 12}, {1, 0, 8}, {1, 0, 10}, {2, 0, 5},
                                   {2, 1, 99}, {2, 0, 7}, {4, 3, 1}};
  EXPECT_EQ(study_text(plan, runs, {80, false}).str(),
            "ranks  runs  failed  median s  min s  max s  speed-up  efficiency\n"
            "    1     3       0     10.00   8.00  12.00      1.00        100%\n"
            "    2     2       1      6.00   5.00   7.00      1.67         83%\n"
            "    4     0       1         -      -      -         -           -\n");
  // With as much work for each rank, equal times are the ideal.
  plan.scaling = Scaling::weak;
  EXPECT_THAT(study_text(plan, {{2, 0, 10}, {4, 0, 12.5}}, {80, false}).str(),
              HasSubstr("    4     1       0     12.50  12.50  12.50      1.60         80%\n"));
}

}  // namespace
}  // namespace hpcboot::tool

#include "jobs/run/job/attempts.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "support/temporary_folder.hpp"

namespace hpcboot::run {
namespace {

Env home_of(const std::string& folder, const std::string& cluster = "") {
  return Env(std::map<std::string, std::string>{{"HOME", folder}, {"SLURM_CLUSTER_NAME", cluster}});
}

class AttemptsTest : public testing::Test {
 protected:
  test::TemporaryFolder home_;
  std::string folder_ = home_.path().string();
};

TEST_F(AttemptsTest, AreRememberedForEachJobAndForgotten) {
  const Attempts attempts(home_of(folder_));
  EXPECT_EQ(attempts.in_vain("12"), 0);
  EXPECT_TRUE(attempts.remember("12", 2));
  EXPECT_TRUE(attempts.remember("12_3", 1));
  EXPECT_EQ(Attempts(home_of(folder_)).in_vain("12"), 2);
  EXPECT_EQ(attempts.in_vain("12_3"), 1);
  attempts.forget("12");
  EXPECT_EQ(attempts.in_vain("12"), 0);
  EXPECT_EQ(attempts.in_vain("12_3"), 1);
}

TEST_F(AttemptsTest, OfClustersThatShareAHomeAreApart) {
  EXPECT_TRUE(Attempts(home_of(folder_, "one")).remember("12", 2));
  EXPECT_EQ(Attempts(home_of(folder_, "two")).in_vain("12"), 0);
  EXPECT_EQ(Attempts(home_of(folder_, "one")).in_vain("12"), 2);
}

TEST_F(AttemptsTest, StayInTheirFolderWhateverTheJobIsCalled) {
  const Attempts attempts(home_of(folder_));
  EXPECT_TRUE(attempts.remember("../../../12[3].server", 1));
  EXPECT_EQ(attempts.in_vain("../../../12[3].server"), 1);
  const std::string jobs = folder_ + "/.local/state/hpcboot/jobs";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(jobs), {}), 1);
}

TEST_F(AttemptsTest, AreOfThisUserAlone) {
  EXPECT_TRUE(Attempts(home_of(folder_)).remember("12", 1));
  struct stat status {};
  ASSERT_EQ(stat((folder_ + "/.local/state/hpcboot/jobs").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
}

TEST_F(AttemptsTest, AreNoneIfTheFileHoldsSomethingElse) {
  const Attempts attempts(home_of(folder_));
  EXPECT_TRUE(attempts.remember("12", 1));
  for (const auto& entry :
       std::filesystem::directory_iterator(folder_ + "/.local/state/hpcboot/jobs"))
    std::ofstream(entry.path()) << "-5 many";
  EXPECT_EQ(attempts.in_vain("12"), 0);
}

TEST_F(AttemptsTest, CannotBeRememberedWithoutAFolder) {
  EXPECT_FALSE(Attempts(Env()).remember("12", 1));
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_FALSE(Attempts(home_of(folder_ + "/file")).remember("12", 1));
}

}  // namespace
}  // namespace hpcboot::run

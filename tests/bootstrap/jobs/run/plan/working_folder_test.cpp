#include "jobs/run/plan/working_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "hpcboot/error.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::run {
namespace {

namespace fs = std::filesystem;

class WorkingFolder : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(real_);
    fs::create_directory_symlink(real_, link_);
    fs::current_path(real_);
  }
  void TearDown() override { fs::current_path(before_); }

  static Env with(const std::string& pwd) { return Env({{"PWD", pwd}}); }

  const fs::path before_ = fs::current_path();
  test::TemporaryFolder folder_;
  const fs::path real_ = fs::canonical(folder_.path()) / "real";
  const fs::path link_ = fs::canonical(folder_.path()) / "link";
};

TEST_F(WorkingFolder, HasTheNameThatTheShellHasForIt) {
  EXPECT_EQ(working_folder(with(link_.string())), link_.string());
  EXPECT_EQ(working_folder(with(real_.string())), real_.string());
}

TEST_F(WorkingFolder, IsNotThatOfAnotherProgram) {
  for (const char* pwd : {"/", "/no/such/folder", "../link", "."})
    EXPECT_EQ(working_folder(with(pwd)), real_.string()) << pwd;
  EXPECT_EQ(working_folder(Env()), real_.string());
}

TEST_F(WorkingFolder, MakesPathsAbsolute) {
  EXPECT_EQ(absolute_path(with(link_.string()), "logs/new"), (link_ / "logs/new").string());
  EXPECT_EQ(absolute_path(with(link_.string()), "/logs"), "/logs");
}

TEST_F(WorkingFolder, MayBeGone) {
  fs::remove(real_);
  test::expect_error(
      ErrorCode::unreadable_file, [&] { working_folder(with(link_.string())); },
      "the working folder", "cd to an existing folder");
  EXPECT_EQ(absolute_path(with(link_.string()), "/logs"), "/logs");
}

}  // namespace
}  // namespace hpcboot::run

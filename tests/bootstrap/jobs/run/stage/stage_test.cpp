#include "jobs/run/stage/stage.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "jobs/run/ranks/event_loop.hpp"
#include "jobs/run/stage/file_tree.hpp"
#include "jobs/run/stage/stage_folder.hpp"
#include "support/expect_error.hpp"
#include "support/pretended_file_system.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using hpcboot::Env;
using hpcboot::ErrorCode;
using hpcboot::run::Stage;
using hpcboot::run::Staged;
using hpcboot::test::expect_error;
using hpcboot::test::read_text;
using hpcboot::test::TemporaryFolder;
using hpcboot::test::write_text;

const std::function<void()> kGoOn = [] {};

Staged await_result(Stage& stage) {
  while (true) {
    if (auto staged = stage.result()) return *staged;
    hpcboot::run::PollSet set;
    set.add(stage.fd(), POLLIN);
    set.wait(hpcboot::run::Clock::now() + std::chrono::seconds(60));
  }
}

bool is_link(const fs::path& path) {
  return fs::is_symlink(fs::symlink_status(path));
}

class FileTreeTest : public testing::Test {
 protected:
  void copy() {
    const auto tree = hpcboot::run::read_tree(root_, kGoOn);
    bytes_ = tree.bytes;
    hpcboot::run::copy_tree(tree, root_, to_, kGoOn);
  }

  TemporaryFolder folder_;
  std::string root_ = (folder_.path() / "data").string();
  std::string to_ = (folder_.path() / "copy").string();
  std::uint64_t bytes_ = 0;
};

TEST_F(FileTreeTest, KeepsContentAndWhatMayBeExecuted) {
  write_text(root_ + "/a", "one");
  write_text(root_ + "/sub/run", "two");
  fs::create_directory(root_ + "/empty");
  chmod((root_ + "/sub/run").c_str(), 0555);
  chmod((root_ + "/sub").c_str(), 0555);
  copy();
  EXPECT_EQ(bytes_, 6U);
  EXPECT_EQ(read_text(to_ + "/a"), "one");
  EXPECT_EQ(read_text(to_ + "/sub/run"), "two");
  EXPECT_TRUE(fs::is_directory(to_ + "/empty"));
  struct stat status {};
  ASSERT_EQ(stat((to_ + "/sub/run").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0700U, 0700U);
  EXPECT_GT(fs::remove_all(to_), 0U);  // although the original is not writable
}

TEST_F(FileTreeTest, KeepsLinksThatStayInsideAndFollowsTheOthers) {
  write_text(folder_.path() / "elsewhere/c", "outside");
  write_text(root_ + "/blobs/1", "inside");
  fs::create_directory(root_ + "/snapshot");
  fs::create_symlink("../blobs/1", root_ + "/snapshot/a");
  fs::create_symlink("../../elsewhere/c", root_ + "/snapshot/b");
  fs::create_symlink(root_ + "/blobs/1", root_ + "/snapshot/absolute");
  fs::create_symlink("../elsewhere", root_ + "/folder");
  fs::create_symlink("folder/../elsewhere/c", root_ + "/crooked");  // of the link's target
  copy();
  EXPECT_TRUE(is_link(to_ + "/snapshot/a"));
  EXPECT_EQ(read_text(to_ + "/snapshot/a"), "inside");
  EXPECT_FALSE(is_link(to_ + "/snapshot/b"));
  EXPECT_EQ(read_text(to_ + "/snapshot/b"), "outside");
  EXPECT_FALSE(is_link(to_ + "/snapshot/absolute"));
  EXPECT_FALSE(is_link(to_ + "/folder"));
  EXPECT_EQ(read_text(to_ + "/folder/c"), "outside");
  EXPECT_FALSE(is_link(to_ + "/crooked"));
  EXPECT_EQ(read_text(to_ + "/crooked"), "outside");
}

TEST_F(FileTreeTest, KeepsLinksToFoldersHoweverTheyAreWritten) {
  write_text(root_ + "/v1/lib/a", "one");
  const std::vector<std::pair<std::string, std::string>> links = {
      {"latest", "v1/"},   {"self", "."},         {"v1/self", "./"},    {"v1/above", ".."},
      {"v1/root", "../."}, {"v1/lib64", "lib//"}, {"v1/lib/up", "../"}, {"far", "v1/./lib/"}};
  for (const auto& [name, target] : links) fs::create_directory_symlink(target, root_ + "/" + name);
  copy();
  EXPECT_EQ(bytes_, 3U);
  for (const auto& [name, target] : links)
    EXPECT_EQ(fs::read_symlink(to_ + "/" + name).string(), target) << name;
  EXPECT_EQ(read_text(to_ + "/latest/self/lib/up/above/far/a"), "one");
}

TEST_F(FileTreeTest, RefusesWhatHasNoEndOrIsNoFile) {
  write_text(root_ + "/sub/a", "one");
  fs::create_symlink(root_, root_ + "/sub/above");
  expect_error(
      ErrorCode::unreadable_file, [&] { copy(); }, "sub/above", "contains it");
  fs::remove(root_ + "/sub/above");
  mkfifo((root_ + "/sub/pipe").c_str(), 0600);
  expect_error(
      ErrorCode::unreadable_file, [&] { copy(); }, "sub/pipe");
  fs::remove(root_ + "/sub/pipe");
  fs::create_symlink("nowhere", root_ + "/sub/dead");
  expect_error(
      ErrorCode::unreadable_file, [&] { copy(); }, "sub/dead", "No such file");
}

TEST_F(FileTreeTest, RefusesMoreEntriesThanItsLimit) {
  // The root, the folders 0 to 3, and what two links in each of 0 to 2 lead to.
  for (int i = 0; i < 4; ++i) fs::create_directories(root_ + "/" + std::to_string(i));
  for (int i = 0; i < 3; ++i) {
    const std::string folder = root_ + "/" + std::to_string(i);
    const std::string next = root_ + "/" + std::to_string(i + 1);
    for (const char* name : {"/a", "/b"}) fs::create_directory_symlink(next, folder + name);
  }
  constexpr std::size_t kEntries = 1 + 15 + 7 + 3 + 1;
  EXPECT_EQ(hpcboot::run::read_tree(root_, kGoOn, kEntries).entries.size(), kEntries);
  expect_error(
      ErrorCode::unreadable_file, [&] { hpcboot::run::read_tree(root_, kGoOn, kEntries - 1); },
      "more than 26 files");
}

TEST_F(FileTreeTest, OverwritesNothing) {
  write_text(root_, "one");
  write_text(to_, "another");
  expect_error(
      ErrorCode::unwritable_output, [&] { copy(); }, to_, "File exists");
  EXPECT_EQ(read_text(to_), "another");
}

class StageTest : public testing::Test {
 protected:
  StageTest() { write_text(folder_.path() / "data/a", "one"); }

  std::unique_ptr<Stage> stage(const std::string& id = "0123abcd") {
    return std::make_unique<Stage>((folder_.path() / "data").string(), env_, id);
  }

  fs::path own_folder(const std::string& id = "0123abcd") const {
    return hpcboot::run::stage_folder(base_.path().string(), id);
  }

  TemporaryFolder folder_;
  TemporaryFolder base_;
  Env env_{{{"TMPDIR", base_.path().string()}}};
};

TEST_F(StageTest, CopiesOnceForAllAndGoesWithTheLast) {
  auto first = stage();
  const Staged staged = await_result(*first);
  EXPECT_EQ(first->fd(), -1) << "there is nothing more to wait for";
  EXPECT_EQ(staged.path, (own_folder() / "data/data").string());
  EXPECT_NE(staged.note.find("3 bytes staged to " + own_folder().string()), std::string::npos);
  EXPECT_EQ(read_text(staged.path + "/a"), "one");
  struct stat status {};
  ASSERT_EQ(stat(own_folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  write_text(folder_.path() / "data/a", "two");
  auto second = stage();
  const Staged again = await_result(*second);
  EXPECT_EQ(again.path, staged.path);
  EXPECT_EQ(again.note, "");
  first.reset();
  EXPECT_EQ(read_text(staged.path + "/a"), "one");
  second.reset();
  EXPECT_FALSE(fs::exists(own_folder()));
}

TEST_F(StageTest, OneOfThoseWhoLeaveAtOnceWaitsForTheRemoval) {
  for (int round = 0; round < 100; ++round) {
    std::vector<std::unique_ptr<Stage>> stages;
    for (int i = 0; i < 8; ++i) stages.push_back(stage());
    for (auto& one : stages) await_result(*one);
    std::vector<std::thread> leaving;
    for (auto& one : stages) leaving.emplace_back([&one] { one.reset(); });
    for (std::thread& thread : leaving) thread.join();
    ASSERT_FALSE(fs::exists(own_folder())) << round;
  }
}

// A line of a file in /proc; empty if the process has gone.
std::string line_of(const fs::path& file, const std::string& start = "") {
  std::ifstream lines(file);
  std::string line;
  while (std::getline(lines, line) && line.rfind(start, 0) != 0) {
  }
  return line;
}

// The keepers that have opened this file. This process may have opened it, too.
std::vector<int> keepers_with(const fs::path& file) {
  std::vector<int> keepers;
  std::error_code none;
  for (const fs::path& process : fs::directory_iterator("/proc")) {
    if (line_of(process / "comm") != hpcboot::run::kStageKeeper) continue;
    for (const fs::path& fd : fs::directory_iterator(process / "fd", none)) {
      if (fs::read_symlink(fd, none) != file) continue;
      keepers.push_back(std::stoi(process.filename()));
      break;
    }
  }
  return keepers;
}

// While another one copies, it must not take the ranks' time.
TEST_F(StageTest, AKeeperSleepsUntilItIsItsTurn) {
  std::optional<hpcboot::run::LockFile> used(hpcboot::run::use_stage_folder(own_folder().string()));
  std::optional<hpcboot::run::LockFile> other(own_folder() / "keeper");
  ASSERT_TRUE(other->try_alone());
  auto waiting = stage();
  used.reset();
  const auto until = hpcboot::run::Clock::now() + std::chrono::seconds(10);
  const std::string sleeping = "State:\tS (sleeping)";
  std::string state;
  while (state != sleeping && hpcboot::run::Clock::now() < until) {
    usleep(10000);
    for (const int keeper : keepers_with(own_folder() / "keeper"))
      state = line_of("/proc/" + std::to_string(keeper) + "/status", "State:");
  }
  EXPECT_EQ(state, sleeping);
  EXPECT_FALSE(waiting->result());
  other.reset();
  EXPECT_EQ(read_text(await_result(*waiting).path + "/a"), "one");
}

TEST_F(StageTest, OnlyTheKeeperThatHasCopiedStays) {
  const auto first = stage();
  await_result(*first);
  const auto second = stage();
  await_result(*second);
  const auto until = hpcboot::run::Clock::now() + std::chrono::seconds(10);
  const auto keepers = [&] { return keepers_with(own_folder() / "keeper").size(); };
  while (keepers() > 1 && hpcboot::run::Clock::now() < until) usleep(10000);
  EXPECT_EQ(keepers(), 1U);
}

// A process that ignores this signal learns no exit code of its children.
TEST_F(StageTest, CopiesAlsoWhereTheEndOfChildrenIsIgnored) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_NO_THROW(await_result(*stage()));
  std::signal(SIGCHLD, before);
}

TEST_F(StageTest, PathsMayHaveAnyCharacters) {
  const fs::path base = base_.path() / "two\nlines, \"a\" 'b'";
  write_text(folder_.path() / "-x\ny/a", "odd");
  fs::create_directory(base);
  Stage stage((folder_.path() / "-x\ny").string(), Env({{"TMPDIR", base.string()}}), "77");
  EXPECT_EQ(read_text(fs::path(await_result(stage).path) / "a"), "odd");
}

TEST_F(StageTest, WhatAKilledKeeperHasCopiedIsInNobodysWay) {
  write_text(own_folder() / "part/data/a", "on");
  chmod(own_folder().c_str(), 0700);
  auto next = stage();
  EXPECT_EQ(read_text(await_result(*next).path + "/a"), "one");
}

TEST_F(StageTest, OtherRunsHaveOtherFolders) {
  auto first = stage();
  auto second = stage("4567");
  EXPECT_NE(await_result(*first).path, await_result(*second).path);
  second.reset();
  EXPECT_TRUE(fs::exists(own_folder() / "data/data/a"));
  EXPECT_FALSE(fs::exists(own_folder("4567")));
}

TEST_F(StageTest, NothingIsLeftOfAFailure) {
  fs::remove_all(folder_.path() / "data");
  auto failing = stage();
  expect_error(
      ErrorCode::unreadable_file, [&] { await_result(*failing); }, "data cannot be staged",
      "No such file");
  failing.reset();
  EXPECT_TRUE(fs::is_empty(base_.path()));
}

TEST_F(StageTest, FollowsNoLinkAndTakesNoFolderThatOthersMayEnter) {
  const fs::path elsewhere = base_.path() / "elsewhere";
  fs::create_directory(elsewhere);
  fs::create_symlink(elsewhere, own_folder());
  expect_error(
      ErrorCode::unwritable_output, [&] { stage(); }, "it is a symbolic link");
  fs::remove(own_folder());
  fs::create_directory(own_folder());
  chmod(own_folder().c_str(), 0755);
  expect_error(
      ErrorCode::unwritable_output, [&] { stage(); }, "other users have access to it");
  chmod(own_folder().c_str(), 0700);
  fs::create_symlink(elsewhere / "made", own_folder() / "users");
  expect_error(
      ErrorCode::unwritable_output, [&] { stage(); }, "users");
  EXPECT_TRUE(fs::is_empty(elsewhere));
  expect_error(
      ErrorCode::malformed_value, [&] { stage("../x"); }, "HPCBOOT_RUN_ID='../x'");
}

TEST_F(StageTest, AFolderOfAnotherUserIsNotTaken) {
  if (geteuid() != 0) GTEST_SKIP() << "needs a folder of another user";
  fs::create_directory(own_folder());
  chmod(own_folder().c_str(), 0700);
  ASSERT_EQ(chown(own_folder().c_str(), 65534, 65534), 0);
  expect_error(
      ErrorCode::unwritable_output, [&] { stage(); }, "it belongs to another user");
}

TEST_F(StageTest, RemovesWhatEarlierRunsLeftAndNothingElse) {
  for (const char* id : {"11", "22"}) {
    write_text(own_folder(id) / "data/data/a", "old");
    write_text(own_folder(id) / "users", "");
  }
  const auto used = hpcboot::run::use_stage_folder(own_folder("33").string());
  auto in_use = hpcboot::run::LockFile(own_folder("22").string() + "/users");
  ASSERT_TRUE(in_use.try_shared());
  const std::string of_another_host = own_folder("44").string() + "-other";
  write_text(of_another_host + "/data/a", "old");
  await_result(*stage());
  EXPECT_FALSE(fs::exists(own_folder("11")));
  EXPECT_TRUE(fs::exists(own_folder("22") / "data/data/a"));
  EXPECT_TRUE(fs::exists(own_folder("33")));
  EXPECT_TRUE(fs::exists(of_another_host));
}

TEST(StageBaseTest, IsTheFirstFolderThatCanBeWrittenTo) {
  const TemporaryFolder one;
  const TemporaryFolder two;
  const auto base = [](const std::string& slurm, const std::string& tmpdir) {
    return hpcboot::run::stage_base(Env({{"SLURM_TMPDIR", slurm}, {"TMPDIR", tmpdir}}));
  };
  EXPECT_EQ(base(one.path().string(), two.path().string()), one.path().string());
  EXPECT_EQ(base(one.path().string() + "/none", two.path().string()), two.path().string());
  EXPECT_EQ(base("", "relative"), "/tmp");
}

TEST(StageBaseTest, IsOnNoFileSystemThatOtherHostsSee) {
  const TemporaryFolder folder;
  const Env env({{"HPCBOOT_STAGE_DIR", folder.path().string()}, {"TMPDIR", "/nonexistent"}});
  for (const std::uint32_t type : {0xef53U, 0x65735546U, 0x12345678U}) {  // ext, FUSE, unknown
    const hpcboot::test::PretendedFileSystem pretended(type);
    EXPECT_EQ(hpcboot::run::stage_base(env), folder.path().string()) << type;
  }
  for (const std::uint32_t type : {0x6969U, 0x18031977U, 0x6b414653U}) {  // NFS, Weka, AFS
    const hpcboot::test::PretendedFileSystem pretended(type);
    expect_error(
        ErrorCode::unwritable_output, [&] { hpcboot::run::stage_base(env); },
        "no usable folder on this host's own disk");
  }
}

TEST(StageFolderTest, IsNamedByAWordAndNothingElse) {
  using hpcboot::run::stage_folder;
  for (const std::string word : {"azAZ09", "0", "z"})
    EXPECT_NE(stage_folder("/base", word).find(word), std::string::npos) << word;
  EXPECT_EQ(stage_folder("/base", "x").rfind("/base/", 0), 0U);
  EXPECT_NE(stage_folder("/base", "x"), stage_folder("/base", "y"));
  for (const char* other :
       {"", "..", "a/b", "a b", "a-b", "a_b", "[", "`", "{", "@", ":", "\xc3\xa4"})
    EXPECT_THROW(stage_folder("/base", other), hpcboot::Error) << other;
}

TEST(StagedWordsTest, EachOneIsReplaced) {
  EXPECT_THAT(hpcboot::run::with_staged({"p", "{staged}", "--d={staged}/a:{staged}", "{stage}"},
                                        "/x/{staged}"),
              testing::ElementsAre("p", "/x/{staged}", "--d=/x/{staged}/a:/x/{staged}", "{stage}"));
}

}  // namespace

#include "jobs/run/ranks/rank_log.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::run {
namespace {

namespace fs = std::filesystem;

class RankLogs : public testing::Test {
 protected:
  fs::path file() const { return folder_.path() / "logs" / "rank_0007.out"; }

  void expect_refused(const std::string& found) const {
    test::expect_error(
        ErrorCode::unwritable_output,
        [&] { RankLog((folder_.path() / "logs").string(), 7, "out"); },
        file().string() + ": " + found);
  }

  test::TemporaryFolder folder_;
};

TEST_F(RankLogs, AreFilesOfTheRanksNumber) {
  const std::string folder = folder_.path() / "a" / "b";
  RankLog log(folder, 7, "out");
  EXPECT_EQ(log.write("one\n"), "");
  EXPECT_EQ(log.write(""), "");
  EXPECT_EQ(log.write("two\n"), "");
  EXPECT_EQ(test::read_text(folder + "/rank_0007.out"), "one\ntwo\n");
  const RankLog large(folder, 123456, "err");
  EXPECT_TRUE(fs::exists(folder + "/rank_123456.err"));
}

TEST_F(RankLogs, AnOldOneIsEmptied) {
  fs::create_directories(file().parent_path());
  test::write_text(file(), "of an earlier run");
  RankLog((folder_.path() / "logs").string(), 7, "out").write("new");
  EXPECT_EQ(test::read_text(file()), "new");
}

// Other users may be able to write to the folder: output is not redirected, and nothing blocks.
TEST_F(RankLogs, WhatIsNoRegularFileIsRefused) {
  fs::create_directories(file().parent_path());
  const auto target = folder_.path() / "target";
  test::write_text(target, "mine");
  fs::create_symlink(target, file());
  expect_refused("it is a symbolic link");
  EXPECT_EQ(test::read_text(target), "mine");
  fs::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  expect_refused("it is a named pipe");
  fs::remove(file());
  fs::create_directory(file());
  expect_refused("it is a folder");
  fs::remove(file());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = file();
  ASSERT_LT(name.size(), sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  expect_refused("it is a socket");
  ::close(socket);
}

TEST_F(RankLogs, AnothersFileIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change a file's owner";
  fs::create_directories(file().parent_path());
  test::write_text(file(), "another's");
  ASSERT_EQ(::chown(file().c_str(), 12345, 12345), 0);
  expect_refused("it is another user's file");
  EXPECT_EQ(test::read_text(file()), "another's");
}

TEST_F(RankLogs, AFolderThatCannotBeMadeIsAnError) {
  test::expect_error(
      ErrorCode::unwritable_output, [] { RankLog("/proc/nothing", 0, "out"); }, "rank_0000.out: ");
}

}  // namespace
}  // namespace hpcboot::run

#include "jobs/queue/job_log.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temporary_folder.hpp"

namespace hpcboot::queue {
namespace {

using test::TemporaryFolder;

TEST(JobLog, TellsWhatIsNew) {
  const TemporaryFolder folder;
  const auto a = folder.path() / "a";
  const auto b = folder.path() / "b";
  JobLog log({a.string()});
  EXPECT_FALSE(log.is_there());
  EXPECT_EQ(log.read(), "");
  test::write_text(a, "1\n2");
  EXPECT_EQ(log.read(), "1\n2");
  EXPECT_TRUE(log.is_there());
  EXPECT_EQ(log.read(), "");
  std::ofstream(a, std::ios::app) << "\n3\n";
  EXPECT_EQ(log.read(), "\n3\n");
  test::write_text(b, "other\n");
  log.add({a.string(), b.string()});
  EXPECT_EQ(log.read(), "==> " + b.string() + " <==\nother\n");
  std::ofstream(a, std::ios::app) << "4\n";
  EXPECT_EQ(log.read(), "==> " + a.string() + " <==\n4\n");
}

TEST(JobLog, FollowsAFileThatBeginsAnew) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a";
  test::write_text(file, "the first attempt\n");
  JobLog log({file.string()});
  EXPECT_EQ(log.read(), "the first attempt\n");
  test::write_text(file, "second\n");  // shorter
  EXPECT_EQ(log.read(), "second\n");
  std::filesystem::remove(file);
  EXPECT_EQ(log.read(), "");
  test::write_text(file, "third, of another file\n");
  EXPECT_EQ(log.read(), "third, of another file\n");
}

TEST(JobLog, TakesFilesInTurnsAndBeginsALineForEach) {
  const TemporaryFolder folder;
  const auto a = folder.path() / "a";
  const auto b = folder.path() / "b";
  test::write_text(a, std::string(100'000, 'x'));
  test::write_text(b, "err\n");
  JobLog log({a.string(), b.string()});
  EXPECT_EQ(log.read().size(), 65536U);
  EXPECT_EQ(log.read(), "\n==> " + b.string() + " <==\nerr\n");
  EXPECT_EQ(log.read().substr(0, 5), "==> /");
}

TEST(JobLog, SkipsToTheLastLines) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a";
  const auto last = [&](const std::string& text, std::size_t lines) {
    test::write_text(file, text);
    JobLog log({file.string()});
    log.skip_to_last(lines);
    return log.read();
  };
  EXPECT_EQ(last("1\n2\n3\n", 2), "2\n3\n");
  EXPECT_EQ(last("1\n2\n3", 2), "2\n3");
  EXPECT_EQ(last("1\n2\n3\n", 3), "1\n2\n3\n");
  EXPECT_EQ(last("1\n2\n3\n", 9), "1\n2\n3\n");
  EXPECT_EQ(last("1\n\n\n", 2), "\n\n");
  EXPECT_EQ(last("1\n2\n", 0), "");
  EXPECT_EQ(last("\n", 1), "\n");
  EXPECT_EQ(last("", 1), "");
  EXPECT_EQ(last(std::string(3U << 20U, 'x') + "\nend\n", 1), "end\n");
  // However far back: a line of 3 MiB, and one whose newline ends a part of the search.
  EXPECT_EQ(last("first\n" + std::string(3U << 20U, 'x') + "\nend\n", 2).substr(0, 4), "xxxx");
  EXPECT_EQ(last("first\nsecond\n" + std::string(3U << 20U, 'x') + "\n", 2).substr(0, 8),
            "second\nx");
  EXPECT_EQ(last("0\n1\n" + std::string(65535, 'x') + "\n", 2).substr(0, 4), "1\nxx");
}

TEST(JobLog, ReadsNoDeviceAndNoFifo) {
  const TemporaryFolder folder;
  const auto fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  JobLog log({fifo.string(), "/dev/zero", folder.path().string()});
  EXPECT_FALSE(log.is_there());
  EXPECT_EQ(log.read(), "");
}

}  // namespace
}  // namespace hpcboot::queue

#include "jobs/run/ranks/out_stream.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>

#include "support/temporary_folder.hpp"

namespace hpcboot::run {
namespace {

// What arrives at the other end, until the stream has nothing left.
std::string drained(OutStream& stream, int end) {
  std::string all;
  std::string piece(std::size_t{1} << 16U, '\0');
  for (int turn = 0; turn < 10000; ++turn) {
    stream.flush();
    const bool is_last = stream.unwritten() == 0;
    const ssize_t size = recv(end, piece.data(), piece.size(), MSG_DONTWAIT);
    const ssize_t count =
        size < 0 && errno == ENOTSOCK ? read(end, piece.data(), piece.size()) : size;
    if (count > 0) all.append(piece, 0, static_cast<std::size_t>(count));
    if (is_last && count < static_cast<ssize_t>(piece.size())) return all;
  }
  return all;
}

// The output is not read for now: flush() returns, and nothing is lost.
void expect_whole_at(int in, int out) {
  std::string text;
  for (int i = 0; text.size() < std::size_t{3} << 20U; ++i) text += std::to_string(i) + "\n";
  OutStream stream(in);
  EXPECT_FALSE(stream.is_terminal());
  stream.add(text.substr(0, 100));
  stream.flush();
  EXPECT_EQ(stream.unwritten(), 0U);
  stream.add(text.substr(100));
  stream.flush();
  EXPECT_GT(stream.unwritten(), 0U);
  EXPECT_EQ(stream.error(), 0);
  fcntl(out, F_SETFL, O_NONBLOCK);
  EXPECT_EQ(drained(stream, out), text);
  EXPECT_EQ(stream.error(), 0);
}

TEST(OutStream, WaitsForNobodyAndLosesNothing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  expect_whole_at(ends[1], ends[0]);
  EXPECT_EQ(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0) << "it is shared with other programs";
  close(ends[0]);
  close(ends[1]);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  expect_whole_at(ends[1], ends[0]);
  EXPECT_EQ(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
  close(ends[0]);
  close(ends[1]);
}

TEST(OutStream, WritesAFile) {
  const test::TemporaryFolder folder;
  const std::string file = folder.path() / "f";
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
  {
    OutStream stream(fd);
    stream.add("one\n");
    stream.flush();
    stream.add("two\n");
    stream.flush();
    stream.add("never flushed");
    EXPECT_EQ(stream.unwritten(), 13U);
    stream.discard();
    EXPECT_EQ(stream.unwritten(), 0U);
    stream.add("nor this");
    stream.flush();
    EXPECT_EQ(stream.error(), 0);
  }
  EXPECT_EQ(fcntl(fd, F_GETFD), 0) << "it belongs to the caller";
  close(fd);
  EXPECT_EQ(test::read_text(file), "one\ntwo\n");
}

TEST(OutStream, ThatNobodyReadsHasAnError) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  OutStream stream(ends[1]);
  close(ends[0]);
  stream.add("x");
  stream.flush();
  EXPECT_EQ(stream.error(), EPIPE);
  EXPECT_EQ(stream.unwritten(), 0U);
  stream.add("y");
  EXPECT_EQ(stream.unwritten(), 0U);
  close(ends[1]);
  OutStream full(open("/dev/full", O_WRONLY));
  full.add("x");
  full.flush();
  EXPECT_EQ(full.error(), ENOSPC);
}

}  // namespace
}  // namespace hpcboot::run

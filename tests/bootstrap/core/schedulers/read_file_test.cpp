#include "core/schedulers/read_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

// Files that an environment names: only regular ones are read, so that nothing hangs.
namespace hpcboot {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ReadFile : public testing::Test {
 protected:
  std::string make_fifo() const {
    const std::string path = (folder_.path() / "fifo").string();
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    return path;
  }

  test::TemporaryFolder folder_;
};

TEST_F(ReadFile, TellsWhyThereIsNoText) {
  const std::string empty = (folder_.path() / "empty").string();
  test::write_text(empty, "");
  EXPECT_EQ(read_whole(empty, FileKind::regular).text, "");
  EXPECT_EQ(read_whole(folder_.path() / "none", FileKind::regular).reason,
            "No such file or directory");
  const std::string not_regular = "it is not a regular file";
  EXPECT_EQ(read_whole(make_fifo(), FileKind::regular).reason, not_regular);
  EXPECT_EQ(read_whole("/dev/zero", FileKind::regular).reason, not_regular);
  EXPECT_EQ(read_whole(folder_.path(), FileKind::regular).reason, not_regular);
  EXPECT_EQ(read_whole(folder_.path(), FileKind::any).reason, "Is a directory");
}

TEST_F(ReadFile, LimitsTheSize) {
  const std::string path = (folder_.path() / "large").string();
  test::write_text(path, "");
  ASSERT_EQ(truncate(path.c_str(), (off_t{128} << 20) + 1), 0);
  EXPECT_EQ(read_whole(path, FileKind::regular).reason, "it is larger than 128 MiB");
  EXPECT_EQ(read_whole("/dev/zero", FileKind::any).reason, "it is larger than 128 MiB");
}

TEST_F(ReadFile, ANodefileThatIsAFifoIsLikeOneThatIsMissing) {
  const std::pair<const char*, const char*> schedulers[] = {
      {"PBS_JOBID=7.server\nPBS_ENVIRONMENT=PBS_BATCH\n", "PBS_NODEFILE"},
      {"JOB_ID=7\nSGE_TASK_ID=undefined\n", "PE_HOSTFILE"},
      {"LSB_JOBID=7\n", "LSB_DJOB_HOSTFILE"},
      {"COBALT_JOBID=7\n", "COBALT_NODEFILE"},
  };
  const std::string fifo = make_fifo();
  for (const auto& [job, variable] : schedulers) {
    const std::string dump = std::string(job) + variable + "=" + fifo + "\n";
    test::expect_error(
        ErrorCode::unreadable_file, [&] { resolve(Env::parse(dump), Facts{}); },
        fifo + " cannot be read: it is not a regular file");
    // If a launcher placed the process, the file is not the only source.
    const Resolution r =
        resolve(Env::parse(dump + "OMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=4\n"
                                  "OMPI_COMM_WORLD_LOCAL_RANK=1\nOMPI_COMM_WORLD_LOCAL_SIZE=2\n"),
                Facts{});
    EXPECT_EQ(r.placement.rank, 1) << variable;
    EXPECT_THAT(r.hosts, IsEmpty());
  }
}

TEST_F(ReadFile, ATableOfPalsThatIsAFifoIsNotWaitedFor) {
  const Env env = Env::parse("PALS_APINFO=" + make_fifo() + "\n");
  EXPECT_EQ(Facts::of_this_process(env).apinfo, std::nullopt);
}

TEST_F(ReadFile, AUserMayGiveAPipe) {
  const std::string fifo = make_fifo();
  std::thread writer([&] { test::write_text(fifo, "n1\nn1\nn2\n"); });
  ResolveOptions options;
  options.allocation.nodefile = fifo;
  const Resolution r = resolve(Env(), Facts{}, options);
  writer.join();
  EXPECT_THAT(r.hosts, ElementsAre("n1", "n2"));
}

}  // namespace
}  // namespace hpcboot

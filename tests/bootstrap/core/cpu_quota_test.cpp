#include "core/cpu_quota.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/grouping_locale.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot {
namespace {

namespace fs = std::filesystem;

class CpuQuota : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const fs::path place = folder_.path() / file;
    fs::create_directories(place.parent_path());
    std::ofstream(place) << text << "\n";
  }
  std::optional<int> found() const { return cpus_of_quota(folder_.path()); }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(CpuQuota, IsTheSmallestOfTheGroupsAround) {
  write("proc/self/cgroup", "0::/slurm/job_7/step_0");
  EXPECT_EQ(found(), std::nullopt);
  write("sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "max 100000");
  EXPECT_EQ(found(), std::nullopt);
  write("sys/fs/cgroup/slurm/job_7/cpu.max", "400000 100000");
  EXPECT_EQ(found(), 4);
  write("sys/fs/cgroup/slurm/cpu.max", "250000 100000");
  EXPECT_EQ(found(), 2) << "whole CPUs";
  write("sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "50000 100000");
  EXPECT_EQ(found(), 1) << "at least one";
}

TEST_F(CpuQuota, IsReadWithoutTheLocaleOfTheProgram) {
  write("proc/self/cgroup", "0::/");
  write("sys/fs/cgroup/cpu.max", "300000 100000");
  const test::GroupingLocale with_spaces(' ');
  EXPECT_EQ(found(), 3);
}

TEST_F(CpuQuota, OfAContainerIsThatOfTheMountedRoot) {
  write("proc/self/cgroup", "0::/");
  write("sys/fs/cgroup/cpu.max", "300000 100000");
  EXPECT_EQ(found(), 3);
  // Without a namespace for control groups, the path is that of the host.
  write("proc/self/cgroup", "0::/../../system.slice/docker-3f2a.scope");
  EXPECT_EQ(found(), 3);
}

TEST_F(CpuQuota, IsReadFromVersion1) {
  write("proc/self/cgroup", "11:memory:/docker/3f2a\n4:cpu,cpuacct:/docker/3f2a\n0::/");
  EXPECT_EQ(found(), std::nullopt);
  write("sys/fs/cgroup/cpu,cpuacct/docker/3f2a/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu,cpuacct/docker/3f2a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(found(), std::nullopt);
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "600000");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_EQ(found(), 6);
  write("sys/fs/cgroup/cpu/docker/3f2a/cpu.cfs_quota_us", "500000");
  write("sys/fs/cgroup/cpu/docker/3f2a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(found(), 5) << "the name of a link to the same folder";
}

TEST_F(CpuQuota, DamagedFilesAreNoLimit) {
  EXPECT_EQ(found(), std::nullopt);
  write("proc/self/cgroup", "nonsense\n0:\n0::/a");
  for (const char* text : {"", "max", "-5 100000", "100000 0", "x y", "nan 1", "1e400 1"}) {
    write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(found(), std::nullopt) << text;
  }
  write("sys/fs/cgroup/a/cpu.max", "1e300 1");
  EXPECT_EQ(found(), 1000000);
}

TEST(CpuQuotaOfThisProcess, IsReadWithoutFailure) {
  EXPECT_GE(cpus_of_quota().value_or(1), 1);
}

}  // namespace
}  // namespace hpcboot

#include "core/cpu_topology.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "support/grouping_locale.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot {
namespace {

namespace fs = std::filesystem;
using Cpus = std::vector<int>;

// A machine with Linux's usual numbering: the second threads of all cores follow the first threads.
class CpuTopology : public testing::Test {
 protected:
  void add(int cpu, int node, const std::string& siblings) {
    const fs::path folder = sysfs_.path() / "devices/system/cpu" / ("cpu" + std::to_string(cpu));
    fs::create_directories(folder / "topology");
    fs::create_directories(folder / ("node" + std::to_string(node)));
    std::ofstream(folder / "topology/thread_siblings_list") << siblings << "\n";
  }
  // Two nodes of two cores with two threads each; CPU numbers alternate between nodes.
  void SetUp() override {
    for (int core = 0; core < 4; ++core) {
      const std::string siblings = std::to_string(core) + "," + std::to_string(core + 4);
      add(core, core % 2, siblings);
      add(core + 4, core % 2, siblings);
    }
  }
  std::vector<Core> cores(const Cpus& cpus) const { return cores_of(sysfs_.path().string(), cpus); }
  static Cpus cpus_of(const std::vector<Core>& cores) {
    Cpus all;
    for (const Core& core : cores) all.insert(all.end(), core.cpus.begin(), core.cpus.end());
    return all;
  }

  test::TemporaryFolder sysfs_;
  const Cpus all_ = {0, 1, 2, 3, 4, 5, 6, 7};
};

TEST_F(CpuTopology, PutsThreadsOfACoreAndCoresOfANodeTogether) {
  const std::vector<Core> found = cores(all_);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(cpus_of(found), (Cpus{0, 4, 2, 6, 1, 5, 3, 7}));
  EXPECT_EQ(found[1].numa_node, 0);
  EXPECT_EQ(found[2].numa_node, 1);
}

TEST_F(CpuTopology, IsReadWithoutTheLocaleOfTheProgram) {
  const test::GroupingLocale with_commas(',');
  EXPECT_EQ(cpus_of(cores(all_)), (Cpus{0, 4, 2, 6, 1, 5, 3, 7}));
}

TEST_F(CpuTopology, KnowsACoreByThePartThatIsAskedAbout) {
  const std::vector<Core> found = cores({4, 5, 1});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].cpus, Cpus{4});
  EXPECT_EQ(found[1].cpus, (Cpus{1, 5}));
}

TEST_F(CpuTopology, TakesEachCpuForACoreWhereNothingIsSaid) {
  const std::vector<Core> found = cores_of("/nowhere", {3, 1});
  EXPECT_EQ(cpus_of(found), (Cpus{1, 3}));
  EXPECT_EQ(found.size(), 2U);
}

TEST_F(CpuTopology, SharesOutWholeCores) {
  const std::vector<Core> found = cores(all_);
  EXPECT_EQ(cpus_of(share_of_cores(found, 0, 2)), (Cpus{0, 4, 2, 6}));
  EXPECT_EQ(cpus_of(share_of_cores(found, 1, 2)), (Cpus{1, 5, 3, 7}));
  std::size_t sum = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const auto share = share_of_cores(found, rank, 3);
    EXPECT_GE(share.size(), 1U) << rank;
    sum += share.size();
  }
  EXPECT_EQ(sum, 4U);
}

TEST_F(CpuTopology, SharesOutThreadsIfThereAreTooFewCoresAndNothingIfTheseAreTooFew) {
  const std::vector<Core> found = cores(all_);
  for (int rank = 0; rank < 8; ++rank)
    EXPECT_EQ(cpus_of(share_of_cores(found, rank, 8)).size(), 1U) << rank;
  EXPECT_TRUE(share_of_cores(found, 0, 9).empty());
  EXPECT_TRUE(share_of_cores({}, 0, 1).empty());
}

}  // namespace
}  // namespace hpcboot

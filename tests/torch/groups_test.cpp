// Groups of some of the ranks of a launch.
#include <gmock/gmock.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <numeric>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "hpcboot/torch/mesh.hpp"
#include "torch/thrown.hpp"
#include "torch/world.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

/// The sum of the ranks (in the launch) of this group, found by a collective.
int sum_of_ranks(ProcessGroup& group) {
  return static_cast<int>(
      all_reduce(group, at::full({1}, world->rank(), at::kLong)).wait().item<std::int64_t>());
}

int sum(const std::vector<int>& ranks) {
  return std::accumulate(ranks.begin(), ranks.end(), 0);
}

TEST(Groups, SplitGroupsTheRanksOfAColorInTheOrderOfTheirKeys) {
  const int color = world->rank() % 2;
  ProcessGroup group = world->split(color, -world->rank());
  std::vector<int> members;
  for (int rank = world->world_size() - 1; rank >= 0; --rank) {
    if (rank % 2 == color) members.push_back(rank);
  }
  EXPECT_THAT(group.global_ranks(), ElementsAreArray(members));
  EXPECT_EQ(group.world_size(), static_cast<int>(members.size()));
  EXPECT_EQ(members[static_cast<std::size_t>(group.rank())], world->rank());
  EXPECT_EQ(sum_of_ranks(group), sum(members));
  EXPECT_EQ(sum_of_ranks(*world), world->world_size() * (world->world_size() - 1) / 2);
  group.shutdown();
}

TEST(Groups, SubgroupsAreMadeByTheirMembersOnlyAndMayBeDividedFurther) {
  if (world->world_size() < 4) GTEST_SKIP() << "needs four ranks";
  if (world->rank() != 2) {
    std::optional<ProcessGroup> outer = world->subgroup({3, 0, 1});
    ASSERT_TRUE(outer.has_value());
    EXPECT_THAT(outer->global_ranks(), ElementsAre(3, 0, 1));
    EXPECT_EQ(sum_of_ranks(*outer), 4);
    std::optional<ProcessGroup> inner = outer->subgroup({0, 2});
    EXPECT_EQ(inner.has_value(), world->rank() != 0);
    if (inner) {
      EXPECT_THAT(inner->global_ranks(), ElementsAre(3, 1));
      EXPECT_EQ(sum_of_ranks(*inner), 4);
      inner->shutdown();
    }
    // The same ranks once more are another group.
    std::optional<ProcessGroup> again = world->subgroup({3, 0, 1});
    EXPECT_EQ(sum_of_ranks(*again), 4);
    again->shutdown();
    outer->shutdown();
  } else {
    EXPECT_FALSE(world->subgroup({3, 0, 1}).has_value());
  }
  world->barrier();
}

TEST(Groups, RanksThatDoNotExistAreRefused) {
  for (const std::vector<int>& ranks : {std::vector<int>{}, {0, 0}, {-1}, {world->world_size()}}) {
    EXPECT_EQ(error_of([&] { world->subgroup(ranks); }).code(), ErrorCode::invalid_collective);
  }
}

TEST(Groups, AMeshHasAGroupAlongEachDimension) {
  const int rows = world->world_size() >= 2 ? 2 : 1;
  const int columns = world->world_size() / rows;
  Mesh mesh(*world, {{"row", rows}, {"column", columns}});
  EXPECT_EQ(mesh.size("row"), rows);
  EXPECT_EQ(mesh.coordinate("row"), world->rank() / columns);
  EXPECT_EQ(mesh.coordinate("column"), world->rank() % columns);
  std::vector<int> along;
  for (int i = 0; i < columns; ++i) along.push_back(mesh.coordinate("row") * columns + i);
  EXPECT_THAT(mesh.group("column").global_ranks(), ElementsAreArray(along));
  EXPECT_EQ(sum_of_ranks(mesh.group("column")), sum(along));
  EXPECT_THAT(error_of([&] { mesh.group("depth"); }).expected(), HasSubstr("row, column"));
  mesh.shutdown();
  EXPECT_EQ(error_of([&] {
              Mesh(*world, {{"row", world->world_size() + 1}});
            }).code(),
            ErrorCode::invalid_collective);
  EXPECT_EQ(error_of([&] {
              Mesh(*world, {{"a", world->world_size()}, {"a", 1}});
            }).code(),
            ErrorCode::invalid_collective);
}

TEST(Groups, EachGroupTrainsItsOwnModel) {
  ProcessGroup group = world->split(world->rank() % 2);
  DistributedDataParallel ddp(torch::nn::Linear(1, 1), group);
  ddp.forward(at::full({1, 1}, static_cast<double>(world->rank()))).sum().backward();
  const double mean =
      static_cast<double>(sum(group.global_ranks())) / static_cast<double>(group.world_size());
  EXPECT_NEAR(ddp.module()->weight.grad().item<double>(), mean, 1e-6);
  group.shutdown();
}

TEST(Groups, AnAdoptedGroupTrainsAndCanBeDividedIfItHasAStore) {
  ProcessGroup adopted = adopt_process_group(world->c10d_group());
  EXPECT_EQ(adopted.rank(), world->rank());
  EXPECT_EQ(sum_of_ranks(adopted), world->world_size() * (world->world_size() - 1) / 2);
  DistributedDataParallel ddp(torch::nn::Linear(1, 1), adopted);
  ddp.forward(at::ones({1, 1})).sum().backward();
  if (world->rank() == 0) {
    EXPECT_THAT(error_of([&] { adopted.subgroup({0}); }).found(), HasSubstr("without a store"));
  }
  adopted.barrier();
}

TEST(Groups, EverythingRefusesPolitelyAfterShutdown) {
  ProcessGroup group = world->split(0);
  ProcessGroup copy = group;
  DistributedDataParallel ddp(torch::nn::Linear(1, 1), group);
  group.shutdown();
  group.shutdown();
  const at::Tensor one = at::ones({1, 1});
  const std::vector<at::Tensor> parts(static_cast<std::size_t>(group.world_size()), one);
  const std::vector<std::function<void()>> uses{
      [&] { all_reduce(group, one).wait(); },
      [&] { all_reduce(group, at::ones({0})).wait(); },
      [&] { reduce_scatter(group, parts).wait(); },
      [&] { all_gather(group, one).wait(); },
      [&] { all_gather_text(group, "x"); },
      [&] { broadcast(group, one).wait(); },
      [&] { copy.barrier(); },
      [&] { copy.c10d_group(); },
      [&] { copy.split(0); },
      [&] { copy.subgroup({0}); },
      [&] { ddp.forward(one); },
      [&] { DistributedDataParallel(torch::nn::Linear(1, 1), group); }};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    EXPECT_THAT(error_of(uses[i]).found(), HasSubstr("after its shutdown()")) << "use " << i;
  }
}

TEST(Groups, ABarrierNamesTheRankThatIsLate) {
  if (world->world_size() == 1) GTEST_SKIP() << "needs two ranks";
  ProcessGroup group = world->split(0);
  group.barrier();
  const int late = world->world_size() - 1;
  if (world->rank() != late) {
    const Error error = error_of([&] { group.barrier(milliseconds(500)); });
    EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded);
    EXPECT_THAT(error.found(), HasSubstr("rank " + std::to_string(late) + " of "));
  }
  world->barrier();
}

}  // namespace
}  // namespace hpcboot

#include "rendezvous/pmix_use.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <future>
#include <memory>

#include "support/temporary_folder.hpp"

namespace hpcboot {
namespace {

using test::TemporaryFolder;

Env rank_in(const TemporaryFolder& folder, int rank) {
  return Env({{"PMIX_NAMESPACE", "prterun-n1-89@1"},
              {"PMIX_RANK", std::to_string(rank)},
              {"PMIX_SERVER_TMPDIR", folder.path().string()}});
}

constexpr auto kDeadline = std::chrono::seconds(60);

int number_of_use(const Env& env, std::chrono::milliseconds deadline = kDeadline) {
  return PmixUse(env, deadline).number();
}

TEST(PmixUse, IsCountedForEachRank) {
  const TemporaryFolder folder;
  for (const int expected : {1, 2, 3}) EXPECT_EQ(number_of_use(rank_in(folder, 0)), expected);
  EXPECT_EQ(number_of_use(rank_in(folder, 1)), 1);
}

TEST(PmixUse, BeginsWhenTheEarlierOnesOfTheHostHaveEnded) {
  using namespace std::chrono_literals;
  const TemporaryFolder folder;
  auto first_of_0 = std::make_unique<PmixUse>(rank_in(folder, 0), kDeadline);
  EXPECT_EQ(number_of_use(rank_in(folder, 1)), 1);
  auto second_of_1 =
      std::async(std::launch::async, [&] { return number_of_use(rank_in(folder, 1)); });
  EXPECT_EQ(second_of_1.wait_for(200ms), std::future_status::timeout) << "rank 0 is not done";
  first_of_0.reset();
  EXPECT_EQ(second_of_1.get(), 2);

  const PmixUse second_of_0(rank_in(folder, 0), kDeadline);
  EXPECT_EQ(number_of_use(rank_in(folder, 1), 20ms), 3) << "it waits until the deadline";
}

// Others could make this rank count differently from the ranks of other hosts.
TEST(PmixUse, IsNotCountedWhereOthersCanPutFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(number_of_use(rank_in(folder, 0)), 1);
  ASSERT_EQ(chmod(folder.path().c_str(), 0777), 0);
  EXPECT_EQ(number_of_use(rank_in(folder, 0)), 1);
  EXPECT_EQ(number_of_use(Env::parse("PMIX_SERVER_TMPDIR=/nonexistent\n")), 1);
  EXPECT_EQ(number_of_use(Env::parse("")), 1);
}

}  // namespace
}  // namespace hpcboot

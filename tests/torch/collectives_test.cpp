// The collectives, for every type, on the ranks of a launch.
#include "hpcboot/torch/collectives.hpp"

#include <gmock/gmock.h>
#include <torch/types.h>
#include <torch/version.h>

#include <chrono>
#include <string>
#include <thread>

#include "hpcboot/error.hpp"
#include "torch/thrown.hpp"
#include "torch/world.hpp"

namespace hpcboot {
namespace {

using testing::HasSubstr;
using Tensors = std::vector<at::Tensor>;

constexpr std::array kTypes{at::kFloat, at::kDouble, at::kHalf,         at::kBFloat16,
                            at::kChar,  at::kByte,   at::kShort,        at::kInt,
                            at::kLong,  at::kBool,   at::kComplexFloat, at::kComplexDouble};
constexpr std::array kOperations{ReduceOp::sum, ReduceOp::average, ReduceOp::product, ReduceOp::min,
                                 ReduceOp::max};

int ranks() {
  return world->world_size();
}

/// Rank's tensor: small whole numbers, whose sums are exact in every type.
at::Tensor numbers(int rank, at::ScalarType type, at::IntArrayRef shape = {2, 3}) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  const at::Tensor values = (here(at::arange(count, at::kLong)) + rank) % 3;
  return values.to(type).view(shape);
}

/// The operation on the numbers of all ranks, in the widest type.
at::Tensor expected(ReduceOp op, at::ScalarType type, at::IntArrayRef shape = {2, 3}) {
  const bool is_complex = at::isComplexType(type);
  Tensors all;
  for (int rank = 0; rank < ranks(); ++rank) {
    all.push_back(numbers(rank, type, shape).to(is_complex ? at::kComplexDouble : at::kDouble));
  }
  const at::Tensor stacked = at::stack(all);
  switch (op) {
    case ReduceOp::sum:
      return stacked.sum(0);
    case ReduceOp::average:
      return stacked.sum(0) / ranks();
    case ReduceOp::product:
      return stacked.prod(0);
    case ReduceOp::min:
      return stacked.amin(0);
    case ReduceOp::max:
      return stacked.amax(0);
  }
  return {};
}

bool is_refused(ReduceOp op, at::ScalarType type) {
  if (op == ReduceOp::average) return !at::isFloatingType(type) && !at::isComplexType(type);
  return (op == ReduceOp::min || op == ReduceOp::max) && at::isComplexType(type);
}

void expect_equal(const at::Tensor& found, const at::Tensor& wanted, const std::string& what) {
  EXPECT_TRUE(found.allclose(wanted.to(found.scalar_type()), 1e-2, 1e-2))
      << what << "\nfound:\n"
      << found << "\nexpected:\n"
      << wanted;
}

std::string name_of(ReduceOp op, at::ScalarType type) {
  return "operation " + std::to_string(static_cast<int>(op)) + " of " + c10::toString(type);
}

TEST(Collectives, AllReduceTakesEveryTypeAndOperation) {
  for (const at::ScalarType type : kTypes) {
    for (const ReduceOp op : kOperations) {
      at::Tensor tensor = numbers(world->rank(), type);
      if (is_refused(op, type)) {
        EXPECT_EQ(error_of([&] { all_reduce(*world, tensor, op).wait(); }).code(),
                  ErrorCode::invalid_collective);
        continue;
      }
      const at::Tensor result = all_reduce(*world, tensor, op).wait();
      EXPECT_TRUE(result.is_same(tensor)) << "not in place";
      EXPECT_EQ(result.scalar_type(), type);
      expect_equal(result, expected(op, type), name_of(op, type));
    }
  }
}

TEST(Collectives, ReduceScatterTakesEveryTypeAndOperation) {
  const std::vector<std::int64_t> shape{2 * ranks(), 3};
  for (const at::ScalarType type : kTypes) {
    for (const ReduceOp op : kOperations) {
      const at::Tensor tensor = numbers(world->rank(), type, shape);
      if (is_refused(op, type)) {
        EXPECT_EQ(error_of([&] { reduce_scatter(*world, tensor, op).wait(); }).code(),
                  ErrorCode::invalid_collective);
        continue;
      }
      const at::Tensor result = reduce_scatter(*world, tensor, op).wait();
      EXPECT_EQ(result.scalar_type(), type);
      expect_equal(result, expected(op, type, shape).narrow(0, 2 * world->rank(), 2),
                   name_of(op, type));
      EXPECT_TRUE(tensor.equal(numbers(world->rank(), type, shape))) << "the input was changed";
    }
  }
}

TEST(Collectives, ReduceScatterTakesPartsOfDifferentSizes) {
  Tensors parts;
  for (int rank = 0; rank < ranks(); ++rank)
    parts.push_back(here(at::full({rank}, world->rank() + 1.0)));
  const at::Tensor result = reduce_scatter(*world, parts).wait();
  EXPECT_TRUE(result.equal(here(at::full({world->rank()}, ranks() * (ranks() + 1) / 2.0))));
}

TEST(Collectives, AllGatherTakesEveryTypeAndUnevenShapes) {
  const auto shape_of = [](int rank) { return std::vector<std::int64_t>{rank, 2}; };
  for (const at::ScalarType type : kTypes) {
    const Tensors all =
        all_gather(*world, numbers(world->rank(), type, shape_of(world->rank()))).wait();
    ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks()));
    for (int rank = 0; rank < ranks(); ++rank) {
      EXPECT_TRUE(all[static_cast<std::size_t>(rank)].equal(numbers(rank, type, shape_of(rank))));
    }
  }
}

TEST(Collectives, AllGatherTakesDifferentNumbersOfDimensions) {
  const std::vector<std::int64_t> shape(static_cast<std::size_t>(world->rank()), 2);
  const Tensors all = all_gather(*world, here(at::ones(shape))).wait();
  for (int rank = 0; rank < ranks(); ++rank) {
    EXPECT_EQ(all[static_cast<std::size_t>(rank)].dim(), rank);
  }
}

TEST(Collectives, DifferentTypesAreNamedOnEveryRank) {
  if (ranks() == 1) GTEST_SKIP() << "needs two ranks";
  const at::ScalarType mine = world->rank() == 0 ? at::kFloat : at::kLong;
  const Error error = error_of([&] { all_gather(*world, here(at::ones({2}, mine))).wait(); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_collective);
  EXPECT_THAT(error.found(), HasSubstr(world->rank() == 0 ? "Long on rank 1" : "Float on rank 0"));
  EXPECT_EQ(all_gather_text(*world, "next").size(), static_cast<std::size_t>(ranks()));
}

TEST(Collectives, BroadcastTakesEveryTypeAndRoot) {
  const int root = ranks() - 1;
  for (const at::ScalarType type : kTypes) {
    at::Tensor tensor = numbers(world->rank(), type);
    EXPECT_TRUE(broadcast(*world, tensor, root).wait().is_same(tensor));
    EXPECT_TRUE(tensor.equal(numbers(root, type)));
  }
}

TEST(Collectives, TensorsThatAreNotContiguousAreChangedInPlace) {
  at::Tensor base = numbers(world->rank(), at::kFloat, {3, 2});
  at::Tensor transposed = base.t();
  all_reduce(*world, transposed).wait();
  expect_equal(base, expected(ReduceOp::sum, at::kFloat, {3, 2}), "all-reduce");
  base.copy_(numbers(world->rank(), at::kFloat, {3, 2}));
  broadcast(*world, transposed).wait();
  expect_equal(base, numbers(0, at::kFloat, {3, 2}), "broadcast");
}

TEST(Collectives, ParametersThatRequireGradientsAreTaken) {
  at::Tensor parameter = numbers(world->rank(), at::kFloat).requires_grad_();
  broadcast(*world, parameter).wait();
  all_reduce(*world, parameter, ReduceOp::average).wait();
  EXPECT_TRUE(parameter.detach().equal(numbers(0, at::kFloat)));
  EXPECT_TRUE(parameter.is_leaf());
}

TEST(Collectives, EmptyTensorsAreTaken) {
  const at::Tensor empty = here(at::empty({0, 3}));
  EXPECT_EQ(all_reduce(*world, empty).wait().numel(), 0);
  EXPECT_EQ(broadcast(*world, empty).wait().numel(), 0);
  EXPECT_EQ(reduce_scatter(*world, empty).wait().sizes(), empty.sizes());
  EXPECT_EQ(all_gather(*world, empty).wait().back().sizes(), empty.sizes());
  const Tensors parts(static_cast<std::size_t>(ranks()), empty);
  EXPECT_EQ(all_to_all(*world, parts).wait().back().sizes(), empty.sizes());
}

TEST(Collectives, AllToAllTakesEveryTypeAndUnevenParts) {
  const auto part = [](int from, int to, at::ScalarType type) {
    return numbers(from, type, {from + to, 2});
  };
  for (const at::ScalarType type : kTypes) {
    Tensors parts;
    for (int to = 0; to < ranks(); ++to) parts.push_back(part(world->rank(), to, type));
    const Tensors received = all_to_all(*world, parts).wait();
    ASSERT_EQ(received.size(), parts.size());
    for (int from = 0; from < ranks(); ++from) {
      EXPECT_TRUE(received[static_cast<std::size_t>(from)].equal(part(from, world->rank(), type)));
    }
  }
}

TEST(Collectives, MessagesGoRoundARingInOrder) {
  if (ranks() == 1) GTEST_SKIP() << "needs two ranks";
  const int next = (world->rank() + 1) % ranks();
  const int previous = (world->rank() + ranks() - 1) % ranks();
  for (const at::ScalarType type : kTypes) {
    const auto sent = send(*world, numbers(world->rank(), type), next, 3);
    const auto second = send(*world, numbers(world->rank() + 1, type), next, 3);
    const at::Tensor received =
        recv(*world, here(at::empty({2, 3}, at::TensorOptions(type))), previous, 3).wait();
    EXPECT_TRUE(received.equal(numbers(previous, type)));
    recv(*world, received, previous, 3).wait();
    EXPECT_TRUE(received.equal(numbers(previous + 1, type)));
    sent.wait();
    second.wait();
  }
}

TEST(Collectives, BothSidesMaySendBeforeTheyReceive) {
  if (ranks() == 1) GTEST_SKIP() << "needs two ranks";
  const int other = world->rank() ^ 1;
  const auto sent = send(*world, here(at::full({1 << 20}, world->rank() * 1.0)), other);
  at::Tensor received = here(at::empty({1 << 20}));
  const auto pending = recv(*world, received, other);
  sent.wait();
  EXPECT_EQ(pending.wait(std::chrono::seconds(60))[7].item<double>(), other);
}

TEST(Collectives, AMessageThatNobodyWaitsForArrives) {
  if (ranks() == 1) GTEST_SKIP() << "needs two ranks";
  const int other = world->rank() ^ 1;
  { const auto dropped = send(*world, here(at::full({1 << 18}, 5.0)), other); }
  EXPECT_EQ(recv(*world, here(at::empty({1 << 18})), other).wait()[9].item<double>(), 5);
  const auto sent = send(*world, here(at::ones({2})), other);
  recv(*world, here(at::empty({2})), other).wait();
  world->barrier();
  for (int i = 0; i < 2000 && !sent.ready(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(sent.ready());
}

TEST(Collectives, ATimeThatIsOverIsALimit) {
  if (ranks() == 1) GTEST_SKIP() << "needs two ranks";
  ProcessGroup group = world->split(0);
  if (world->rank() == 0) {
    const auto start = std::chrono::steady_clock::now();
    const auto pending = all_reduce(group, here(at::ones({2})));
    const Error error = error_of([&] { pending.wait(std::chrono::milliseconds(0)); });
    EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  }
  world->barrier();
}

TEST(Collectives, TensorsThatAreNegatedLaterAreReducedAsTheyLook) {
  const at::Tensor values =
      at::complex(here(at::zeros({2})), here(at::full({2}, world->rank() + 1.0)));
  at::Tensor negated = at::imag(values.conj());  // -1, -2, … with LibTorch's mark for "negative"
  all_reduce(*world, negated, ReduceOp::min).wait();
  EXPECT_TRUE(negated.equal(here(at::full({2}, -1.0 * ranks()))));
}

TEST(Collectives, AMessageOfAnotherShapeOrTypeIsAnErrorOfTheReceiver) {
  if (ranks() == 1) GTEST_SKIP() << "needs two ranks";
  const int other = world->rank() ^ 1;
  const Tensors messages{here(at::ones({5})), here(at::ones({2})), here(at::ones({3}, at::kLong)),
                         here(at::ones({0}))};
  for (const at::Tensor& message : messages) {
    if (world->rank() % 2 == 0) {
      send(*world, message, other).wait();
      continue;
    }
    at::Tensor received = here(at::zeros({3}));
    const Error error = error_of([&] { recv(*world, received, other).wait(); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_collective);
    EXPECT_THAT(error.found(), HasSubstr("of shape ["));
    EXPECT_TRUE(received.equal(here(at::zeros({3}))));
  }
  if (world->rank() % 2 == 0) {
    send(*world, here(at::ones({3})), other).wait();
  } else {
    EXPECT_TRUE(recv(*world, here(at::zeros({3})), other).wait().equal(here(at::ones({3}))));
  }
}

TEST(Collectives, AMessageThatDoesNotComeEndsAtTheDeadline) {
  if (ranks() == 1) GTEST_SKIP() << "needs two ranks";
  const auto pending = recv(*world, here(at::zeros({3})), world->rank() ^ 1, 77);
  const Error error = error_of([&] { pending.wait(std::chrono::milliseconds(50)); });
  EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded);
  world->barrier();
  send(*world, here(at::ones({3})), world->rank() ^ 1, 77).wait();
  EXPECT_TRUE(pending.wait().equal(here(at::ones({3})))) << "it may still come";
}

TEST(Collectives, SeveralAreUnderWayAtOnceAndTheirResultsMayBeAskedForInAnyOrder) {
  std::vector<Pending<at::Tensor>> pending;
  for (int i = 0; i < 8; ++i)
    pending.push_back(all_reduce(*world, here(at::full({1000}, i + 1.0))));
  for (int i = 7; i >= 0; --i) {
    const auto& one = pending[static_cast<std::size_t>(i)];
    EXPECT_TRUE(one.wait().equal(here(at::full({1000}, (i + 1.0) * ranks()))));
    EXPECT_TRUE(one.ready());
    EXPECT_TRUE(one.finished_at().has_value());
    EXPECT_TRUE(one.wait().is_same(one.wait()));
  }
}

TEST(Collectives, AStepAfterATransferRunsOnce) {
  int runs = 0;
  const auto doubled = all_reduce(*world, here(at::ones({2}))).then([&](const at::Tensor& sum) {
    ++runs;
    return (sum * 2).sum().item<double>();
  });
  EXPECT_EQ(doubled.wait(), 4.0 * ranks());
  EXPECT_EQ(doubled.wait(), 4.0 * ranks());
  EXPECT_EQ(runs, 1);
}

TEST(Collectives, SparseTensorsAreSummed) {
  if (backend == "nccl") GTEST_SKIP() << "NCCL does not sum sparse tensors";
  const at::Tensor sparse = at::diag(here(at::full({3}, world->rank() + 1.0))).to_sparse();
  const at::Tensor sum = all_reduce(*world, sparse, ReduceOp::average).wait();
  EXPECT_TRUE(sum.to_dense().allclose(at::diag(here(at::full({3}, (ranks() + 1) / 2.0)))));
  EXPECT_EQ(error_of([&] { all_reduce(*world, sparse, ReduceOp::max).wait(); }).code(),
            ErrorCode::invalid_collective);
}

TEST(Collectives, ArgumentsThatCannotWorkAreNamed) {
  EXPECT_THAT(error_of([] { broadcast(*world, here(at::ones({1})), ranks()).wait(); }).found(),
              HasSubstr("as the root"));
  EXPECT_THAT(error_of([] { send(*world, here(at::ones({1})), world->rank()).wait(); }).found(),
              HasSubstr("to itself"));
  EXPECT_THAT(error_of([] { all_to_all(*world, Tensors(9, here(at::ones({1})))).wait(); }).found(),
              HasSubstr("9 tensors"));
  EXPECT_THAT(error_of([] { reduce_scatter(*world, here(at::ones({}))).wait(); }).found(),
              HasSubstr("shape []"));
}

}  // namespace
}  // namespace hpcboot

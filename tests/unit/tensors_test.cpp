// The tensors in what a module returns.
#include "hpcboot/torch/tensors.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <array>
#include <map>
#include <unordered_map>

namespace users {

struct Output {
  torch::Tensor scores;
  std::vector<std::pair<std::string, torch::Tensor>> layers;
  void* handle = nullptr;  // which for_each_tensor() does not know
};
template <typename Visit>
void visit_tensors(Output& output, Visit&& visit) {
  visit(output.scores);
  visit(output.layers);
}

}  // namespace users

namespace hpcboot {
namespace {

torch::Tensor number(int value) {
  return torch::full({}, value);
}

template <typename Value>
std::vector<int> numbers_in(Value value) {
  std::vector<int> numbers;
  for (const at::Tensor& tensor : tensors_of(value)) {
    numbers.push_back(tensor.defined() ? tensor.item<int>() : -1);
  }
  return numbers;
}

using Numbers = std::vector<int>;

TEST(TensorsOf, AreFoundInAnyStructureInItsOrder) {
  EXPECT_EQ(numbers_in(number(7)), Numbers{7});
  EXPECT_EQ(numbers_in(torch::Tensor()), Numbers{-1});
  EXPECT_EQ(numbers_in(std::vector{number(1), number(2)}), (Numbers{1, 2}));
  EXPECT_EQ(numbers_in(std::array{number(1), number(2)}), (Numbers{1, 2}));
  // As torch::nn::LSTM returns.
  EXPECT_EQ(numbers_in(std::tuple(number(1), std::tuple(number(2), number(3)))),
            (Numbers{1, 2, 3}));
  EXPECT_EQ(numbers_in(std::map<std::string, torch::Tensor>{{"b", number(2)}, {"a", number(1)}}),
            (Numbers{1, 2}));
  EXPECT_EQ(numbers_in(std::unordered_map<int, std::vector<torch::Tensor>>{{4, {number(5)}}}),
            Numbers{5});
  EXPECT_EQ(numbers_in(std::optional(number(3))), Numbers{3});
  EXPECT_EQ(numbers_in(std::optional<torch::Tensor>()), Numbers{});
  EXPECT_EQ(numbers_in(std::tuple(1, 2.5, true, std::string("text"), "text", number(9))),
            Numbers{9});
  torch::OrderedDict<std::string, torch::Tensor> ordered;
  ordered.insert("b", number(1));
  ordered.insert("a", number(2));
  EXPECT_EQ(numbers_in(ordered), (Numbers{1, 2}));
}

TEST(TensorsOf, AreFoundInATypeOfTheUser) {
  users::Output output{number(1), {{"first", number(2)}, {"second", number(3)}}};
  EXPECT_EQ(numbers_in(output), (Numbers{1, 2, 3}));
  EXPECT_EQ(numbers_in(std::vector{output, output}), (Numbers{1, 2, 3, 1, 2, 3}));
}

TEST(ForEachTensor, CanReplaceThem) {
  auto value = std::tuple(number(1), std::map<int, torch::Tensor>{{0, number(2)}}, 5);
  for_each_tensor(value, [](at::Tensor& tensor) { tensor = tensor * 10; });
  EXPECT_EQ(numbers_in(value), (Numbers{10, 20}));
}

TEST(Tensors, OfWhichTypesHoldSomeIsKnown) {
  EXPECT_TRUE(holds_tensors<at::Tensor>);
  EXPECT_TRUE(holds_tensors<const std::vector<at::Tensor>&>);
  EXPECT_TRUE((holds_tensors<std::tuple<int, std::optional<at::Tensor>>>));
  EXPECT_TRUE((holds_tensors<std::map<std::string, std::vector<at::Tensor>>>));
  EXPECT_FALSE(holds_tensors<int>);
  EXPECT_FALSE(holds_tensors<std::string>);
  EXPECT_FALSE(holds_tensors<std::vector<double>>);
  EXPECT_FALSE((holds_tensors<std::pair<int, std::string>>));
  struct Unknown {};
  EXPECT_FALSE(holds_tensors<Unknown>);
}

}  // namespace
}  // namespace hpcboot

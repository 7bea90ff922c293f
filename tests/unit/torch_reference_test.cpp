// Comparison with PyTorch and torchvision of the Python at HPCBOOT_TEST_PYTHON, at test time.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <torch/torch.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "hpcboot/torch/distributed_sampler.hpp"
#include "models/model.hpp"

namespace hpcboot {
namespace {

constexpr int kSkip = 77;
constexpr double kTolerance = 1e-4;

struct Output {
  int exit_code = -1;
  std::string text;
};

Output run_reference(const std::string& arguments) {
  const std::string command = HPCBOOT_TEST_PYTHON " " HPCBOOT_TEST_REFERENCE " " + arguments;
  Output output;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) output.text += part.data();
  const int status = pclose(pipe);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  // The shell's exit code if that Python is missing.
  if (output.exit_code == 127) output = {kSkip, HPCBOOT_TEST_PYTHON " was not found"};
  return output;
}

TEST(TorchReference, SamplerEqualsPythons) {
  struct Case {
    std::int64_t samples;
    int world_size;
    std::uint64_t seed;
    std::uint64_t epoch;
  };
  const Case cases[] = {{60000, 4, 1234, 0}, {60000, 4, 1234, 7}, {10007, 3, 5, 2}};
  std::ostringstream arguments;
  arguments << "sampler";
  for (const Case& c : cases) {
    arguments << " " << c.samples << " " << c.world_size << " " << c.seed << " " << c.epoch;
  }
  const Output reference = run_reference(arguments.str());
  if (reference.exit_code == kSkip) GTEST_SKIP() << reference.text;
  ASSERT_EQ(reference.exit_code, 0) << reference.text;

  std::istringstream lines(reference.text);
  for (const Case& c : cases) {
    for (int rank = 0; rank < c.world_size; ++rank) {
      std::string line;
      ASSERT_TRUE(std::getline(lines, line));
      std::istringstream words(line);
      const std::vector<std::int64_t> expected{std::istream_iterator<std::int64_t>(words), {}};
      EXPECT_EQ(DistributedSampler(c.samples, c.world_size, rank, {true, c.seed}).indices(c.epoch),
                expected);
    }
  }
}

class Tensors {
 public:
  explicit Tensors(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    for (const auto& item : torch::pickle_load(bytes).toGenericDict()) {
      by_name_.emplace(item.key().toStringRef(), item.value().toTensor());
    }
  }
  const torch::Tensor& operator[](const std::string& name) const { return by_name_.at(name); }

 private:
  std::map<std::string, torch::Tensor> by_name_;
};

/// The largest difference, divided by the largest element of the expected tensor.
double relative_difference(const torch::Tensor& found, const torch::Tensor& expected) {
  const torch::Tensor difference = (found.to(torch::kDouble) - expected.to(torch::kDouble)).abs();
  return difference.max().item<double>() /
         std::max(expected.to(torch::kDouble).abs().max().item<double>(), 1e-30);
}

TEST(TorchReference, ResNet50EqualsTorchvisions) {
  const std::string path = testing::TempDir() + "hpcboot_resnet50.pt";
  const Output run = run_reference("resnet50 " + path);
  if (run.exit_code == kSkip) GTEST_SKIP() << run.text;
  ASSERT_EQ(run.exit_code, 0) << run.text;
  const Tensors reference(path);
  std::remove(path.c_str());

  const auto model = models::make_model("resnet50");
  model->to(torch::kFloat64);
  {
    const torch::NoGradGuard no_grad;
    for (auto& item : model->named_parameters()) {
      ASSERT_EQ(item.value().sizes(), reference["state." + item.key()].sizes()) << item.key();
      item.value().copy_(reference["state." + item.key()]);
    }
    for (auto& item : model->named_buffers()) item.value().copy_(reference["state." + item.key()]);
    model->eval();
    EXPECT_LT(relative_difference(model->forward(reference["images"]), reference["eval_output"]),
              kTolerance);
  }
  model->train();
  const torch::Tensor output = model->forward(reference["images"]);
  EXPECT_LT(relative_difference(output.detach(), reference["train_output"]), kTolerance);
  torch::cross_entropy_loss(output, reference["labels"]).backward();
  for (const auto& item : model->named_parameters()) {
    EXPECT_LT(relative_difference(item.value().grad(), reference["gradient." + item.key()]),
              kTolerance)
        << item.key();
  }
  for (const auto& item : model->named_buffers()) {
    EXPECT_LT(relative_difference(item.value(), reference["state_after." + item.key()]), kTolerance)
        << item.key();
  }
}

}  // namespace
}  // namespace hpcboot

// Comparison with PyTorch and torchvision of the Python at test::python, at test time.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "hpcboot/torch/distributed_sampler.hpp"
#include "models/model.hpp"
#include "models/transformer.hpp"
#include "support/formula_values.hpp"
#include "support/paths.hpp"

namespace hpcboot {
namespace {

constexpr int kSkip = 77;
constexpr double kTolerance = 1e-7;  // in fp64

struct Output {
  int exit_code = -1;
  std::string text;
};

Output run_reference(const std::string& arguments) {
  const std::string command = std::string(test::python) + " " +
                              test::source_file("tests/support/torch_reference.py") + " " +
                              arguments;
  Output output;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) output.text += part.data();
  const int status = pclose(pipe);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  // The shell's exit code if that Python is missing.
  if (output.exit_code == 127) output = {kSkip, std::string(test::python) + " was not found"};
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

  /// Names and shapes of the parameters and buffers: "fc.bias [10]"
  std::vector<std::string> state() const {
    const std::string prefix = "shape.";
    std::vector<std::string> state;
    for (const auto& [name, shape] : by_name_) {
      if (name.compare(0, prefix.size(), prefix) != 0) continue;
      const std::vector<std::int64_t> sizes(shape.data_ptr<std::int64_t>(),
                                            shape.data_ptr<std::int64_t>() + shape.numel());
      std::ostringstream line;
      line << name.substr(prefix.size()) << " " << at::IntArrayRef(sizes);
      state.push_back(line.str());
    }
    return state;
  }

 private:
  std::map<std::string, torch::Tensor> by_name_;
};

struct Case {
  const char* model;
  std::int64_t channels, image_size, samples;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.model << " at " << c.image_size << " pixels";
}

/// As sample() in torch_reference.py.
torch::Tensor sample(const torch::Tensor& tensor) {
  return tensor.flatten().slice(0, 0, tensor.numel(), (tensor.numel() / 4096) | 1);
}

std::vector<std::string> state_of(const models::Model& model) {
  std::vector<std::string> state;
  const auto add = [&](const auto& items) {
    for (const auto& item : items) {
      std::ostringstream line;
      line << item.key() << " " << item.value().sizes();
      state.push_back(line.str());
    }
  };
  add(model.named_parameters());
  add(model.named_buffers());
  return state;
}

/// Runs the reference, and compares the model with it: names and shapes, outputs, gradients.
/// Weights come from a formula of their names on both sides, so each load is strict.
void expect_equal(models::Model& model, const std::string& name, const std::string& arguments,
                  const models::Inputs& inputs,
                  const std::function<torch::Tensor(const torch::Tensor& output)>& loss) {
  const std::string path = testing::TempDir() + "hpcboot_" + name + ".pt";
  const Output run = run_reference(arguments + " " + path);
  if (run.exit_code == kSkip) GTEST_SKIP() << run.text;
  ASSERT_EQ(run.exit_code, 0) << run.text;
  const Tensors reference(path);
  std::remove(path.c_str());

  ASSERT_THAT(state_of(model), testing::UnorderedElementsAreArray(reference.state()));
  fill_by_formula(model);
  double largest = 0;
  const auto expect_near = [&](const torch::Tensor& found, const std::string& of) {
    const double difference = relative_difference(found.detach(), reference[of]);
    largest = std::max(largest, difference);
    EXPECT_LT(difference, kTolerance) << of;
  };

  model.eval();
  {
    const torch::NoGradGuard no_grad;
    expect_near(model.forward(inputs), "eval_output");
  }
  model.train();
  const torch::Tensor output = model.forward(inputs);
  expect_near(output, "train_output");
  loss(output).backward();
  for (const auto& item : model.named_parameters()) {
    expect_near(sample(item.value().grad()), "gradient." + item.key());
    expect_near(item.value().grad().norm(), "gradient_norm." + item.key());
  }
  for (const auto& item : model.named_buffers()) expect_near(item.value(), "buffer." + item.key());
  testing::Test::RecordProperty("largest_relative_difference", testing::PrintToString(largest));
}

class ModelReference : public testing::TestWithParam<Case> {};

TEST_P(ModelReference, EqualsTorchvisions) {
  const Case& c = GetParam();
  std::ostringstream arguments;
  arguments << "model " << c.model << " " << c.channels << " " << c.image_size << " " << c.samples;
  const auto model = models::make_model(c.model, {c.channels, 10, c.image_size});
  expect_equal(*model, c.model + std::to_string(c.image_size), arguments.str(),
               formula_values({c.samples, c.channels, c.image_size, c.image_size}, "images"),
               [&](const torch::Tensor& output) {
                 return torch::cross_entropy_loss(output, torch::arange(c.samples) * 3 % 10);
               });
}

INSTANTIATE_TEST_SUITE_P(TorchReference, ModelReference,
                         testing::Values(Case{"resnet18", 1, 64, 4}, Case{"resnet50", 1, 64, 4},
                                         Case{"vit_b_16", 3, 32, 1}, Case{"vit_b_16", 3, 224, 1},
                                         Case{"vit_s_16", 1, 32, 2}, Case{"vit_ti_16", 3, 32, 2}),
                         [](const auto& test) {
                           return std::string(test.param.model) + "_" +
                                  std::to_string(test.param.image_size);
                         });

struct Sequences {
  const char* model;
  std::int64_t width, source, target, samples;
};

TEST(TorchReference, TransformersEqualPyTorchs) {
  for (const Sequences& c :
       {Sequences{"transformer", 64, 1, 20, 2}, Sequences{"transformer_small", 12, 7, 5, 3}}) {
    SCOPED_TRACE(c.model);
    std::ostringstream arguments;
    arguments << "sequences " << c.model << " " << c.width << " " << c.source << " " << c.target
              << " " << c.samples;
    models::TransformerSize size = models::transformer_size(c.model, c.width);
    size.dropout = 0;
    models::Transformer model(size);
    const auto values = [&](std::int64_t length, const char* name) {
      return formula_values({c.samples, length, c.width}, name);
    };
    expect_equal(model, c.model, arguments.str(),
                 {values(c.source, "source"), values(c.target, "seen")},
                 [&](const torch::Tensor& output) {
                   return torch::mse_loss(output, values(c.target, "target"));
                 });
  }
}

}  // namespace
}  // namespace hpcboot

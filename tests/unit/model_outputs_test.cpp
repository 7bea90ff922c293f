// Outputs of torchvision's models, which tests/support/torch_reference.py recorded: for machines
// without torchvision.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

#include "json/bounded_json.hpp"
#include "models/model.hpp"
#include "support/formula_values.hpp"

namespace hpcboot {
namespace {

TEST(ModelOutputs, AreThoseOfTorchvisions) {
  const Json recorded = read_json_file(HPCBOOT_TEST_MODEL_OUTPUTS).at("models");
  EXPECT_EQ(recorded.size(), 3U);
  for (const auto& [name, expected] : recorded.items()) {
    const auto channels = expected.at("channels").get<std::int64_t>();
    const auto size = expected.at("image_size").get<std::int64_t>();
    const auto samples = expected.at("samples").get<std::int64_t>();
    const auto model = models::make_model(name, {channels, 10, size});
    fill_by_formula(*model);
    model->eval();
    const torch::NoGradGuard no_grad;
    const torch::Tensor found =
        model->forward(formula_values({samples, channels, size, size}, "images"));
    const auto outputs = expected.at("outputs").get<std::vector<double>>();
    EXPECT_LT(
        relative_difference(found, torch::tensor(outputs, torch::kDouble).view({samples, 10})),
        1e-7)
        << name;
  }
}

}  // namespace
}  // namespace hpcboot

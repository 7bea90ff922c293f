// Outputs of PyTorch's and torchvision's models, which tests/support/torch_reference.py recorded:
// for machines without them.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "json/bounded_json.hpp"
#include "models/model.hpp"
#include "models/transformer.hpp"
#include "support/formula_values.hpp"
#include "support/paths.hpp"

namespace hpcboot {
namespace {

struct Recorded {
  std::shared_ptr<models::Model> model;
  models::Inputs inputs;
};

Recorded recorded_of(const std::string& name, const Json& expected) {
  const auto number = [&](const char* key) { return expected.at(key).get<std::int64_t>(); };
  const std::int64_t samples = number("samples");
  if (expected.contains("width")) {
    models::TransformerSize size = models::transformer_size(name, number("width"));
    size.dropout = 0;
    return {std::make_shared<models::Transformer>(size),
            {formula_values({samples, number("source"), size.width}, "source"),
             formula_values({samples, number("target"), size.width}, "seen")}};
  }
  const std::int64_t size = number("image_size");
  return {models::make_model(name, {number("channels"), 10, size}),
          formula_values({samples, number("channels"), size, size}, "images")};
}

TEST(ModelOutputs, AreThoseOfPyTorchAndTorchvision) {
  const Json recorded =
      read_json_file(test::source_file("tests/golden/models/outputs.json")).at("models");
  EXPECT_EQ(recorded.size(), 5U);
  for (const auto& [name, expected] : recorded.items()) {
    const Recorded one = recorded_of(name, expected);
    fill_by_formula(*one.model);
    one.model->eval();
    const torch::NoGradGuard no_grad;
    const torch::Tensor found = one.model->forward(one.inputs);
    const auto outputs = expected.at("outputs").get<std::vector<double>>();
    EXPECT_LT(relative_difference(found, torch::tensor(outputs, torch::kDouble).view_as(found)),
              1e-7)
        << name;
  }
}

}  // namespace
}  // namespace hpcboot

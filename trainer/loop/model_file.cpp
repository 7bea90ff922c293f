#include "loop/model_file.hpp"

#include <torch/types.h>

#include "hpcboot/error.hpp"
#include "record/safetensors.hpp"

namespace hpcboot::train {
namespace {

record::DType dtype_of(const torch::Tensor& tensor) {
  if (tensor.scalar_type() == torch::kFloat32) return record::DType::f32;
  if (tensor.scalar_type() == torch::kFloat64) return record::DType::f64;
  if (tensor.scalar_type() == torch::kInt64) return record::DType::i64;
  throw Error(ErrorCode::invalid_model_use,
              std::string("a tensor of type ") + c10::toString(tensor.scalar_type()),
              "parameters of float32 or float64, and buffers of these or int64",
              "convert the model with to(torch::kFloat32)");
}

}  // namespace

void write_model(const torch::nn::Module& model, std::map<std::string, std::string> metadata,
                 const std::filesystem::path& file) {
  std::vector<torch::Tensor> kept;  // alive until the file is written
  std::vector<record::TensorView> views;
  const auto add = [&](const std::string& name, const torch::Tensor& tensor) {
    kept.push_back(tensor.detach().cpu().contiguous());
    const torch::Tensor& one = kept.back();
    views.push_back({name, dtype_of(one), one.sizes().vec(), one.data_ptr(),
                     static_cast<std::size_t>(one.nbytes())});
  };
  for (const auto& entry : model.named_parameters()) add(entry.key(), entry.value());
  for (const auto& entry : model.named_buffers()) add(entry.key(), entry.value());
  metadata["format"] = "pt";
  record::write_safetensors(file, std::move(views), metadata);
}

}  // namespace hpcboot::train

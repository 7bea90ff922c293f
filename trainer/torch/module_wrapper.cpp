#include "hpcboot/torch/module_wrapper.hpp"

namespace hpcboot {

ModuleWrapper::ModuleWrapper(std::shared_ptr<torch::nn::Module> inner) : inner_(std::move(inner)) {
  for (const auto& item : inner_->named_parameters(/*recurse=*/false)) {
    register_parameter(item.key(), item.value(), item.value().requires_grad());
  }
  for (const auto& item : inner_->named_buffers(/*recurse=*/false)) {
    register_buffer(item.key(), item.value());
  }
  for (const auto& item : inner_->named_children()) register_module(item.key(), item.value());
}

void ModuleWrapper::train(bool on) {
  inner_->train(on);
}
bool ModuleWrapper::is_training() const noexcept {
  return inner_->is_training();
}
void ModuleWrapper::pretty_print(std::ostream& stream) const {
  inner_->pretty_print(stream);
}
void ModuleWrapper::save(torch::serialize::OutputArchive& archive) const {
  inner_->save(archive);
}
void ModuleWrapper::load(torch::serialize::InputArchive& archive) {
  inner_->load(archive);
}

}  // namespace hpcboot

#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <ostream>
#include <type_traits>
#include <utility>

namespace hpcboot {

/// A module around another one, which it replaces in a model: it has the parameters, buffers and
/// submodules of the module within, under the same names.
class ModuleWrapper : public torch::nn::Module {
 public:
  void train(bool on = true) override;
  bool is_training() const noexcept override;
  void pretty_print(std::ostream& stream) const override;
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

 protected:
  explicit ModuleWrapper(std::shared_ptr<torch::nn::Module> inner);

 private:
  const std::shared_ptr<torch::nn::Module> inner_;  // not a submodule, which would change names
};

namespace wrapper_detail {

/// Adds the forward of the module within: its exact type, so that a Sequential takes it.
/// @tparam Wrapper whose operator() runs the module within
template <typename Wrapper, typename Forward>
class WithForward;
template <typename Wrapper, typename Class, typename Result, typename... Arguments>
class WithForward<Wrapper, Result (Class::*)(Arguments...)> : public Wrapper {
 public:
  Result forward(Arguments... arguments) { return (*this)(std::forward<Arguments>(arguments)...); }

 protected:
  using Wrapper::Wrapper;
};
template <typename Wrapper, typename Class, typename Result, typename... Arguments>
class WithForward<Wrapper, Result (Class::*)(Arguments...) const>
    : public WithForward<Wrapper, Result (Class::*)(Arguments...)> {
 protected:
  using WithForward<Wrapper, Result (Class::*)(Arguments...)>::WithForward;
};

/// A module whose forward is a template or has several forms.
template <typename Wrapper>
class WithAnyForward : public Wrapper {
 public:
  template <typename... Arguments>
  auto forward(Arguments&&... arguments) {
    return (*this)(std::forward<Arguments>(arguments)...);
  }

 protected:
  using Wrapper::Wrapper;
};

template <typename Wrapper, typename Inner, typename = void>
struct ForwardOf {
  using Type = WithAnyForward<Wrapper>;
};
template <typename Wrapper, typename Inner>
struct ForwardOf<Wrapper, Inner, std::void_t<decltype(&Inner::forward)>> {
  using Type = WithForward<Wrapper, decltype(&Inner::forward)>;
};

template <typename Inner>
std::shared_ptr<Inner> pointer_to(const std::shared_ptr<Inner>& module) {
  return module;
}
template <typename Holder, typename Inner = typename Holder::ContainedType>
std::shared_ptr<Inner> pointer_to(const Holder& holder) {
  return holder.ptr();
}

}  // namespace wrapper_detail
}  // namespace hpcboot

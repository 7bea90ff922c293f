#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace hpcboot {
namespace tensors_detail {

template <typename Value, typename = void>
constexpr bool is_tuple = false;
template <typename Value>
constexpr bool is_tuple<Value, std::void_t<decltype(std::tuple_size<Value>::value)>> = true;

/// std::optional and c10::optional
template <typename Value, typename = void>
constexpr bool is_optional = false;
template <typename Value>
constexpr bool is_optional<Value, std::void_t<decltype(std::declval<Value&>().has_value()),
                                              decltype(*std::declval<Value&>())>> = true;

/// std::map, std::unordered_map
template <typename Value, typename = void>
constexpr bool is_map = false;
template <typename Value>
constexpr bool is_map<Value, std::void_t<typename Value::mapped_type>> = true;

/// torch::OrderedDict
template <typename Value, typename = void>
constexpr bool is_ordered_dict = false;
template <typename Value>
constexpr bool is_ordered_dict<
    Value, std::void_t<typename Value::Item, decltype(std::declval<Value&>().front().value())>> =
    true;

/// std::vector, std::array, std::list, …
template <typename Value, typename = void>
constexpr bool is_range = false;
template <typename Value>
constexpr bool is_range<Value, std::void_t<decltype(std::declval<Value&>().begin()),
                                           decltype(std::declval<Value&>().end())>> = true;

struct AnyVisit {
  template <typename Part>
  void operator()(Part& part) const;
};
/// Whether the value's namespace has visit_tensors() for it.
template <typename Value, typename = void>
constexpr bool has_hook = false;
template <typename Value>
constexpr bool has_hook<Value, std::void_t<decltype(visit_tensors(
                                   std::declval<Value&>(), std::declval<AnyVisit&>()))>> = true;

template <typename>
constexpr bool is_never = false;

template <typename Value>
constexpr bool holds_any();
template <typename Tuple, std::size_t... I>
constexpr bool any_of_tuple(std::index_sequence<I...> /*indices*/) {
  return (holds_any<std::tuple_element_t<I, Tuple>>() || ...);
}
template <typename Value>
constexpr bool holds_any() {
  using Plain = std::remove_cv_t<std::remove_reference_t<Value>>;
  if constexpr (std::is_same_v<Plain, at::Tensor> || has_hook<Plain>) {
    return true;
  } else if constexpr (std::is_arithmetic_v<Plain> || std::is_enum_v<Plain> ||
                       std::is_convertible_v<const Plain&, std::string>) {
    return false;
  } else if constexpr (is_optional<Plain>) {
    return holds_any<decltype(*std::declval<Plain&>())>();
  } else if constexpr (is_map<Plain>) {
    return holds_any<typename Plain::mapped_type>();
  } else if constexpr (is_ordered_dict<Plain>) {
    return holds_any<decltype(std::declval<Plain&>().front().value())>();
  } else if constexpr (is_range<Plain>) {
    return holds_any<decltype(*std::declval<Plain&>().begin())>();
  } else if constexpr (is_tuple<Plain>) {
    return any_of_tuple<Plain>(std::make_index_sequence<std::tuple_size_v<Plain>>());
  } else {
    return false;
  }
}

}  // namespace tensors_detail

/// Whether for_each_tensor() finds tensors in values of this type, unless they are empty.
template <typename Value>
constexpr bool holds_tensors = tensors_detail::holds_any<Value>();

/// Calls visit(tensor) for each tensor in the value, also for undefined ones, in the order in which
/// they stand: a tensor, a tuple, pair, vector, array, optional, map or torch::OrderedDict of such
/// values, to any depth. Numbers, enumerations and texts are passed over. For a type of yours, such
/// as a struct that forward() returns, define in its namespace
///
///     template <typename Visit>
///     void visit_tensors(Output& output, Visit&& visit) {
///       visit(output.scores);
///       visit(output.hidden);  // which may be any of the above itself
///     }
template <typename Value, typename Visit>
void for_each_tensor(Value& value, Visit&& visit) {
  namespace detail = tensors_detail;
  using Plain = std::remove_const_t<Value>;
  if constexpr (std::is_same_v<Plain, at::Tensor>) {
    visit(value);
  } else if constexpr (detail::has_hook<Value>) {
    const auto visit_part = [&visit](auto& part) { for_each_tensor(part, visit); };
    visit_tensors(value, visit_part);
  } else if constexpr (std::is_arithmetic_v<Plain> || std::is_enum_v<Plain> ||
                       std::is_convertible_v<const Plain&, std::string>) {
    // No tensor.
  } else if constexpr (detail::is_optional<Plain>) {
    if (value.has_value()) for_each_tensor(*value, visit);
  } else if constexpr (detail::is_map<Plain>) {
    for (auto& item : value) for_each_tensor(item.second, visit);
  } else if constexpr (detail::is_ordered_dict<Plain>) {
    for (auto& item : value) for_each_tensor(item.value(), visit);
  } else if constexpr (detail::is_range<Plain>) {
    for (auto& element : value) for_each_tensor(element, visit);
  } else if constexpr (detail::is_tuple<Plain>) {
    std::apply([&visit](auto&... parts) { (for_each_tensor(parts, visit), ...); }, value);
  } else {
    static_assert(detail::is_never<Value>,
                  "no tensors are known in this type: define visit_tensors(YourType&, Visit&&) in "
                  "its namespace (hpcboot/torch/tensors.hpp)");
  }
}

/// The tensors in the value, in the order of for_each_tensor(); undefined ones, too.
template <typename Value>
std::vector<at::Tensor> tensors_of(Value&& value) {
  std::vector<at::Tensor> tensors;
  for_each_tensor(value, [&tensors](const at::Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

}  // namespace hpcboot

#pragma once

// Part of compat.hpp, apart from it because of what it includes.

#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>

#include <memory>
#include <type_traits>

namespace hpcboot::compat {

/// A new node of the autograd graph, in the pointer that the graph holds: a std::shared_ptr up to
/// LibTorch 2.12, whose deleter must be deleteNode(), and a c10::intrusive_ptr from 2.13 on.
template <typename Node>
auto make_node() {
  using Pointer = decltype(torch::autograd::Edge::function);
  if constexpr (std::is_same_v<Pointer, std::shared_ptr<torch::autograd::Node>>) {
    // Found through the argument: newer versions do not have it.
    return std::shared_ptr<Node>(new Node, [](Node* node) { deleteNode(node); });
  } else {
    return c10::make_intrusive<Node>();
  }
}

}  // namespace hpcboot::compat

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hpcboot::data {

/// Determines how deep the objects of a pickle are nested, without creating any: LibTorch processes
/// them by recursion, so that a file of 200 kB could crash the process.
class PickleNesting {
 public:
  /// Called for each instruction in turn.
  void see(char code, std::string_view operand);

  /// Why the objects must not be created; empty if they may be. @param name of the pickle
  std::string damage(const std::string& name) const;

 private:
  using Node = std::uint32_t;

  Node make(std::size_t parts);
  void make_of_marked();
  void put_into(std::size_t parts);
  void put_marked();
  std::size_t marked() const;
  bool has(std::size_t parts);

  std::vector<std::vector<Node>> parts_{{}};  ///< of each object; the first stands for all that
                                              ///< have none, such as numbers
  std::vector<Node> stack_;
  std::vector<std::size_t> marks_;  ///< sizes of the stack
  std::map<std::uint64_t, Node> memory_;
  bool is_broken_ = false;  ///< an instruction used a missing object
};

}  // namespace hpcboot::data

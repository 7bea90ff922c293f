#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/pickle_reader.hpp"
#include "datasets/pickle_values.hpp"

namespace hpcboot::data {

/// Follows the instructions of a pickle that check_pickle() accepted: the machine of a stack and a
/// memo that Python's pickletools.py describes, whose objects are PickleValues.
class PickleEvaluator {
 public:
  PickleEvaluator(std::string_view pickle, PickleValues& values)
      : pickle_(pickle), values_(values), room_(pickle.size()) {}

  /// @throws PickleError
  const PickleValue* run();

 private:
  using Kind = PickleValue::Kind;

  [[noreturn]] void fail(const std::string& found, const std::string& expected) const;
  PickleValue& push(Kind kind);
  PickleValue* pop();
  /// Moves the last objects of the stack to the parts of `value`.
  void move_parts(PickleValue& value, std::size_t first);
  std::size_t pop_mark();
  /// The object before `first`, which the objects from there on are put into.
  PickleValue& container(std::size_t first, Kind kind);
  void put(std::size_t parts, Kind kind);
  void put_marked(Kind kind);
  void make_marked(Kind kind);
  void make_tuple(std::size_t parts);
  void push_text(std::size_t size_of_length);
  void push_long();
  /// A line of decimal digits; "00" and "01" are Python 2's booleans.
  void push_line();
  void push_global();
  void call();
  void push_encoded(const PickleValue& arguments);
  void build();
  std::uint64_t memo_index() const;
  void recall();
  void memoize();
  void check_protocol() const;
  void follow();

  std::string_view pickle_;
  PickleValues& values_;
  std::size_t room_;  ///< how many bytes may still be decoded
  PickleInstruction now_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;  ///< sizes of the stack
  std::map<std::uint64_t, PickleValue*> memo_;
};

}  // namespace hpcboot::data

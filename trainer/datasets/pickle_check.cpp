#include "datasets/pickle_check.hpp"

#include <algorithm>
#include <set>

#include "datasets/pickle_nesting.hpp"
#include "datasets/pickle_reader.hpp"

namespace hpcboot::data {
namespace {

constexpr char kMark = '(';
constexpr char kReduce = 'R';
constexpr char kUnicode = 'X';
constexpr char kGlobal = 'c';
constexpr char kEmptyTuple = ')';
constexpr char kGet = 'h';
constexpr char kLongGet = 'j';
constexpr char kPut = 'q';
constexpr char kLongPut = 'r';
constexpr char kAppend = 'a';
constexpr char kProtocol = '\x80';

/// Detects an OrderedDict with items: a first key follows `OrderedDict ( ) REDUCE`.
class OrderedDicts {
 public:
  /// Called for each instruction in turn.
  void see(char code, std::string_view operand) {
    if (code == kPut || code == kLongPut) {  // stores the newest object in the memo
      if (state_ == State::named) names_.insert(little_endian(operand, operand.size()));
      return;
    }
    if (state_ == State::made && (code == kMark || code == kUnicode || is_get(code)))
      filled_ = true;
    const bool names = (code == kGlobal && operand == "collections\nOrderedDict\n") ||
                       (is_get(code) && names_.count(little_endian(operand, operand.size())) != 0);
    if (names) {
      state_ = State::named;
    } else if (state_ == State::named && code == kEmptyTuple) {
      state_ = State::called;
    } else if (state_ == State::called && code == kReduce) {
      state_ = State::made;
    } else {
      state_ = State::none;
    }
  }
  bool filled() const { return filled_; }

 private:
  enum class State { none, named, called, made };
  static bool is_get(char code) { return code == kGet || code == kLongGet; }

  State state_ = State::none;
  std::set<std::uint64_t> names_;  // memo entries that hold the class
  bool filled_ = false;
};

/// The name in a GLOBAL's operand, two lines, with a dot between its parts; of a long one its
/// begin.
std::string name_in(std::string_view operand) {
  constexpr std::size_t kShown = 100;
  std::string name(operand.substr(0, std::min(operand.size() - 1, kShown)));
  std::replace(name.begin(), name.end(), '\n', '.');
  return name;
}

bool is_of_tensors(std::string_view name) {
  constexpr std::string_view kStorage = "Storage";
  return name == "torch._utils._rebuild_tensor_v2" || name == "collections.OrderedDict" ||
         (name.substr(0, 6) == "torch." && name.size() > kStorage.size() &&
          name.substr(name.size() - kStorage.size()) == kStorage);
}

/// What LibTorch may not read in this instruction; usually empty.
std::string foreign_in(const PickleInstruction& instruction) {
  if (instruction.code == kAppend) return "a list of one item";
  if (instruction.code != kGlobal) return "";
  const std::string name = name_in(instruction.operand);
  return is_of_tensors(name) ? "" : name;
}

}  // namespace

PickleCheck check_pickle(std::string_view pickle, const std::string& name,
                         std::uint64_t most_instructions) {
  PickleCheck check;
  OrderedDicts ordered;
  PickleNesting nesting;
  PickleReader reader(pickle, name);
  std::uint64_t count = 0;
  while (const auto instruction = reader.next()) {
    check.offset = instruction->offset;
    if (++count > most_instructions) {
      check.damage = "more than " + std::to_string(most_instructions) + " instructions in " + name;
      return check;
    }
    // Python numbers the entries of the memo consecutively, and each takes at least one byte.
    if (instruction->code == kLongPut && little_endian(instruction->operand, 4) > pickle.size()) {
      check.damage = "a memo index of " + std::to_string(little_endian(instruction->operand, 4)) +
                     " in " + name + ", which has " + std::to_string(pickle.size()) + " bytes";
      break;
    }
    if (instruction->code == kProtocol)
      check.protocol = static_cast<std::uint8_t>(instruction->operand[0]);
    if (check.foreign.empty()) check.foreign = foreign_in(*instruction);
    ordered.see(instruction->code, instruction->operand);
    nesting.see(instruction->code, instruction->operand);
  }
  if (!reader.damage().empty()) {
    check.damage = reader.damage();
    check.offset = reader.offset();
  } else if (check.damage.empty()) {
    check.damage = nesting.damage(name);
    check.offset = 0;
  }
  check.fills_ordered_dict = ordered.filled();
  return check;
}

}  // namespace hpcboot::data

#include "datasets/pickle_check.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "datasets/pickle_nesting.hpp"

namespace hpcboot::data {
namespace {

constexpr char kMark = '(';
constexpr char kStop = '.';
constexpr char kReduce = 'R';
constexpr char kUnicode = 'X';
constexpr char kGlobal = 'c';
constexpr char kEmptyTuple = ')';
constexpr char kGet = 'h';
constexpr char kLongGet = 'j';
constexpr char kPut = 'q';
constexpr char kLongPut = 'r';

bool is_one_of(char code, std::string_view codes) {
  return codes.find(code) != std::string_view::npos;
}

/// The little-endian number in the first `size` bytes; UINT64_MAX if there are fewer.
std::uint64_t number_in(std::string_view bytes, std::size_t size) {
  if (bytes.size() < size) return UINT64_MAX;
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

/// The size of this many lines, line ends included.
std::uint64_t lines_in(std::string_view bytes, int lines) {
  std::size_t end = 0;
  for (; lines > 0; --lines) {
    end = bytes.find('\n', end);
    if (end == std::string_view::npos) return UINT64_MAX;
    ++end;
  }
  return end;
}

/// The size of a counted text, with the length field before it.
std::uint64_t counted(std::string_view bytes, std::size_t size_of_length) {
  const std::uint64_t length = number_in(bytes, size_of_length);
  return length == UINT64_MAX ? length : size_of_length + length;
}

/// The size of an instruction's operand; more than `rest` has if the pickle is truncated; nothing
/// for an unknown instruction.
std::optional<std::uint64_t> operand_size(char code, std::string_view rest) {
  if (is_one_of(code, "(.012NQRabd}el)]ostu\x81\x85\x86\x87\x88\x89")) return 0;
  if (is_one_of(code, "Khq\x80\x82")) return 1;
  if (is_one_of(code, "M\x83")) return 2;
  if (is_one_of(code, "Jjr\x84")) return 4;
  if (code == 'G') return 8;
  if (is_one_of(code, "FILPSVgp")) return lines_in(rest, 1);
  if (is_one_of(code, "ci")) return lines_in(rest, 2);
  if (is_one_of(code, "U\x8a")) return counted(rest, 1);
  if (is_one_of(code, "TX\x8b")) return counted(rest, 4);
  return std::nullopt;
}

/// Detects an OrderedDict with items: a first key follows `OrderedDict ( ) REDUCE`.
class OrderedDicts {
 public:
  /// Called for each instruction in turn.
  void see(char code, std::string_view operand) {
    if (code == kPut || code == kLongPut) {  // stores the newest object in the memo
      if (state_ == State::named) names_.insert(number_in(operand, operand.size()));
      return;
    }
    if (state_ == State::made && (code == kMark || code == kUnicode || is_get(code)))
      filled_ = true;
    const bool names = (code == kGlobal && operand == "collections\nOrderedDict\n") ||
                       (is_get(code) && names_.count(number_in(operand, operand.size())) != 0);
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

}  // namespace

PickleCheck check_pickle(std::string_view pickle) {
  PickleCheck check;
  OrderedDicts ordered;
  PickleNesting nesting;
  std::string_view rest = pickle;
  while (!rest.empty() && rest.front() != kStop) {
    const char code = rest.front();
    rest.remove_prefix(1);
    const std::optional<std::uint64_t> size = operand_size(code, rest);
    if (!size) {
      check.damage = "byte " + std::to_string(pickle.size() - rest.size() - 1) +
                     " of data.pkl is not an instruction of pickle protocols 0 to 2";
      break;
    }
    if (*size > rest.size()) {
      check.damage = "the instruction at byte " + std::to_string(pickle.size() - rest.size() - 1) +
                     " of data.pkl extends beyond its " + std::to_string(pickle.size()) + " bytes";
      break;
    }
    const std::string_view operand = rest.substr(0, static_cast<std::size_t>(*size));
    // Python numbers the entries of the memo consecutively, and each takes at least one byte.
    if (code == kLongPut && number_in(operand, 4) > pickle.size()) {
      check.damage = "a memo index of " + std::to_string(number_in(operand, 4)) +
                     " in a data.pkl of " + std::to_string(pickle.size()) + " bytes";
      break;
    }
    ordered.see(code, operand);
    nesting.see(code, operand);
    rest.remove_prefix(operand.size());
  }
  if (check.damage.empty()) check.damage = nesting.damage();
  check.fills_ordered_dict = ordered.filled();
  return check;
}

}  // namespace hpcboot::data

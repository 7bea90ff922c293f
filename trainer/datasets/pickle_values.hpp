#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace hpcboot::data {

/// What is wrong with a pickle, and where.
struct PickleError : std::runtime_error {
  PickleError(std::uint64_t at, const std::string& found, std::string wanted)
      : std::runtime_error(found), offset(at), expected(std::move(wanted)) {}

  std::uint64_t offset;  ///< of the instruction
  std::string expected;
};

/// An object of a pickle, as data: nothing is imported, created or called.
struct PickleValue {
  enum class Kind { none, boolean, integer, text, list, tuple, dict, global, call };

  Kind kind = Kind::none;
  std::uint64_t offset = 0;  ///< of the instruction that makes it
  std::int64_t integer = 0;  ///< a boolean: 0 or 1
  std::string_view text;     ///< bytes of a text; the last name of a global: "ndarray"
  /// The items of a list or tuple; keys and values of a dict in turn; of a call the global, the
  /// tuple of arguments and, if any, the state that is set afterwards.
  std::vector<const PickleValue*> parts{};
};

/// The objects of a pickle of protocol 1 or 2 that Python 2 or NumPy wrote: None, booleans,
/// integers, texts, lists, tuples, dicts and NumPy's arrays. The only globals are those of an array
/// (numpy.ndarray, numpy.dtype, _reconstruct) and _codecs.encode, which Python 3 writes for bytes;
/// any other is an error. Memory is limited to some 100 bytes per instruction, of which there may
/// be kMostInstructions, and the size of the pickle.
class PickleValues {
 public:
  static constexpr std::uint64_t kMostInstructions = 2'000'000;
  static constexpr const char* kName = "the pickle";
  static constexpr const char* kProtocols =
      "a pickle of protocol 1 or 2, as in CIFAR's files; Python's pickle.dump takes protocol=2";

  /// @param pickle must outlive this, which refers to its texts
  /// @throws PickleError
  explicit PickleValues(std::string_view pickle);

  const PickleValue& root() const noexcept { return *root_; }

 private:
  friend class PickleEvaluator;

  std::deque<PickleValue> values_;
  std::deque<std::string> decoded_;  ///< texts that the pickle does not contain as they are
  const PickleValue* root_ = nullptr;
};

/// "a list", "the text 'abc'": for messages.
std::string description_of(const PickleValue& value);

/// The value of the last such key in a dict; null if there is none.
const PickleValue* find_key(const PickleValue& dict, std::string_view key);

}  // namespace hpcboot::data

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hpcboot::data {

/// An instruction of a pickle, as defined in Python's pickletools.py.
struct PickleInstruction {
  char code = 0;
  std::uint64_t offset = 0;  ///< of the code in the pickle
  std::string_view operand;  ///< length fields and line ends included
};

/// The little-endian number in the first `size` bytes; UINT64_MAX if there are fewer.
std::uint64_t little_endian(std::string_view bytes, std::size_t size);

/// Splits a pickle of protocols 0 to 2 into its instructions, up to the STOP that ends it.
class PickleReader {
 public:
  /// @param name of the pickle in damage(): "data.pkl"
  PickleReader(std::string_view pickle, std::string name);

  /// The next instruction; nothing at the end, and when there is damage.
  std::optional<PickleInstruction> next();

  /// Whether the last instruction was STOP.
  bool has_stopped() const noexcept { return has_stopped_; }
  /// Why the pickle cannot be split, with the byte; empty if it can be.
  const std::string& damage() const noexcept { return damage_; }
  /// Of the next instruction, or of the damage.
  std::uint64_t offset() const noexcept { return pickle_.size() - rest_.size(); }

 private:
  std::string_view pickle_;
  std::string_view rest_;
  std::string name_;
  std::string damage_;
  bool has_stopped_ = false;
};

}  // namespace hpcboot::data

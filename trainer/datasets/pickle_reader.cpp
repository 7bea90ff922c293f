#include "datasets/pickle_reader.hpp"

#include <utility>

namespace hpcboot::data {
namespace {

constexpr char kStop = '.';

bool is_one_of(char code, std::string_view codes) {
  return codes.find(code) != std::string_view::npos;
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
  const std::uint64_t length = little_endian(bytes, size_of_length);
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

}  // namespace

std::uint64_t little_endian(std::string_view bytes, std::size_t size) {
  if (bytes.size() < size) return UINT64_MAX;
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

PickleReader::PickleReader(std::string_view pickle, std::string name)
    : pickle_(pickle), rest_(pickle), name_(std::move(name)) {}

std::optional<PickleInstruction> PickleReader::next() {
  if (rest_.empty() || has_stopped_ || !damage_.empty()) return std::nullopt;
  const char code = rest_.front();
  if (code == kStop) {
    has_stopped_ = true;
    return std::nullopt;
  }
  const std::string_view after = rest_.substr(1);
  const std::optional<std::uint64_t> size = operand_size(code, after);
  if (!size) {
    damage_ = "byte " + std::to_string(offset()) + " of " + name_ +
              " is not an instruction of pickle protocols 0 to 2";
    return std::nullopt;
  }
  if (*size > after.size()) {
    damage_ = "the instruction at byte " + std::to_string(offset()) + " of " + name_ +
              " extends beyond its " + std::to_string(pickle_.size()) + " bytes";
    return std::nullopt;
  }
  const PickleInstruction instruction{code, offset(),
                                      after.substr(0, static_cast<std::size_t>(*size))};
  rest_ = after.substr(instruction.operand.size());
  return instruction;
}

}  // namespace hpcboot::data

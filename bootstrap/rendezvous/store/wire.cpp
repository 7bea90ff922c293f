#include "wire.hpp"

#include <algorithm>

namespace hpcboot::rendezvous {

FrameWriter::FrameWriter(std::uint32_t id, std::uint8_t kind) {
  u32(0);
  u32(id);
  u8(kind);
}

void FrameWriter::u16(std::uint16_t value) {
  u8(static_cast<std::uint8_t>(value >> 8U));
  u8(static_cast<std::uint8_t>(value));
}

void FrameWriter::u32(std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) u8(static_cast<std::uint8_t>(value >> shift));
}

void FrameWriter::i64(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  u32(static_cast<std::uint32_t>(bits >> 32U));
  u32(static_cast<std::uint32_t>(bits));
}

void FrameWriter::text(std::string_view value) {
  u32(static_cast<std::uint32_t>(value.size()));
  bytes_ += value;
}

void FrameWriter::texts(const std::vector<std::string>& values) {
  u32(static_cast<std::uint32_t>(values.size()));
  for (const std::string& value : values) text(value);
}

std::string FrameWriter::frame() && {
  FrameWriter length;
  length.u32(static_cast<std::uint32_t>(bytes_.size() - 4));
  bytes_.replace(0, 4, length.bytes());
  return std::move(bytes_);
}

bool FrameReader::u8(std::uint8_t& value) {
  if (rest_.empty()) return false;
  value = static_cast<std::uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return true;
}

bool FrameReader::u16(std::uint16_t& value) {
  std::uint8_t high = 0;
  std::uint8_t low = 0;
  if (!u8(high) || !u8(low)) return false;
  value = static_cast<std::uint16_t>(high << 8U | low);
  return true;
}

bool FrameReader::u32(std::uint32_t& value) {
  if (rest_.size() < 4) return false;
  value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8U | static_cast<std::uint8_t>(rest_[i]);
  rest_.remove_prefix(4);
  return true;
}

bool FrameReader::i64(std::int64_t& value) {
  std::uint32_t high = 0;
  std::uint32_t low = 0;
  if (!u32(high) || !u32(low)) return false;
  value = static_cast<std::int64_t>(std::uint64_t{high} << 32U | low);
  return true;
}

bool FrameReader::text(std::string& value) {
  std::uint32_t size = 0;
  if (!u32(size) || size > rest_.size()) return false;
  value.assign(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return true;
}

bool FrameReader::texts(std::vector<std::string>& values) {
  std::uint32_t count = 0;
  // Each has at least its length field.
  if (!u32(count) || count > rest_.size() / 4) return false;
  values.resize(count);
  return std::all_of(values.begin(), values.end(),
                     [this](std::string& value) { return text(value); });
}

bool FrameReader::magic() {
  if (rest_.substr(0, kMagic.size()) != kMagic) return false;
  rest_.remove_prefix(kMagic.size());
  return true;
}

}  // namespace hpcboot::rendezvous

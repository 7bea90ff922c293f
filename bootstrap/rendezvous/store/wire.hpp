#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The wire format of the store's protocol, version 1. Numbers are in network byte order.
//
// A connection starts with four messages:
//   client  "hpcboot", version, rank (4 bytes), token (16), nonce (32)
//   server  "hpcboot", version, nonce (32), kind of secret (1), length (2), sealed secret
//   client  proof (32)
//   server  verdict (1), proof (32)
// Requests and answers follow, each with a length (4), a number chosen by the client (4), a kind
// (1) and its data; then, if the connection has a secret, the seal (16), which is not included in
// the length. Answers may arrive in another order than the requests.
namespace hpcboot::rendezvous {

constexpr std::string_view kMagic = "hpcboot";
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kHelloSize = kMagic.size() + 1 + 4 + 16 + 32;
constexpr std::size_t kChallengeSize = kMagic.size() + 1 + 32 + 1 + 2;
constexpr std::size_t kLongestSeal = 4096;
constexpr std::size_t kProofSize = 32;
constexpr std::size_t kVerdictSize = 1 + 32;

constexpr std::size_t kHeaderSize = 4 + 4 + 1;
constexpr std::size_t kLongestKey = 4096;
constexpr std::size_t kLargestFrame = std::size_t{64} << 20U;

enum class Verdict : std::uint8_t { welcome = 0, rank_is_taken = 1 };

enum class Request : std::uint8_t {
  set = 1,      // key, value
  append,       // key, value
  add,          // key, number                  → number
  compare_set,  // key, expected, desired       → value
  erase,        // key                          → 1 or 0
  check,        // keys                         → 1 or 0
  count,        //                              → number
  get,          // milliseconds, keys           → values, or late
  wait,         // milliseconds, keys           → done, or late
  set_many,     // keys, values
};

enum class Answer : std::uint8_t {
  done = 1,
  number,
  values,
  late,     // the missing keys
  refused,  // the reason
};

class FrameWriter {
 public:
  FrameWriter() = default;
  // Leaves room for the header, which frame() fills in.
  FrameWriter(std::uint32_t id, std::uint8_t kind);

  void u8(std::uint8_t value) { bytes_ += static_cast<char>(value); }
  void u16(std::uint16_t value);
  void u32(std::uint32_t value);
  void i64(std::int64_t value);
  void text(std::string_view value);  // preceded by its length
  void texts(const std::vector<std::string>& values);
  template <typename Array>
  void raw(const Array& array) {
    bytes_.append(reinterpret_cast<const char*>(array.data()), array.size());
  }

  const std::string& bytes() const { return bytes_; }
  // The complete frame, with the length in its header.
  std::string frame() &&;

 private:
  std::string bytes_;
};

// Reads possibly hostile data: each call returns whether the item was complete.
class FrameReader {
 public:
  explicit FrameReader(std::string_view bytes) : rest_(bytes) {}

  bool u8(std::uint8_t& value);
  bool u16(std::uint16_t& value);
  bool u32(std::uint32_t& value);
  bool i64(std::int64_t& value);
  bool text(std::string& value);
  bool texts(std::vector<std::string>& values);
  template <typename Array>
  bool raw(Array& array) {
    if (rest_.size() < array.size()) return false;
    std::copy_n(rest_.data(), array.size(), reinterpret_cast<char*>(array.data()));
    rest_.remove_prefix(array.size());
    return true;
  }
  bool magic();

  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace hpcboot::rendezvous

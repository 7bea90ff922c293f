#include "secret.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "crypto.hpp"
#include "hpcboot/error.hpp"
#include "wire.hpp"

namespace hpcboot::rendezvous {
namespace {

void fill_at_random(void* bytes, std::size_t size) {
  auto* next = static_cast<std::uint8_t*>(bytes);
  while (size > 0) {
    const ssize_t count = getrandom(next, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw Error(ErrorCode::exchange_failed, std::string("getrandom: ") + std::strerror(errno),
                  "random bytes from the kernel",
                  "check whether a sandbox forbids the system call getrandom");
    }
    next += count;
    size -= static_cast<std::size_t>(count);
  }
}

}  // namespace

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  wipe();
  bytes_ = other.bytes_;
  other.wipe();
  return *this;
}

void Secret::wipe() {
  explicit_bzero(bytes_.data(), bytes_.size());
  bytes_.clear();
}

Secret Secret::random() {
  std::string bytes(32, '\0');
  fill_at_random(bytes.data(), bytes.size());
  return Secret(std::move(bytes));
}

std::string digest_of(std::string_view text) {
  std::array<char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (crypto().digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()),
                      &size, crypto().sha256(), nullptr) != 1)
    fail_without_sha();
  return hex_of({digest.data(), 16});
}

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view text) {
  const auto value_of = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = value_of(text[i]);
    const int low = value_of(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

Nonce random_nonce() {
  Nonce nonce;
  fill_at_random(nonce.data(), nonce.size());
  return nonce;
}

Token random_token() {
  Token token;
  fill_at_random(token.data(), token.size());
  return token;
}

Proof proof_of(Side side, const Secret& secret, const Transcript& t) {
  FrameWriter text;
  text.text(side == Side::client ? "client" : side == Side::server ? "server" : "session");
  text.text(t.identity);
  text.u32(t.world_size);
  text.u32(t.rank);
  text.u32(t.port);
  text.u8(t.kind);
  text.raw(t.token);
  text.raw(t.client);
  text.raw(t.server);
  Proof proof{};
  unsigned size = 0;
  const std::string_view key = secret.bytes();
  crypto().hmac(crypto().sha256(), key.empty() ? "" : key.data(), static_cast<int>(key.size()),
                reinterpret_cast<const unsigned char*>(text.bytes().data()), text.bytes().size(),
                proof.data(), &size);
  if (size != proof.size()) fail_without_sha();
  return proof;
}

bool are_equal(const Proof& a, const Proof& b) {
  return crypto().differ(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hpcboot::rendezvous

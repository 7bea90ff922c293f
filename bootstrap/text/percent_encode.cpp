#include "text/percent_encode.hpp"

namespace hpcboot {

std::string percent_encoded(std::string_view text, std::string_view kept) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kUnreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  encoded.reserve(text.size() + text.size() / 4);
  for (const char one : text) {
    if (kUnreserved.find(one) != std::string_view::npos ||
        kept.find(one) != std::string_view::npos) {
      encoded += one;
    } else {
      const auto byte = static_cast<unsigned char>(one);
      encoded += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace hpcboot

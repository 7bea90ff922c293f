#include "stored_entry.hpp"

#include "hpcboot/error.hpp"
#include "pmi_kvs.hpp"

namespace hpcboot {
namespace {

// PMI's servers take names of 63 bytes; beside the key, name_of_part() needs 26 for a rank of ten
// digits and a part of six.
constexpr std::size_t kLongestKey = 32;
constexpr const char* kCounting = "of which each but letters, digits, '.' and '-' counts as three";

}  // namespace

std::string stored_key(const std::string& key) {
  std::string text = escape_for_pmi(key);
  if (!text.empty() && text.size() <= kLongestKey) return text;
  throw Error(ErrorCode::exchange_failed,
              "the key '" + text.substr(0, 80) + "' for the exchange has " +
                  std::to_string(text.size()) + " bytes",
              "1 to " + std::to_string(kLongestKey) + " bytes, " + kCounting,
              "choose a short name");
}

void require_storable(const std::string& key, const std::string& value) {
  const std::size_t size = escape_for_pmi(value).size();
  if (size <= kLongestStored) return;
  throw Error(ErrorCode::exchange_failed,
              "the value of '" + escape_for_pmi(key) + "' for the exchange has " +
                  std::to_string(size) + " bytes",
              "at most " + std::to_string(kLongestStored) + " bytes, " + kCounting,
              "exchange only what the ranks need to connect, and send the rest over the "
              "connection");
}

}  // namespace hpcboot

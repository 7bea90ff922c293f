#include "stored_entry.hpp"

#include "hpcboot/error.hpp"
#include "pmi_kvs.hpp"

namespace hpcboot {
namespace {

// PMI's servers take names of 63 bytes; beside the key, name_of_part() needs 26 for a rank of ten
// digits and a part of six.
constexpr std::size_t kLongestKey = 32;
// Ranks exchange a few hundred bytes. OpenPMIx 4's server crashes at values of some MiB, and
// escaping may make three bytes of each.
constexpr std::size_t kLongestValue = std::size_t{256} << 10U;

}  // namespace

std::string stored_key(const std::string& key) {
  std::string text = escape_for_pmi(key);
  if (!text.empty() && text.size() <= kLongestKey) return text;
  throw Error(ErrorCode::exchange_failed,
              "the key '" + text.substr(0, 80) + "' for the exchange has " +
                  std::to_string(text.size()) + " bytes",
              "1 to " + std::to_string(kLongestKey) +
                  " bytes, of which each but letters, digits, '.' and '-' counts as three",
              "choose a short name");
}

void require_storable(const std::string& key, const std::string& value) {
  if (value.size() <= kLongestValue) return;
  throw Error(ErrorCode::exchange_failed,
              "the value of '" + escape_for_pmi(key) + "' for the exchange has " +
                  std::to_string(value.size()) + " bytes",
              "at most " + std::to_string(kLongestValue),
              "exchange only what the ranks need to connect, and send the rest over the "
              "connection");
}

}  // namespace hpcboot

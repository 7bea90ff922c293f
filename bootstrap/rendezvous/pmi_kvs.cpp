#include "pmi_kvs.hpp"

#include <algorithm>

#include "core/launchers/process_mapping.hpp"
#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "stored_entry.hpp"

namespace hpcboot {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string name_of_part(int rank, const std::string& key, std::size_t part) {
  return "hpcboot-" + std::to_string(rank) + "-" + stored_key(key) + "-" + std::to_string(part);
}

}  // namespace

std::string escape_for_pmi(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-';
    if (plain) {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += {'_', kHexDigits[byte / 16], kHexDigits[byte % 16]};
    }
  }
  return text;
}

std::optional<std::string> unescape_from_pmi(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      bytes += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const std::size_t high = kHexDigits.find(text[i + 1]);
    const std::size_t low = kHexDigits.find(text[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
    i += 2;
  }
  return bytes;
}

void fail_damaged(const std::string& what, const std::string& text, const std::string& back_end) {
  throw Error(
      ErrorCode::exchange_failed,
      what + " arrived damaged: " + std::to_string(text.size()) + " bytes (" + back_end + ")",
      "the value as it was put",
      "set HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT, and report this bug");
}

// Part 0 is the number of the other parts (possibly "0"); parts 1 to that number contain the text.
void PmiKvs::put(const std::string& key, const std::string& value) {
  require_storable(key, value);
  const std::string text = escape_for_pmi(value);
  const std::size_t length = longest_text();
  const std::size_t parts = (text.size() + length - 1) / length;
  store(name_of_part(rank(), key, 0), std::to_string(parts));
  for (std::size_t part = 0; part < parts; ++part) {
    store(name_of_part(rank(), key, part + 1), text.substr(part * length, length));
  }
}

std::string PmiKvs::get(int rank, const std::string& key, Deadline deadline) {
  const auto end = end_after(deadline);
  const auto part = [&](std::size_t index) {
    const auto text = look_up(rank, name_of_part(rank, key, index), time_left(end, Deadline(0)));
    if (text) return *text;
    throw Error(ErrorCode::exchange_failed,
                "no '" + key + "' from rank " + std::to_string(rank) + " (" + description() + ")",
                "a value that this rank put before all ranks committed",
                "run the same version of this program on every rank");
  };
  const std::string count = part(0);
  const auto parts = parse_whole_number(count);
  // A server may report any number of parts.
  const bool is_count = parts && *parts >= 0 && *parts <= static_cast<std::int64_t>(kLongestStored);
  std::string text;
  for (std::int64_t i = 1; is_count && i <= *parts && text.size() <= kLongestStored; ++i)
    text += part(static_cast<std::size_t>(i));
  const auto bytes = unescape_from_pmi(text);
  if (!is_count || text.size() > kLongestStored || !bytes) {
    fail_damaged("'" + key + "' from rank " + std::to_string(rank), is_count ? text : count,
                 description());
  }
  return *bytes;
}

std::vector<int> PmiKvs::node_map(Deadline deadline) {
  const auto text = process_mapping(deadline);
  if (!text || text->empty()) return {};
  const auto mapping = ProcessMapping::parse(*text, kProcessMapping);
  std::vector<int> nodes;
  nodes.reserve(static_cast<std::size_t>(world_size()));
  for (int rank = 0; rank < world_size(); ++rank) nodes.push_back(mapping.node_of(rank));
  return nodes;
}

void PmiKvs::fail_late(const std::string& what, Deadline deadline) const {
  throw Error(
      ErrorCode::deadline_exceeded,
      what + " took more than " + std::to_string(deadline.count()) + " ms (" + description() + ")",
      "all " + std::to_string(world_size()) + " ranks to arrive within the deadline",
      "check the output of the ranks: did all of them start?");
}

}  // namespace hpcboot

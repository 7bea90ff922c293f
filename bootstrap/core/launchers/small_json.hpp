#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// JSON in a variable, parsed without a library: small, shallow, bounded.
namespace hpcboot {

struct SmallJson {
  enum class Kind { null, boolean, number, text, list, object };

  Kind kind = Kind::null;
  std::string text;                                        // of a string; of a number, as written
  std::vector<SmallJson> items;                            // of a list
  std::vector<std::pair<std::string, SmallJson>> members;  // of an object, in order

  // The member of that name (the last if there are several); null if there is none or this is not
  // an object.
  const SmallJson* find(std::string_view name) const;
};

// nullopt for text that is not JSON, nested deeper than eight levels or longer than 4 MiB. Escapes
// beyond ASCII do not occur in addresses and become "?".
std::optional<SmallJson> parse_small_json(std::string_view text);

}  // namespace hpcboot

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// JSON in a variable, without a library: small texts, shallow, bounded.
namespace hpcboot {

struct SmallJson {
  enum class Kind { null, boolean, number, text, list, object };

  Kind kind = Kind::null;
  std::string text;                                        // of a text; a number as it stands
  std::vector<SmallJson> items;                            // of a list
  std::vector<std::pair<std::string, SmallJson>> members;  // of an object, in their order

  // The member of that name, of several the last; null if there is none or this is no object.
  const SmallJson* find(std::string_view name) const;
};

// nullopt for what is no JSON, nested deeper than eight levels or longer than 4 MiB. Escapes beyond
// ASCII (\u0100 and up) are no part of an address and stand as "?".
std::optional<SmallJson> parse_small_json(std::string_view text);

}  // namespace hpcboot

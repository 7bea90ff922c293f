#include "core/launchers/small_json.hpp"

#include "fuzz.hpp"

namespace {

using hpcboot::SmallJson;

void require_shallow(const SmallJson& value, int depth) {
  hpcboot::fuzz::require(depth <= 8, "no deeper than eight levels");
  for (const SmallJson& item : value.items) require_shallow(item, depth + 1);
  for (const auto& [name, member] : value.members) {
    hpcboot::fuzz::require(value.find(name) != nullptr, "a member is found by its name");
    require_shallow(member, depth + 1);
  }
}

}  // namespace

// TF_CONFIG.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = hpcboot::parse_small_json(hpcboot::fuzz::text_of(data, size));
  if (value) require_shallow(*value, 0);
  return 0;
}

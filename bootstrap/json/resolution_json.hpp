#pragma once

#include <nlohmann/json.hpp>

#include "hpcboot/resolve.hpp"

namespace hpcboot {

// The object that `hpcboot show --json` prints and that a run record keeps for each rank. Unknown
// fields are null; the order of the keys is that of the documentation.
nlohmann::ordered_json to_json(const Resolution& resolution);

}  // namespace hpcboot

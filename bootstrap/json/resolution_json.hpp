#pragma once

#include "hpcboot/resolve.hpp"
#include "json/bounded_json.hpp"

namespace hpcboot {

// The object that `hpcboot show --json` prints and that a run record keeps for each rank. Unknown
// fields are null; the keys are in the documented order.
Json to_json(const Resolution& resolution);

}  // namespace hpcboot

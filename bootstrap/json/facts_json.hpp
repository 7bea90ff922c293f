#pragma once

#include <nlohmann/json.hpp>

#include "hpcboot/facts.hpp"

namespace hpcboot {

/// The facts but the host name, which a capture keeps in a file of its own; null where unknown.
nlohmann::ordered_json to_json(const Facts& facts);

/// The facts that to_json() wrote; members that it does not know are passed over.
/// @throws nlohmann::json::exception where a member is not of its kind.
Facts facts_from_json(const nlohmann::ordered_json& object);

}  // namespace hpcboot

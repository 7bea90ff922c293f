#pragma once

#include <string>

#include "hpcboot/facts.hpp"
#include "json/bounded_json.hpp"

namespace hpcboot {

/// The facts but the host name, which a capture keeps in a file of its own; null where unknown.
Json to_json(const Facts& facts);

/// The facts that to_json() wrote; members that it does not know are passed over.
/// @param file for messages. @throws Error{malformed_file} where a member is not of its kind.
Facts facts_from_json(const Json& object, const std::string& file);

}  // namespace hpcboot

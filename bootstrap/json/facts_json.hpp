#pragma once

#include <string>

#include "hpcboot/facts.hpp"
#include "json/bounded_json.hpp"

namespace hpcboot {

/// The facts except the host name, which a capture keeps in a separate file; null if unknown.
Json to_json(const Facts& facts);

/// The facts that to_json() wrote; unknown members are ignored.
/// @param file for messages. @throws Error{malformed_file} if a member has the wrong type.
Facts facts_from_json(const Json& object, const std::string& file);

}  // namespace hpcboot

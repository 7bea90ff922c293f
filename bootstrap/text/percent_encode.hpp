#pragma once

#include <string>
#include <string_view>

namespace hpcboot {

/// RFC 3986: a text for a URI. ASCII letters and digits, "-._~" and `kept` stay as they are.
std::string percent_encoded(std::string_view text, std::string_view kept = "");

}  // namespace hpcboot

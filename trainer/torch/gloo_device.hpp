#pragma once

#include <optional>
#include <string>

#include "compat.hpp"

namespace hpcboot {

/// Where Gloo listens and from where it connects.
/// @param interface its name; without one, loopback for ranks of one host, else the address of
///        this host's name
/// @throws Error{no_usable_interface}
compat::GlooDevice make_gloo_device(const std::optional<std::string>& interface, bool on_one_host);

}  // namespace hpcboot

#pragma once

#include "hpcboot/encode.hpp"
#include "options/command.hpp"

namespace hpcboot::options {

/// The manual page of a program, section 1, for man(7): all that its help says, and that of its
/// verbs.
Encoded man_page(const Program& program);

}  // namespace hpcboot::options

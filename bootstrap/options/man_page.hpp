#pragma once

#include "hpcboot/encode.hpp"
#include "options/command.hpp"

namespace hpcboot::options {

/// The manual page of a program, section 1, in the format of man(7): the content of its help and of
/// its verbs' help.
Encoded man_page(const Program& program);

}  // namespace hpcboot::options

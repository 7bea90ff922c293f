#pragma once

#include <string>

namespace hpcboot::tool {

// Writes a script that may be executed, as far as the umask allows; all of it or nothing. It
// replaces an empty file or a script of hpcboot's own only; a device or a FIFO is written to.
// @throws Error{unwritable_output}
void write_script(const std::string& file, const std::string& script);

}  // namespace hpcboot::tool

#pragma once

#include <memory>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

/// All ranks of the test, from the start of main() to its end.
extern std::unique_ptr<ProcessGroup> world;

}  // namespace hpcboot

#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "hpcboot/torch/process_group.hpp"

namespace hpcboot {

// Checks of what the caller of a collective passed. All throw Error{invalid_collective}.

/// @param role of the rank, for the message: "root", "receiver"
void require_rank(const ProcessGroup& group, int rank, const std::string& role);

/// One tensor for each rank, of one type on one device.
void require_parts(const ProcessGroup& group, const std::vector<at::Tensor>& parts,
                   const std::string& doing);

/// "[2, 3]"
std::string shape_text(at::IntArrayRef sizes);
std::string shape_text(const at::Tensor& tensor);

}  // namespace hpcboot

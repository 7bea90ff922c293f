#pragma once

#include <H5Cpp.h>

#include <string>

namespace hpcboot::data {

/// Why a part of a virtual array cannot be read; empty if all can, or if the array is not virtual.
/// HDF5 reads fill values, usually zeros, for a part whose file or array it does not find.
std::string missing_part(const H5::DataSet& dataset);

}  // namespace hpcboot::data

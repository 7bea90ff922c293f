#pragma once

#include <H5Cpp.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "datasets/hdf5_data.hpp"

namespace hpcboot::test {

using Sizes = std::vector<hsize_t>;

/// One array; its values are zeros.
inline void add(H5::Group& group, const char* name, const H5::DataType& type, const Sizes& sizes,
                const H5::DSetCreatPropList& how = H5::DSetCreatPropList::DEFAULT) {
  const H5::DataSpace space = sizes.empty()
                                  ? H5::DataSpace(H5S_SCALAR)
                                  : H5::DataSpace(static_cast<int>(sizes.size()), sizes.data());
  group.createDataSet(name, type, space, how);
}

inline const H5::PredType& kByte = H5::PredType::STD_U8LE;

inline std::unique_ptr<data::Dataset> open(const std::filesystem::path& file,
                                           data::Split split = data::Split::train) {
  return data::open_split(data::open_hdf5(file), split, 0);
}

}  // namespace hpcboot::test

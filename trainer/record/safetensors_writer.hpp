#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/atomic_file.hpp"
#include "record/safetensors.hpp"

namespace hpcboot::record {

/// A tensor to write, without its data.
struct TensorHeader {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;  ///< empty for a scalar
};

/// Writes a file atomically, byte for byte as the reference implementation does, without holding
/// all data in memory: tensors by descending element type and then by name, the header padded with
/// spaces so that the data begin at a multiple of 8. Every function throws
/// Error{unwritable_output}.
class SafetensorsWriter {
 public:
  /// Writes the header.
  /// @throws Error{invalid_model_use} if a name occurs twice or a shape is impossible
  SafetensorsWriter(const std::filesystem::path& path, std::vector<TensorHeader> tensors,
                    const std::map<std::string, std::string>& metadata);

  /// In the order in which their data follow.
  const std::vector<TensorHeader>& tensors() const noexcept { return tensors_; }

  /// Appends to the data of tensors(), one after another. Elements are in C order, without gaps,
  /// little-endian.
  void write(const void* data, std::size_t bytes);

  /// @throws Error{invalid_model_use} if the data are incomplete
  void commit();

 private:
  AtomicFile file_;
  std::vector<TensorHeader> tensors_;
  std::uint64_t missing_ = 0;  ///< bytes
};

}  // namespace hpcboot::record

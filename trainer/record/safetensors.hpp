#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hpcboot::record {

/// Element types of the safetensors format, smallest alignment first, as in its reference
/// implementation (huggingface/safetensors, tensor.rs).
enum class DType { boolean, u8, i8, i16, u16, f16, bf16, i32, u32, f32, f64, i64, u64 };

std::string_view name_of(DType dtype) noexcept;  ///< "F32", "BOOL"
std::size_t size_of(DType dtype) noexcept;       ///< bytes of one element

/// A tensor to write. Its elements are in C order, without gaps, little-endian.
struct TensorView {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// Writes a file atomically, byte for byte as the reference implementation does: tensors by
/// descending element type and then by name, the header padded with spaces so that the data begin
/// at a multiple of 8.
/// @throws Error{unwritable_output}; Error{invalid_model_use} if a name occurs twice or the bytes
///   do not match the shape.
void write_safetensors(const std::filesystem::path& path, std::vector<TensorView> tensors,
                       const std::map<std::string, std::string>& metadata = {});

/// Which element types a file may have.
enum class DTypesTaken {
  models,  ///< those of LibTorch 1.13, which models and checkpoints use
  any  ///< others too, even if DType lacks them: such a tensor is listed, and can be read as bytes
};

/// A tensor within a file.
struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  std::string other_dtype;  ///< the file's name for a type that DType lacks, such as "F8_E4M3"
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  ///< within the data, which follow the header
  std::uint64_t end = 0;
};

/// A file descriptor that is closed with its owner.
class InputFile {
 public:
  /// Holds -1 if the file cannot be opened.
  explicit InputFile(const std::filesystem::path& path);
  InputFile(InputFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  InputFile& operator=(InputFile&&) = delete;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// A file, checked in full when it is opened: every byte of the data belongs to exactly one tensor
/// and every length matches its shape (except for types that DType lacks, whose size is unknown),
/// so that a truncated or extended file is never read.
class SafetensorsFile {
 public:
  /// @throws Error{unreadable_file, malformed_file}
  explicit SafetensorsFile(std::filesystem::path path, DTypesTaken taken = DTypesTaken::models);

  const std::filesystem::path& path() const noexcept { return path_; }
  /// In the order of their data.
  const std::vector<TensorInfo>& tensors() const noexcept { return tensors_; }
  const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }

  /// Reads the bytes of one of tensors() into `destination`, which holds end - begin of them.
  /// @throws Error{unreadable_file}
  void read(const TensorInfo& tensor, void* destination) const;

  /// Reads `size` of these bytes, starting at `offset`. Several threads may call it at once.
  /// @throws Error{unreadable_file}; Error{malformed_file} if the file has become shorter since it
  ///   was opened
  void read_part(const TensorInfo& tensor, std::uint64_t offset, std::uint64_t size,
                 void* destination) const;

 private:
  void read_at(std::uint64_t position, std::uint64_t size, void* destination) const;

  std::filesystem::path path_;
  InputFile file_;
  std::uint64_t data_begin_ = 0;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace hpcboot::record

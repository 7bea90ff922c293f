#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/safetensors.hpp"
#include "record/safetensors_writer.hpp"

// A model in several safetensors files, with an index in JSON that says which tensor is in which
// file, as the libraries of Hugging Face read and write it (huggingface_hub,
// serialization/_base.py): model-00001-of-00002.safetensors, model-00002-of-00002.safetensors,
// model.safetensors.index.json.
namespace hpcboot::record {

/// The text of a file's metadata that is about its own bytes: not copied to others.
inline constexpr const char* kChecksumKey = "crc32";

/// What the names of files with a model, and with the state of its optimizer, start with.
inline constexpr const char* kModelStem = "model";
inline constexpr const char* kOptimizerStem = "optimizer";

/// "model-00002-of-00004.safetensors" for number 1, which counts from 0.
std::string shard_file_name(const std::string& stem, int number, int count);

/// "model.safetensors.index.json"
std::string index_file_name(const std::string& stem);

/// The folder of a model in several files, if `place` is such a folder or its index.
std::optional<std::filesystem::path> folder_of_model(const std::filesystem::path& place);

/// Writes the index of the files that shard_file_name() names, which exist in `folder` completely,
/// from their headers.
/// @param metadata further texts of the index
/// @throws Error{unwritable_output}; Error{unreadable_file, malformed_file}, also if two files have
///         a tensor of the same name
void write_index(const std::filesystem::path& folder, const std::string& stem, int count,
                 const std::map<std::string, std::string>& metadata = {});

/// Such files, checked like SafetensorsFile, and that exactly the tensors of the index are in them.
class ShardedSafetensors {
 public:
  /// @throws Error{unreadable_file, malformed_file}, also for files outside the folder
  explicit ShardedSafetensors(const std::filesystem::path& folder, const std::string& stem,
                              DTypesTaken taken = DTypesTaken::models);

  /// By name.
  const std::map<std::string, TensorInfo>& tensors() const noexcept { return tensors_; }
  /// Texts of the index.
  const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }
  const std::vector<SafetensorsFile>& files() const noexcept { return files_; }

  /// Like those of SafetensorsFile.
  /// @param name one of tensors()
  void read(const std::string& name, void* destination) const;
  void read_part(const std::string& name, std::uint64_t offset, std::uint64_t size,
                 void* destination) const;

 private:
  std::vector<SafetensorsFile> files_;
  std::map<std::string, TensorInfo> tensors_;
  std::map<std::string, std::size_t> file_of_;
  std::map<std::string, std::string> metadata_;
};

/// Tensors to write elsewhere.
struct StoredTensors {
  std::vector<TensorHeader> headers;  ///< with the names that they get
  std::map<std::string, std::string> metadata;
  /// @param name one of `headers`
  std::function<void(const std::string& name, std::vector<char>& data)> read;
};

/// Those of a file whose names begin with `prefix`, without it.
/// @throws Error{unreadable_file, malformed_file}
StoredTensors tensors_of_file(const std::filesystem::path& file, const std::string& prefix = "");

/// Those of an index, with the metadata that all of its files have.
/// @throws Error{unreadable_file, malformed_file}, also if there are none
StoredTensors tensors_of_index(const std::filesystem::path& folder, const std::string& stem);

/// Writes tensors to one file. Takes the memory of the largest one, as split_safetensors() does.
/// @throws Error{unreadable_file, malformed_file, unwritable_output}
void merge_safetensors(const StoredTensors& tensors, const std::filesystem::path& file);

/// Writes tensors to several files, of about equal size, and their index, in an existing folder.
/// @throws Error{unreadable_file, malformed_file, unwritable_output}
void split_safetensors(const StoredTensors& tensors, const std::filesystem::path& folder,
                       const std::string& stem, int count);

/// Distributes parts of these sizes: a bin for each, so that the fullest bin is small. The result
/// depends on the arguments only.
std::vector<int> spread(const std::vector<std::uint64_t>& sizes, int bins);

}  // namespace hpcboot::record

#include "datasets/convert.hpp"

#include <filesystem>
#include <optional>
#include <system_error>

#include "datasets/data_folder.hpp"
#include "hpcboot/error.hpp"
#include "record/atomic_folder.hpp"
#include "record/output_error.hpp"

namespace hpcboot::data {
namespace {

namespace fs = std::filesystem;

void refuse_existing(const std::string& target) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(target, error);
  if (status.type() == fs::file_type::none) {
    throw record::output_error("examine", target, error.value());
  }
  std::error_code ignored;  // a link whose target cannot be examined exists
  const bool is_there =
      fs::is_directory(target, ignored) ? !data_files_in(target).empty() : fs::exists(status);
  if (!is_there) return;
  throw Error(ErrorCode::unwritable_output, "'" + target + "' already exists",
              "a place without data, as nothing is overwritten by default",
              "choose another place, or replace it with --force");
}

std::int64_t convert_sequences(const std::string& source, const std::string& target,
                               const Format& to, const ConvertOptions& options) {
  if (to.write_arrays == nullptr) {
    throw Error(ErrorCode::invalid_model_use,
                "sequences for '" + target + "' (" + std::string(to.name) + ")",
                "a format for arrays", "write HDF5, safetensors or .pt instead");
  }
  const auto train = open_sequences(source, Split::train);
  const auto test = open_sequences(source, Split::test);
  const std::int64_t pairs = train->count() + test->count();
  std::int64_t done = 0;
  to.write_arrays(target, arrays_of(*train, *test), options.storage, [&](std::int64_t rows) {
    done += rows;
    if (options.progress) options.progress(done / 2, pairs);
  });
  return pairs;
}

}  // namespace

std::int64_t convert(const std::string& source, const std::string& target,
                     const ConvertOptions& options) {
  const Format& from = format_of(source);
  const Format& to = format_for_writing(target);
  if ((options.storage.chunk > 0 || options.storage.compress > 0) && !to.has_storage_options) {
    throw Error(ErrorCode::invalid_model_use,
                "chunks or compression for '" + target + "' (" + std::string(to.name) + ")",
                "HDF5, the only format that has them",
                "omit --chunk and --compress, or write a .h5 file");
  }
  std::error_code ignored;
  if (fs::equivalent(source, target, ignored)) {
    throw Error(ErrorCode::unwritable_output, "'" + target + "' is also the source",
                "a target other than the source", "name a new file or folder");
  }
  if (!options.replace) refuse_existing(target);
  std::optional<record::WriterLock> alone;
  if (to.has_folder == nullptr) alone.emplace(target);  // fill_data_folder() has its own
  if (are_sequences(source)) return convert_sequences(source, target, to, options);
  const auto train = from.open(source, Split::train, 0);
  const auto test = from.open(source, Split::test, 0);
  const std::int64_t total = train->count() + test->count();
  std::int64_t done = 0;
  to.write(target, *train, *test, options.storage, [&](std::int64_t images) {
    done += images;
    if (options.progress) options.progress(done, total);
  });
  return total;
}

}  // namespace hpcboot::data

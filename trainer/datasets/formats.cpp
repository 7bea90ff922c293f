#include "datasets/formats.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "datasets/cifar_folder.hpp"
#include "datasets/hdf5_data.hpp"
#include "datasets/idx.hpp"
#include "datasets/mnist_folder.hpp"
#include "datasets/places.hpp"
#include "datasets/pt_data.hpp"
#include "datasets/safetensors_data.hpp"
#include "datasets/synthetic.hpp"
#include "datasets/synthetic_sequences.hpp"
#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::data {
namespace {

namespace fs = std::filesystem;
using Progress = std::function<void(std::int64_t)>;

// HDF5 searches for its signature at 0, 512, 1024, …; a user block before it is rare, and then the
// name decides.
constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";
constexpr std::string_view kZipSignature = "PK\x03\x04";
constexpr std::size_t kBegin = 9;

template <typename... Suffixes>
bool has_suffix(const std::string& place, const Suffixes&... suffixes) {
  const std::string own = fs::path(place).extension().string();
  return ((own == suffixes) || ...);
}

template <std::shared_ptr<const ArrayFile> (*OpenFile)(const fs::path&)>
std::unique_ptr<Dataset> open_arrays(const std::string& place, Split split, std::int64_t limit) {
  return open_split(OpenFile(place), split, limit);
}

template <std::shared_ptr<const ArrayFile> (*OpenFile)(const fs::path&)>
std::unique_ptr<SequenceSet> open_sequence_arrays(const std::string& place, Split split,
                                                  std::int64_t limit) {
  return open_sequence_split(OpenFile(place), split, limit);
}

Format mnist() {
  Format format;
  format.name = "MNIST";
  format.places = places::kMnist;
  format.has_name = [](const std::string& place) { return fs::path(place).extension().empty(); };
  format.has_folder = [](const fs::path& folder) { return !mnist_files_in(folder).empty(); };
  format.open = [](const std::string& place, Split split,
                   std::int64_t limit) -> std::unique_ptr<Dataset> {
    return std::make_unique<MemoryDataset>(read_mnist(place, split, limit));
  };
  format.write = [](const fs::path& place, const Dataset& train, const Dataset& test,
                    const StorageOptions&,
                    const Progress& progress) { write_mnist(place, train, test, progress); };
  return format;
}

Format cifar() {
  Format format;
  format.name = "CIFAR";
  format.places = places::kCifar;
  format.has_name = [](const std::string&) { return false; };
  format.has_folder = [](const fs::path& folder) {
    return mnist_files_in(folder).empty() && !cifar_files_in(folder).empty();
  };
  format.open = [](const std::string& place, Split split, std::int64_t limit) {
    return open_cifar(place, split, limit);
  };
  return format;
}

Format hdf5() {
  Format format;
  format.name = "HDF5";
  format.places = places::kHdf5;
  format.has_name = [](const std::string& place) {
    return has_suffix(place, ".h5", ".hdf5", ".hdf");
  };
  format.has_content = [](std::string_view begin) {
    return begin.substr(0, kHdf5Signature.size()) == kHdf5Signature;
  };
#if HPCBOOT_WITH_HDF5
  format.open = open_arrays<open_hdf5>;
  format.open_sequences = open_sequence_arrays<open_hdf5>;
  format.arrays = open_hdf5;
  format.write = [](const fs::path& place, const Dataset& train, const Dataset& test,
                    const StorageOptions& storage, const Progress& progress) {
    write_hdf5(place, train, test, {storage.chunk, storage.compress}, progress);
  };
  format.write_arrays = [](const fs::path& place, const std::vector<ArraySource>& arrays,
                           const StorageOptions& storage, const Progress& progress) {
    write_hdf5(place, arrays, {storage.chunk, storage.compress}, progress);
  };
  format.has_storage_options = true;
#else
  format.missing = "libhdf5-dev, or your site's hdf5 module";
#endif
  return format;
}

Format safetensors() {
  Format format;
  format.name = "safetensors";
  format.places = places::kSafetensors;
  format.has_name = [](const std::string& place) { return has_suffix(place, ".safetensors"); };
  format.has_content = [](std::string_view begin) {
    // The length of the header, below 2^32, then the header.
    return begin.size() >= 9 && begin.substr(4, 4) == std::string_view("\0\0\0\0", 4) &&
           begin[8] == '{';
  };
  format.open = open_arrays<open_safetensors>;
  format.open_sequences = open_sequence_arrays<open_safetensors>;
  format.arrays = open_safetensors;
  format.write = [](const fs::path& place, const Dataset& train, const Dataset& test,
                    const StorageOptions&, const Progress& progress) {
    write_safetensors_data(place, train, test, progress);
  };
  format.write_arrays = [](const fs::path& place, const std::vector<ArraySource>& arrays,
                           const StorageOptions&, const Progress& progress) {
    write_safetensors_data(place, arrays, progress);
  };
  return format;
}

Format pt() {
  Format format;
  format.name = "PyTorch";
  format.places = places::kPt;
  format.has_name = [](const std::string& place) { return has_suffix(place, ".pt", ".pth"); };
  format.has_content = [](std::string_view begin) {
    return begin.substr(0, kZipSignature.size()) == kZipSignature;
  };
#if HPCBOOT_WITH_PT
  format.open = open_arrays<open_pt>;
  format.open_sequences = open_sequence_arrays<open_pt>;
  format.arrays = open_pt;
  format.write = [](const fs::path& place, const Dataset& train, const Dataset& test,
                    const StorageOptions&,
                    const Progress& progress) { write_pt(place, train, test, progress); };
  format.write_arrays = [](const fs::path& place, const std::vector<ArraySource>& arrays,
                           const StorageOptions&,
                           const Progress& progress) { write_pt(place, arrays, progress); };
#else
  format.missing = "libtorch-dev, or your site's libtorch module";
#endif
  return format;
}

template <const std::string_view& Prefix>
bool has_prefix(const std::string& place) {
  return place.compare(0, Prefix.size(), Prefix) == 0;
}

Format synthetic() {
  Format format;
  format.name = "synthetic";
  format.places = places::kSynthetic;
  format.has_name = has_prefix<kSyntheticPrefix>;
  format.open = open_synthetic;
  return format;
}

Format synthetic_sequences() {
  Format format;
  format.name = "synthetic sequences";
  format.places = places::kSequences;
  format.has_name = has_prefix<kSequencesPrefix>;
  format.open_sequences = open_synthetic_sequences;
  return format;
}

const Format& available(const Format& format, const std::string& place) {
  if (format.missing.empty()) return format;
  throw Error(ErrorCode::backend_unavailable,
              "'" + place + "' is " + std::string(format.name) + ", which this build cannot read",
              "a build that supports it", "rebuild with " + std::string(format.missing));
}

[[noreturn]] void fail_unknown(const std::string& found) {
  throw Error(ErrorCode::missing_data, found, known_places(),
              "give the data in one of these forms; data/README.md describes how to make them");
}

const Format* by_name(const std::string& place) {
  const auto& all = formats();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Format& one) { return one.has_name(place); });
  return found == all.end() ? nullptr : &*found;
}

const Format* by_content(std::string_view begin) {
  const auto& all = formats();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Format& one) {
    return one.has_content != nullptr && one.has_content(begin);
  });
  return found == all.end() ? nullptr : &*found;
}

[[noreturn]] void fail_unreadable(const std::string& place, const std::error_code& reason) {
  throw Error(ErrorCode::unreadable_file, "'" + place + "': " + reason.message(),
              "data that this user can read",
              "check the path, and the permissions of the file and of the folders above it");
}

/// The default places of data are folders that do not exist at first.
[[noreturn]] void fail_no_set(const std::string& found, const std::string& folder) {
  const std::string quoted = bash_quote(folder);
  throw Error(
      ErrorCode::missing_data, found,
      "a folder with the files of MNIST, such as train-images-idx3-ubyte, or of CIFAR, such "
      "as data_batch_1.bin",
      "correct the path; or draw digits (--task mnist) with `trainer digits " + quoted +
          "`, or colour pictures (--task cifar) with `trainer pictures " + quoted +
          "`; or download MNIST or CIFAR (in hpcboot's sources: setup/get-mnist, "
          "setup/get-cifar)");
}

const Format& by_folder(const fs::path& folder) {
  const auto& all = formats();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Format& one) {
    return one.has_folder != nullptr && one.has_folder(folder);
  });
  if (found != all.end()) return *found;
  std::error_code error;
  const fs::directory_iterator listed(folder, error);
  if (!error) static_cast<void>(fs::status(folder / ".", error));  // listed, but not entered
  if (error) fail_unreadable(folder.string(), error);
  fail_no_set("no data set in the folder '" + folder.string() + "'", folder.string());
}

std::string begin_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail_unreadable(file, {errno, std::generic_category()});
  std::string begin(kBegin, '\0');
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(stream.gcount()));
  return begin;
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> kFormats = {
      synthetic(), synthetic_sequences(), hdf5(), safetensors(), pt(), cifar(), mnist()};
  return kFormats;
}

const Format& format_of(const std::string& place) {
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  const Format* const named = by_name(place);
  // If it cannot be examined, whether it exists is unknown.
  if (status.type() == fs::file_type::none) fail_unreadable(place, error);
  if (fs::is_regular_file(status)) {
    const Format* format = by_content(begin_of(place));
    if (format == nullptr && named != nullptr && named->has_content != nullptr) format = named;
    if (format == nullptr) {
      fail_unknown("neither the content nor the name of '" + place + "' identifies its format");
    }
    return available(*format, place);
  }
  if (fs::is_directory(status)) return by_folder(place);
  if (named == nullptr || named->has_content != nullptr) fail_unknown("no file '" + place + "'");
  if (named->has_folder != nullptr) fail_no_set("no folder '" + place + "'", place);
  return *named;
}

const Format& format_for_writing(const std::string& place) {
  std::error_code ignored;  // writing there reports what is wrong with the place
  const bool is_folder = fs::is_directory(place, ignored);
  const Format* const named = is_folder ? &formats().back() : by_name(place);
  if (named == nullptr || (named->write == nullptr && named->missing.empty())) {
    throw Error(ErrorCode::unwritable_output,
                "'" + place + "' does not name a format that can be written",
                "a name ending in .h5, .safetensors or .pt, or a folder", "choose such a name");
  }
  return available(*named, place);
}

std::unique_ptr<Dataset> open_dataset(const std::string& place, Split split, std::int64_t limit) {
  const Format& format = format_of(place);
  if (format.open == nullptr) {
    throw Error(ErrorCode::missing_data, "'" + place + "' contains sequences",
                "images with labels, which this task trains on",
                "name such a set, or choose a task for sequences, such as --task transformer");
  }
  return format.open(place, split, limit);
}

bool are_sequences(const std::string& place) {
  const Format& format = format_of(place);
  if (format.open == nullptr || format.open_sequences == nullptr)
    return format.open_sequences != nullptr;
  return has_sequences(*format.arrays(place));
}

std::unique_ptr<SequenceSet> open_sequences(const std::string& place, Split split,
                                            std::int64_t limit) {
  const Format& format = format_of(place);
  if (format.open_sequences == nullptr) {
    throw Error(
        ErrorCode::missing_data, "'" + place + "' contains images",
        "pairs of sequences, which this task trains on",
        "name such a set, for example sequences:2048x1x20x512, or choose a task for images");
  }
  return format.open_sequences(place, split, limit);
}

void check_splits(const Dataset& train, const Dataset& test, const std::string& place) {
  if (train.shape().channels == test.shape().channels) return;
  throw Error(ErrorCode::malformed_data,
              "'" + place + "': training images of " + to_string(train.shape()) +
                  ", test images of " + to_string(test.shape()),
              "the same number of channels in both splits",
              "make both splits from images of one kind");
}

}  // namespace hpcboot::data

#include "datasets/cifar_folder.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "datasets/cifar.hpp"
#include "datasets/cifar_binary.hpp"
#include "datasets/cifar_pickle.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::data {
namespace {

namespace fs = std::filesystem;

/// How a set is stored; the first form that a folder contains is read.
struct Form {
  std::string_view set;      ///< "CIFAR-10"
  std::string_view archive;  ///< the folder in its archive
  std::int64_t classes;
  bool is_binary;
};
constexpr Form kForms[] = {{"CIFAR-10", "cifar-10-batches-bin", 10, true},
                           {"CIFAR-100", "cifar-100-binary", 100, true},
                           {"CIFAR-10", "cifar-10-batches-py", 10, false},
                           {"CIFAR-100", "cifar-100-python", 100, false}};

constexpr std::string_view kBatch = "data_batch_";
constexpr std::size_t kMostReserved = std::size_t{1} << 30;

std::string file_name(const Form& form, Split split, int number) {
  std::string name;
  if (form.classes > kClasses) {
    name = split == Split::train ? "train" : "test";
  } else {
    name = split == Split::train ? std::string(kBatch) + std::to_string(number) : "test_batch";
  }
  return form.is_binary ? name + ".bin" : name;
}

/// The number in "data_batch_3" or "data_batch_3.bin"; 0 for other names.
int batch_number(std::string_view name, const Form& form) {
  if (name.substr(0, kBatch.size()) != kBatch) return 0;
  int number = 0;
  std::from_chars(name.data() + kBatch.size(), name.data() + name.size(), number);
  return number > 0 && name == file_name(form, Split::train, number) ? number : 0;
}

bool belongs_to(const Form& form, const std::string& name) {
  if (name == file_name(form, Split::test, 1)) return true;
  return form.classes > kClasses ? name == file_name(form, Split::train, 1)
                                 : batch_number(name, form) > 0;
}

/// The files of a set in one form and one folder.
struct Found {
  const Form* form = nullptr;
  std::string subfolder;  ///< empty: the folder itself
  std::set<std::string> names;
};

/// All files of a folder except its subfolders; none if it cannot be examined.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;  // a file that cannot be examined is reported when it is opened
    if (!entry->is_directory(ignored)) names.push_back(entry->path().filename().string());
  }
  return names;
}

std::vector<Found> sets_in(const fs::path& folder) {
  const std::vector<std::string> direct = names_in(folder);
  std::vector<Found> sets;
  for (const Form& form : kForms) {
    for (const std::string& subfolder : {std::string(), std::string(form.archive)}) {
      const auto names = subfolder.empty() ? direct : names_in(folder / subfolder);
      Found found{&form, subfolder, {}};
      std::copy_if(names.begin(), names.end(), std::inserter(found.names, found.names.end()),
                   [&](const std::string& name) { return belongs_to(form, name); });
      if (!found.names.empty()) sets.push_back(std::move(found));
    }
  }
  return sets;
}

/// The set to read: the first one, if there is no other.
Found choose(std::vector<Found> sets, const fs::path& folder) {
  if (sets.empty()) {
    throw Error(ErrorCode::missing_data, "no file of CIFAR in '" + folder.string() + "'",
                "a folder with the files of CIFAR-10 or CIFAR-100",
                cifar_remedy(folder, kClasses, /*is_binary=*/true));
  }
  for (const Found& other : sets) {
    if (other.form->classes == sets.front().form->classes) continue;
    throw Error(ErrorCode::missing_data,
                "'" + folder.string() + "' contains both CIFAR-10 and CIFAR-100",
                "a folder with the files of one of them",
                "name the folder of one of them, or move one of them to a folder of its own");
  }
  return std::move(sets.front());
}

/// The files of a split, in order.
std::vector<fs::path> files_of(const Found& found, const fs::path& folder, Split split) {
  const bool has_one = split == Split::test || found.form->classes > kClasses;
  int last = 1;
  if (!has_one) {
    for (const std::string& name : found.names)
      last = std::max(last, batch_number(name, *found.form));
  }
  std::vector<fs::path> files;
  for (int number = 1; number <= last; ++number) {
    const std::string name = file_name(*found.form, split, number);
    if (found.names.count(name) == 0) {
      const std::string first = file_name(*found.form, Split::train, 1);
      throw Error(ErrorCode::missing_data, "the folder '" + folder.string() + "' lacks " + name,
                  std::string(found.form->set) + "'s files, such as " + first +
                      (has_one ? "" : ", without gaps in their numbers,") + " and " +
                      file_name(*found.form, Split::test, 1),
                  cifar_remedy(folder, found.form->classes, found.form->is_binary));
    }
    files.push_back(folder / name);
  }
  return files;
}

}  // namespace

std::string cifar_binary_name(std::int64_t classes, Split split, int number) {
  return file_name(classes > kClasses ? kForms[1] : kForms[0], split, number);
}

std::vector<std::string> cifar_files_in(const fs::path& folder) {
  std::vector<std::string> files;
  for (const Found& found : sets_in(folder)) {
    for (const std::string& name : found.names)
      files.push_back((fs::path(found.subfolder) / name).string());
  }
  return files;
}

std::unique_ptr<Dataset> open_cifar(const fs::path& place, Split split, std::int64_t limit) {
  const Found found = choose(sets_in(place), place);
  const fs::path folder = found.subfolder.empty() ? place : place / found.subfolder;
  const std::int64_t most = limit > 0 ? limit : std::numeric_limits<std::int64_t>::max();
  const std::vector<fs::path> files = files_of(found, folder, split);
  CifarImages images;
  std::uint64_t bytes = 0;
  for (const fs::path& file : files) {
    std::error_code ignored;
    const std::uintmax_t size = fs::file_size(file, ignored);
    if (!ignored && size < kMostReserved) bytes += size;
  }
  const auto wanted = static_cast<std::uint64_t>(std::min<std::int64_t>(most, kMostReserved));
  images.pixels.reserve(std::min<std::uint64_t>(
      {bytes, wanted * kCifarImage, static_cast<std::uint64_t>(kMostReserved)}));
  for (const fs::path& file : files) {
    const std::int64_t left = most - static_cast<std::int64_t>(images.labels.size());
    if (left == 0) break;
    const auto read = found.form->is_binary ? read_cifar_binary : read_cifar_pickle;
    read(file, found.form->classes, left, images);
  }
  return std::make_unique<MemoryDataset>(kCifarShape, found.form->classes, std::move(images.pixels),
                                         std::move(images.labels));
}

}  // namespace hpcboot::data

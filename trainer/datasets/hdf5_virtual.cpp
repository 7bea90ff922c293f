#include "datasets/hdf5_virtual.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "datasets/hdf5_library.hpp"

namespace hpcboot::data {
namespace {

namespace fs = std::filesystem;

/// @param get one of HDF5's functions that copy a text of any length
template <typename Get>
std::string text_of(const Get& get) {
  const ssize_t length = get(nullptr, std::size_t{0});
  if (length <= 0) return "";
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  get(text.data(), text.size());
  text.pop_back();
  return text;
}

/// Where HDF5 looks for the file of a part, in this order.
std::vector<fs::path> places_of(const H5::DataSet& dataset, const std::string& name) {
  fs::path file(name);
  std::vector<fs::path> places;
  if (file.is_absolute()) {
    places.push_back(file);
    file = file.filename();
  }
  const hid_t access = H5Dget_access_plist(dataset.getId());
  const std::string prefixes =
      text_of([&](char* to, std::size_t size) { return H5Pget_virtual_prefix(access, to, size); });
  H5Pclose(access);
  for (std::size_t begin = 0; begin < prefixes.size();) {
    const std::size_t end = std::min(prefixes.find(':', begin), prefixes.size());
    places.push_back(prefixes.substr(begin, end - begin) / file);
    begin = end + 1;
  }
  const fs::path whole = dataset.getFileName();
  places.push_back(whole.parent_path() / file);
  places.push_back(file);
  std::error_code none;
  places.push_back(fs::canonical(whole, none).parent_path() / file);
  return places;
}

/// The file of a part; a file that is none would block HDF5 forever if it is a FIFO.
/// @param trouble why there is none
std::optional<H5::H5File> open_part(const H5::DataSet& dataset, const std::string& name,
                                    std::string& trouble) {
  trouble = "which does not exist";
  for (const fs::path& place : places_of(dataset, name)) {
    std::error_code none;
    const fs::file_status status = fs::status(place, none);
    if (!fs::exists(status) || fs::is_directory(status)) continue;
    if (!fs::is_regular_file(status)) {
      trouble = "which is not a regular file";
      return std::nullopt;
    }
    try {
      return H5::H5File(place.string(), H5F_ACC_RDONLY);
    } catch (const H5::Exception& failure) {
      trouble = "which cannot be opened; HDF5 reports '" + hdf5_reason(failure) + "'";
    }
  }
  return std::nullopt;
}

}  // namespace

std::string missing_part(const H5::DataSet& dataset) {
  const H5::DSetCreatPropList properties = dataset.getCreatePlist();
  if (properties.getLayout() != H5D_VIRTUAL) return "";
  std::size_t count = 0;
  if (H5Pget_virtual_count(properties.getId(), &count) < 0) return "";
  std::set<std::pair<std::string, std::string>> seen;  // an array may have many parts
  std::string opened;
  std::optional<H5::H5File> file;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = text_of([&](char* to, std::size_t size) {
      return H5Pget_virtual_filename(properties.getId(), i, to, size);
    });
    const std::string array = text_of([&](char* to, std::size_t size) {
      return H5Pget_virtual_dsetname(properties.getId(), i, to, size);
    });
    // "%b" stands for the numbers of any number of files or arrays: there is none to miss.
    if (name.find('%') != std::string::npos || array.find('%') != std::string::npos) continue;
    if (!seen.emplace(name, array).second) continue;
    const std::string part = "a part of it is in '" + name + "', ";
    if (name != opened) {
      std::string trouble;
      if (name == ".") {
        const hid_t itself = H5Iget_file_id(dataset.getId());
        file.emplace(itself);  // a second reference
        H5Fclose(itself);
      } else {
        file = open_part(dataset, name, trouble);
      }
      if (!file) return part + trouble;
      opened = name;
    }
    try {
      file->openDataSet(array);
    } catch (const H5::Exception&) {
      return part + "which has no array '" + array + "'";
    }
  }
  return "";
}

}  // namespace hpcboot::data

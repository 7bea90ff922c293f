#include "datasets/hdf5_data.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "datasets/data_file.hpp"
#include "datasets/hdf5_library.hpp"
#include "datasets/hdf5_virtual.hpp"
#include "datasets/in_child.hpp"
#include "datasets/sequence_set.hpp"

namespace hpcboot::data {
namespace {

constexpr std::size_t kChunkCache = std::size_t{256} << 20;
// A prime well above the number of chunks that fit, as HDF5's manual recommends.
constexpr std::size_t kChunkSlots = 1000003;
constexpr double kEvictReadChunksFirst = 1.0;

// HDF5 allows an array, or a part of one, that was never written: it takes no space in the file and
// is read as its fill value. Up to this many labels may be unwritten; more are damage, or a file
// that was never filled.
constexpr std::uint64_t kMostUnwritten = std::uint64_t{8} << 20;
// For data in other files, whose sizes are unknown. The number of bytes must not overflow.
constexpr std::uint64_t kMostElsewhere = std::uint64_t{1} << 40;

struct Element {
  std::string name;
  record::DType type = record::DType::u8;
  H5::DataType in_memory;
  bool readable = true;
};

/// Images are bytes or floats, labels any integer, which is read as int64. HDF5 converts shorter
/// floats to float32.
Element element_of(const H5::DataSet& dataset) {
  const H5T_class_t kind = dataset.getTypeClass();
  if (kind == H5T_INTEGER) {
    const H5::IntType type = dataset.getIntType();
    const bool is_unsigned = type.getSign() == H5T_SGN_NONE;
    const std::string name = (is_unsigned ? "uint" : "int") + std::to_string(8 * type.getSize());
    if (name == "uint8") return {name, record::DType::u8, H5::PredType::NATIVE_UINT8};
    return {name, record::DType::i64, H5::PredType::NATIVE_INT64};
  }
  if (kind == H5T_FLOAT) {
    const std::size_t size = dataset.getFloatType().getSize();
    const std::string name = "float" + std::to_string(8 * size);
    if (size == sizeof(double)) return {name, record::DType::f64, H5::PredType::NATIVE_DOUBLE};
    return {name, record::DType::f32, H5::PredType::NATIVE_FLOAT, size <= sizeof(float)};
  }
  const std::map<H5T_class_t, const char*> names = {
      {H5T_STRING, "string"}, {H5T_COMPOUND, "compound"}, {H5T_ENUM, "enum"},
      {H5T_VLEN, "vlen"},     {H5T_ARRAY, "array"},       {H5T_REFERENCE, "reference"}};
  const auto known = names.find(kind);
  return {known == names.end() ? "opaque" : known->second, record::DType::u8,
          H5::PredType::NATIVE_UINT8, false};
}

std::vector<std::int64_t> shape_of(const H5::DataSpace& space) {
  if (space.getSimpleExtentType() != H5S_SIMPLE) return {};
  std::vector<hsize_t> sizes(static_cast<std::size_t>(space.getSimpleExtentNdims()));
  space.getSimpleExtentDims(sizes.data());
  return {sizes.begin(), sizes.end()};
}

struct Layout {
  std::vector<std::int64_t> chunk;
  std::string filters;
  std::string missing_filter;  ///< one that this HDF5 library lacks
};

Layout layout_of(const H5::DataSet& dataset, std::size_t dimensions) {
  const H5::DSetCreatPropList properties = dataset.getCreatePlist();
  Layout layout;
  if (properties.getLayout() != H5D_CHUNKED) return layout;
  std::vector<hsize_t> chunk(dimensions);
  properties.getChunk(static_cast<int>(dimensions), chunk.data());
  layout.chunk.assign(chunk.begin(), chunk.end());
  for (int i = 0; i < properties.getNfilters(); ++i) {
    unsigned flags = 0;
    unsigned details = 0;
    std::array<unsigned, 8> values{};
    std::size_t value_count = values.size();
    std::array<char, 64> name{};
    const H5Z_filter_t filter = properties.getFilter(i, flags, value_count, values.data(),
                                                     name.size() - 1, name.data(), details);
    std::string text = name.data();
    if (filter == H5Z_FILTER_DEFLATE) text = "gzip " + std::to_string(values[0]);
    if (text.empty()) text = "filter " + std::to_string(filter);
    if (H5Zfilter_avail(filter) <= 0) layout.missing_filter = text;
    layout.filters += (layout.filters.empty() ? "" : ", ") + text;
  }
  return layout;
}

/// The most elements that can be read from an array.
std::uint64_t most_elements_of(const H5::DataSet& dataset) {
  const H5::DSetCreatPropList properties = dataset.getCreatePlist();
  if (properties.getLayout() == H5D_VIRTUAL || properties.getExternalCount() > 0)
    return kMostElsewhere;
  hsize_t file_size = 0;  // of the target file if the array is behind a link
  const hid_t file = H5Iget_file_id(dataset.getId());
  const bool has_size = H5Fget_filesize(file, &file_size) >= 0;
  H5Fclose(file);
  if (!has_size) throw H5::DataSetIException("most_elements_of", "H5Fget_filesize failed");
  // A damaged layout may claim more than exists.
  const std::uint64_t stored = std::min<std::uint64_t>(dataset.getStorageSize(), file_size);
  const std::uint64_t element = std::max<std::uint64_t>(dataset.getDataType().getSize(), 1);
  return std::max(stored * kDeflateRatio / element, kMostUnwritten);
}

class Hdf5File : public ArrayFile {
 public:
  explicit Hdf5File(const std::filesystem::path& path);
  ~Hdf5File() override;
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;
  void read(const ArrayInfo& array, const std::vector<RowRun>& runs, void* out) const override;

 private:
  struct Opened {
    H5::DataSet dataset;
    Element element;
    std::string missing_filter;
  };
  void open_all();
  void add_behind_links(const std::string& name);
  void add(const std::string& name);
  void describe(const H5::DataSet& dataset, Opened& opened, ArrayInfo& array) const;
  void add_trouble(const std::string& name, const std::string& trouble);

  std::optional<H5::H5File> file_;
  std::map<std::string, Opened> opened_;
};

/// Whether an external link names something other than a regular file; HDF5 searches for it beside
/// the file that contains the link, and in the working directory.
bool leads_to_no_file(hid_t file, const std::string& link, const std::filesystem::path& folder) {
  H5L_info_t info{};
  if (H5Lget_info(file, link.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_EXTERNAL)
    return false;
  std::vector<char> value(info.u.val_size + 1);
  const char* target = nullptr;
  const char* object = nullptr;
  unsigned flags = 0;
  if (H5Lget_val(file, link.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0 ||
      H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &target, &object) < 0) {
    return true;
  }
  for (const std::filesystem::path& place : {std::filesystem::path(target), folder / target,
                                             folder / std::filesystem::path(target).filename()}) {
    std::error_code none;
    const auto status = std::filesystem::status(place, none);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return true;
  }
  return false;
}

Hdf5File::Hdf5File(const std::filesystem::path& path) : ArrayFile(path, "HDF5") {
  const Hdf5Section section;
  try {
    file_.emplace(path.string(), H5F_ACC_RDONLY);
    open_all();
  } catch (const H5::Exception& failure) {
    const std::string reason = hdf5_reason(failure);
    opened_.clear();  // inside the section: this object's members are destroyed outside it
    file_.reset();
    if (reason.find("lock file") != std::string::npos) {
      throw Error(ErrorCode::unreadable_file,
                  "'" + path.string() + "': HDF5 reports '" + reason + "'",
                  "a file that no other program has open for writing, on a file system with locks",
                  "wait for the writer, or set HDF5_USE_FILE_LOCKING=FALSE if the file system has "
                  "no locks");
    }
    throw Error(ErrorCode::malformed_data, "'" + path.string() + "': HDF5 reports '" + reason + "'",
                "a complete HDF5 file",
                "copy the file again, or recreate it, for example with `trainer convert`");
  }
}

Hdf5File::~Hdf5File() {
  const Hdf5Section section;
  opened_.clear();
  file_.reset();
}

void Hdf5File::open_all() {
  std::vector<std::string> names;
  file_->visit(
      H5_INDEX_NAME, H5_ITER_INC,
      // NOLINTNEXTLINE(performance-unnecessary-value-param): required by visit_operator_t
      [](H5::H5Object&, const H5std_string name, const H5O_info_t* info, void* list) {
        if (info->type == H5O_TYPE_DATASET) {
          static_cast<std::vector<std::string>*>(list)->push_back(name);
        }
        return 0;
      },
      &names, H5O_INFO_BASIC);
  for (const std::string& name : names) add(name);
  // visit() reports each object once, under one of its names, and follows neither soft links nor
  // links to other files.
  for (const std::string& name : set_array_names()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) add_behind_links(name);
  }
}

void Hdf5File::add_behind_links(const std::string& name) {
  for (std::size_t end = name.find('/');; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    if (H5Lexists(file_->getId(), part.c_str(), H5P_DEFAULT) <= 0) return;
    // HDF5 opens the target of an external link; a FIFO would block it forever.
    if (leads_to_no_file(file_->getId(), part, path().parent_path())) {
      return add_trouble(name, "the target of the link '" + part + "' is not a regular file");
    }
    if (H5Oexists_by_name(file_->getId(), part.c_str(), H5P_DEFAULT) <= 0) {
      return add_trouble(name, "the link '" + part + "' does not resolve");
    }
    if (end == std::string::npos) break;
  }
  if (file_->childObjType(name) == H5O_TYPE_DATASET) add(name);
}

/// Whether it is one of the arrays of a data set.
bool is_of_set(const std::string& name) {
  const std::vector<std::string> names = set_array_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

void Hdf5File::add(const std::string& name) {
  // Must outlive the error handling: closing this list clears HDF5's record of why the dataset
  // could not be opened.
  H5::DSetAccPropList access;
  // Only for what is read batch by batch: the slots of a cache alone take 8 MB, and a small file
  // may have ten thousand datasets. Labels are read once.
  const bool are_labels =
      name == labels_array_name(Split::train) || name == labels_array_name(Split::test);
  if (is_of_set(name) && !are_labels)
    access.setChunkCache(kChunkSlots, kChunkCache, kEvictReadChunksFirst);
  Opened opened;
  ArrayInfo array;
  array.name = name;
  try {
    opened.dataset = file_->openDataSet(name, access);
    describe(opened.dataset, opened, array);
    const std::string trouble = missing_part(opened.dataset);
    if (!trouble.empty()) return add_trouble(name, trouble);
  } catch (const H5::Exception& failure) {
    // The other arrays may be all that is needed.
    return add_trouble(name, "cannot be opened; HDF5 reports '" + hdf5_reason(failure) + "'");
  }
  arrays_.push_back(std::move(array));
  if (is_of_set(name)) opened_.emplace(name, std::move(opened));
}

void Hdf5File::describe(const H5::DataSet& dataset, Opened& opened, ArrayInfo& array) const {
  opened.element = element_of(dataset);
  array.type = opened.element.type;
  array.type_name = opened.element.name;
  array.readable = opened.element.readable;
  array.shape = shape_of(dataset.getSpace());
  array.most_elements = most_elements_of(dataset);
  Layout layout = layout_of(dataset, array.shape.size());
  array.chunk = std::move(layout.chunk);
  array.filters = std::move(layout.filters);
  opened.missing_filter = std::move(layout.missing_filter);
}

void Hdf5File::add_trouble(const std::string& name, const std::string& trouble) {
  ArrayInfo array;
  array.name = name;
  array.readable = false;
  array.type_name = "unreadable";
  array.trouble = trouble;
  arrays_.push_back(std::move(array));
}

/// Selects these runs in an array of these dimensions.
H5::DataSpace selection(const ArrayInfo& array, const std::vector<RowRun>& runs) {
  std::vector<hsize_t> sizes(array.shape.begin(), array.shape.end());
  H5::DataSpace space(static_cast<int>(sizes.size()), sizes.data());
  std::vector<hsize_t> start(sizes.size(), 0);
  H5S_seloper_t how = H5S_SELECT_SET;
  for (const RowRun& run : runs) {
    start[0] = static_cast<hsize_t>(run.first);
    sizes[0] = static_cast<hsize_t>(run.count);
    space.selectHyperslab(how, sizes.data(), start.data());
    how = H5S_SELECT_OR;
  }
  return space;
}

void Hdf5File::read(const ArrayInfo& array, const std::vector<RowRun>& runs, void* out) const {
  const Opened& opened = opened_.at(array.name);
  if (!opened.missing_filter.empty()) {
    throw malformed(array, "stored with " + array.filters,
                    "filters that this HDF5 library has; it lacks '" + opened.missing_filter + "'",
                    "write a copy with gzip where that filter is installed: `h5repack -f GZIP=4 "
                    "FILE COPY`; or, for h5py's lzf, create_dataset(…, compression=\"gzip\") in "
                    "Python");
  }
  std::vector<hsize_t> sizes(array.shape.begin(), array.shape.end());
  sizes[0] = 0;
  for (const RowRun& run : runs) sizes[0] += static_cast<hsize_t>(run.count);
  const Hdf5Section section;
  std::string reason;
  try {
    const H5::DataSpace memory(static_cast<int>(sizes.size()), sizes.data());
    const H5::DataSpace chosen = selection(array, runs);
    try {
      opened.dataset.read(out, opened.element.in_memory, memory, chosen);
    } catch (const H5::Exception& failure) {
      reason = hdf5_reason(failure);  // before closing the two above clears it
      throw;
    }
  } catch (const H5::Exception& failure) {
    throw malformed(array,
                    "rows " + std::to_string(runs.front().first) + " to " +
                        std::to_string(runs.back().first + runs.back().count - 1) +
                        " cannot be read; HDF5 reports '" +
                        (reason.empty() ? failure.getDetailMsg() : reason) + "'",
                    "readable data");
  }
}

/// Reads everything that precedes the pixels, and two images or sequences of each split.
void try_out(const std::filesystem::path& path) {
  const auto file = std::make_shared<Hdf5File>(path);
  for (const Split split : {Split::train, Split::test}) {
    try {
      if (has_sequences(*file)) {
        const auto set = open_sequence_split(file, split, 0);
        std::vector<std::uint8_t> source(set->source().bytes());
        std::vector<std::uint8_t> target(set->target().bytes());
        for (const std::int64_t index : {std::int64_t{0}, set->count() - 1})
          set->read(&index, 1, source.data(), target.data());
        continue;
      }
      const auto set = open_split(file, split, 0);
      std::vector<std::uint8_t> pixels(set->image_bytes());
      for (const std::int64_t index : {std::int64_t{0}, set->count() - 1}) {
        std::uint8_t label = 0;
        set->read(&index, 1, pixels.data(), &label);
      }
    } catch (const Error&) {
      continue;  // the other split may be all that is needed
    }
  }
}

}  // namespace

std::shared_ptr<const ArrayFile> open_hdf5(const std::filesystem::path& path) {
  constexpr std::chrono::seconds kLimit{300};
  std::string trouble;
  {
    const Hdf5Section section;  // no other thread is inside HDF5
    trouble = trouble_in_child(
        [&] {
          Hdf5Section::is_alone = true;
          try_out(path);
        },
        kLimit);
  }
  if (!trouble.empty()) {
    throw Error(ErrorCode::malformed_data,
                "'" + path.string() + "': the HDF5 library fails on it: " + trouble,
                "a complete HDF5 file",
                "recreate it with `trainer convert`, and use files from sources that you trust");
  }
  return std::make_shared<Hdf5File>(path);
}

}  // namespace hpcboot::data

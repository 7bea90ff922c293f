#include <algorithm>
#include <string>
#include <vector>

#include "datasets/hdf5_data.hpp"
#include "datasets/hdf5_library.hpp"
#include "datasets/image_blocks.hpp"
#include "hpcboot/error.hpp"
#include "record/atomic_file.hpp"

namespace hpcboot::data {
namespace {

// Large enough to compress well, small enough that one image of a shuffled batch costs little.
constexpr std::int64_t kChunkBytes = std::int64_t{64} << 10;

/// The dataset of images or labels of a split; `row` is the shape of one element.
H5::DataSet create(const H5::Group& group, const char* name, const H5::PredType& type,
                   std::int64_t count, const std::vector<hsize_t>& row, std::int64_t row_bytes,
                   const Hdf5Storage& storage) {
  std::vector<hsize_t> sizes = {static_cast<hsize_t>(count)};
  sizes.insert(sizes.end(), row.begin(), row.end());
  const H5::DataSpace space(static_cast<int>(sizes.size()), sizes.data());
  H5::DSetCreatPropList how;
  if (storage.chunk > 0 || storage.compress > 0) {
    const std::int64_t rows =
        storage.chunk > 0 ? storage.chunk : std::max<std::int64_t>(1, kChunkBytes / row_bytes);
    sizes[0] = static_cast<hsize_t>(std::min(rows, count));
    how.setChunk(static_cast<int>(sizes.size()), sizes.data());
    if (storage.compress > 0) how.setDeflate(storage.compress);
    how.setFletcher32();
  }
  return group.createDataSet(name, type, space, how);
}

void write_rows(const H5::DataSet& dataset, const H5::PredType& type, std::int64_t first,
                std::int64_t number, const void* rows) {
  H5::DataSpace chosen = dataset.getSpace();
  std::vector<hsize_t> sizes(static_cast<std::size_t>(chosen.getSimpleExtentNdims()));
  chosen.getSimpleExtentDims(sizes.data());
  std::vector<hsize_t> start(sizes.size(), 0);
  start[0] = static_cast<hsize_t>(first);
  sizes[0] = static_cast<hsize_t>(number);
  chosen.selectHyperslab(H5S_SELECT_SET, sizes.data(), start.data());
  dataset.write(rows, type, H5::DataSpace(static_cast<int>(sizes.size()), sizes.data()), chosen);
}

void write_split(H5::H5File& file, const char* group_name, const Dataset& set,
                 const Hdf5Storage& storage, const std::function<void(std::int64_t)>& progress) {
  const ImageShape& shape = set.shape();
  const bool bytes = set.pixel_type() == PixelType::u8;
  const H5::PredType& stored = bytes ? H5::PredType::STD_U8LE : H5::PredType::IEEE_F32LE;
  const H5::PredType& held = bytes ? H5::PredType::NATIVE_UINT8 : H5::PredType::NATIVE_FLOAT;
  const H5::Group group = file.createGroup(group_name);
  const std::vector<hsize_t> row = {static_cast<hsize_t>(shape.channels),
                                    static_cast<hsize_t>(shape.rows),
                                    static_cast<hsize_t>(shape.cols)};
  const H5::DataSet images = create(group, "images", stored, set.count(), row,
                                    static_cast<std::int64_t>(set.image_bytes()), storage);
  const H5::DataSet labels =
      create(group, "labels", H5::PredType::STD_I64LE, set.count(), {}, sizeof(std::int64_t), {});
  for_each_block(set, storage.chunk, [&](const ImageBlock& block) {
    write_rows(images, held, block.first, block.count, block.pixels);
    write_rows(labels, H5::PredType::NATIVE_INT64, block.first, block.count, block.labels);
    progress(block.count);
  });
}

H5::PredType stored_type(record::DType type) {
  return type == record::DType::f64 ? H5::PredType::IEEE_F64LE : H5::PredType::IEEE_F32LE;
}

H5::PredType held_type(record::DType type) {
  return type == record::DType::f64 ? H5::PredType::NATIVE_DOUBLE : H5::PredType::NATIVE_FLOAT;
}

void write_array(H5::H5File& file, const ArraySource& array, const Hdf5Storage& storage,
                 const std::function<void(std::int64_t)>& progress) {
  const std::string group = array.name.substr(0, array.name.find('/'));
  if (H5Lexists(file.getId(), group.c_str(), H5P_DEFAULT) <= 0) file.createGroup(group);
  const std::vector<hsize_t> row(array.shape.begin() + 1, array.shape.end());
  const H5::DataSet dataset = create(
      file.openGroup(group), array.name.substr(group.size() + 1).c_str(), stored_type(array.type),
      array.shape[0], row, static_cast<std::int64_t>(array.row_bytes()), storage);
  for_each_rows(array, storage.chunk,
                [&](std::int64_t first, std::int64_t count, const std::uint8_t* rows) {
                  write_rows(dataset, held_type(array.type), first, count, rows);
                  progress(count);
                });
}

/// @param fill writes the file's contents
template <typename Fill>
void write_file(const std::filesystem::path& path, const Fill& fill) {
  const Hdf5Section section;
  record::AtomicFile complete(path);
  try {
    // File formats before 1.10 have no checksums on the metadata.
    H5::FileAccPropList access;
    access.setLibverBounds(H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5::H5File file(complete.temporary().string(), H5F_ACC_TRUNC, H5::FileCreatPropList::DEFAULT,
                    access);
    fill(file);
    file.close();
  } catch (const H5::Exception& failure) {
    throw Error(ErrorCode::unwritable_output,
                "'" + path.string() + "': HDF5 reports '" + hdf5_reason(failure) + "'",
                "a place with enough free disk space for the file",
                "free up disk space, or choose another place");
  }
  complete.commit();
}

}  // namespace

void write_hdf5(const std::filesystem::path& path, const Dataset& train, const Dataset& test,
                const Hdf5Storage& storage, const std::function<void(std::int64_t)>& progress) {
  write_file(path, [&](H5::H5File& file) {
    write_split(file, "train", train, storage, progress);
    write_split(file, "test", test, storage, progress);
  });
}

void write_hdf5(const std::filesystem::path& path, const std::vector<ArraySource>& arrays,
                const Hdf5Storage& storage, const std::function<void(std::int64_t)>& progress) {
  for (const ArraySource& array : arrays) {
    if (array.type == record::DType::f32 || array.type == record::DType::f64) continue;
    throw Error(ErrorCode::invalid_model_use,
                "'" + array.name + "' of type " + type_name_of(array.type) + " for HDF5",
                "float32 or float64", "write safetensors or .pt instead");
  }
  write_file(path, [&](H5::H5File& file) {
    for (const ArraySource& array : arrays) write_array(file, array, storage, progress);
  });
}

}  // namespace hpcboot::data

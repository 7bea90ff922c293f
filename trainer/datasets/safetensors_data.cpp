#include "datasets/safetensors_data.hpp"

#include <algorithm>
#include <utility>

#include "datasets/image_blocks.hpp"
#include "record/sharded_safetensors.hpp"

namespace hpcboot::data {
namespace {

/// Damage in a data file has the exit code of data, whichever reader finds it.
template <typename Action>
auto as_data(Action action) {
  try {
    return action();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::malformed_file) throw;
    throw Error(ErrorCode::malformed_data, error.found(), error.expected(), error.remedy());
  }
}

ArrayInfo array_of(const record::TensorInfo& tensor) {
  ArrayInfo array;
  array.name = tensor.name;
  array.type = tensor.dtype;
  array.readable = tensor.other_dtype.empty();
  array.type_name = array.readable ? type_name_of(tensor.dtype) : tensor.other_dtype;
  array.shape = tensor.shape;
  return array;
}

class SafetensorsArrays : public ArrayFile {
 public:
  explicit SafetensorsArrays(const std::filesystem::path& path)
      : ArrayFile(path, "safetensors"),
        file_(as_data([&] { return record::SafetensorsFile(path, record::DTypesTaken::any); })) {
    for (const record::TensorInfo& tensor : file_.tensors()) arrays_.push_back(array_of(tensor));
  }

  void read(const ArrayInfo& array, const std::vector<RowRun>& runs, void* out) const override {
    const auto& tensors = file_.tensors();
    const auto tensor =
        std::find_if(tensors.begin(), tensors.end(),
                     [&](const record::TensorInfo& one) { return one.name == array.name; });
    const std::uint64_t row =
        (tensor->end - tensor->begin) / static_cast<std::uint64_t>(array.shape[0]);
    auto* next = static_cast<std::uint8_t*>(out);
    for (const RowRun& run : runs) {
      const std::uint64_t bytes = row * static_cast<std::uint64_t>(run.count);
      as_data([&] {
        file_.read_part(*tensor, row * static_cast<std::uint64_t>(run.first), bytes, next);
      });
      next += bytes;
    }
  }

 private:
  record::SafetensorsFile file_;
};

}  // namespace

std::shared_ptr<const ArrayFile> open_safetensors(const std::filesystem::path& path) {
  return std::make_shared<SafetensorsArrays>(path);
}

std::vector<ArrayInfo> tensors_of_model(const std::filesystem::path& folder) {
  return as_data([&] {
    const record::ShardedSafetensors model(folder, record::kModelStem, record::DTypesTaken::any);
    std::vector<ArrayInfo> arrays;
    for (const auto& [name, tensor] : model.tensors()) arrays.push_back(array_of(tensor));
    return arrays;
  });
}

void write_safetensors_data(const std::filesystem::path& path, const Dataset& train,
                            const Dataset& test,
                            const std::function<void(std::int64_t)>& progress) {
  const WholeSet wholes[] = {read_whole(train, progress), read_whole(test, progress)};
  std::vector<record::TensorView> tensors;
  const auto add = [&](Split split, const Dataset& set, const WholeSet& whole) {
    const ImageShape& shape = set.shape();
    const bool bytes = set.pixel_type() == PixelType::u8;
    tensors.push_back({images_array_name(split),
                       bytes ? record::DType::u8 : record::DType::f32,
                       {set.count(), shape.channels, shape.rows, shape.cols},
                       whole.pixels.data(),
                       whole.pixels.size()});
    tensors.push_back({labels_array_name(split),
                       record::DType::i64,
                       {set.count()},
                       whole.labels.data(),
                       whole.labels.size() * sizeof(std::int64_t)});
  };
  add(Split::train, train, wholes[0]);
  add(Split::test, test, wholes[1]);
  record::write_safetensors(path, std::move(tensors));
}

void write_safetensors_data(const std::filesystem::path& path,
                            const std::vector<ArraySource>& arrays,
                            const std::function<void(std::int64_t)>& progress) {
  std::vector<std::vector<std::uint8_t>> wholes;
  std::vector<record::TensorView> tensors;
  for (const ArraySource& array : arrays) {
    wholes.push_back(read_whole(array, progress));
    tensors.push_back(
        {array.name, array.type, array.shape, wholes.back().data(), wholes.back().size()});
  }
  record::write_safetensors(path, std::move(tensors));
}

}  // namespace hpcboot::data

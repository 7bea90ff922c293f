#include "datasets/pt_data.hpp"

#include <ATen/core/Dict.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/pickler.h>
#include <torch/csrc/jit/serialization/unpickler.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "datasets/image_blocks.hpp"
#include "datasets/pickle_check.hpp"
#include "datasets/zip_directory.hpp"
#include "hpcboot/error.hpp"
#include "record/atomic_file.hpp"

namespace hpcboot::data {
namespace {

using record::DType;

constexpr int kMaxDepth = 8;

constexpr std::pair<at::ScalarType, DType> kTypes[] = {
    {at::kBool, DType::boolean}, {at::kByte, DType::u8},   {at::kChar, DType::i8},
    {at::kShort, DType::i16},    {at::kHalf, DType::f16},  {at::kBFloat16, DType::bf16},
    {at::kInt, DType::i32},      {at::kFloat, DType::f32}, {at::kDouble, DType::f64},
    {at::kLong, DType::i64}};

std::optional<DType> dtype_of(at::ScalarType type) {
  for (const auto& [torch_type, ours] : kTypes) {
    if (torch_type == type) return ours;
  }
  return std::nullopt;
}

using RecordSizes = std::map<const void*, std::size_t>;
using Record = std::shared_ptr<const at::DataPtr>;

/// The bytes of a record, which exist until its last storage is gone.
at::DataPtr share(const Record& record) {
  return {record->get(), new Record(record),
          [](void* owner) { delete static_cast<Record*>(owner); }, at::Device(at::kCPU)};
}

/// LibTorch trusts a file's sizes and strides. This rejects elements outside the storage, and
/// repeated elements (a stride of 0), of which a small file may claim any number.
/// @param sizes of the records that were read, by the address of their bytes
bool lies_in_its_storage(const at::Tensor& tensor, const RecordSizes& sizes) {
  if (!tensor.defined() || tensor.layout() != at::kStrided) return false;
  // A storage reports the size that the pickle claims.
  const auto record = sizes.find(tensor.storage().data_ptr().get());
  const std::size_t bytes =
      std::min(tensor.storage().nbytes(), record == sizes.end() ? 0 : record->second);
  const auto room = static_cast<std::int64_t>(bytes / tensor.itemsize());
  std::int64_t elements = 1;
  std::int64_t last = tensor.storage_offset();
  if (last < 0) return false;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) < 0 || tensor.stride(i) < 0) return false;
    if (tensor.size(i) == 0) return true;
    std::int64_t step = 0;
    if (__builtin_mul_overflow(elements, tensor.size(i), &elements) ||
        __builtin_mul_overflow(tensor.size(i) - 1, tensor.stride(i), &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return false;
    }
  }
  return last < room && elements <= room;
}

class PtFile : public ArrayFile {
 public:
  explicit PtFile(const std::filesystem::path& path);
  void read(const ArrayInfo& array, const std::vector<RowRun>& runs, void* out) const override;

 private:
  void add_dict(const c10::IValue& dict, const std::string& prefix, int depth);
  void add_tensor(const std::string& name, const at::Tensor& tensor);

  RecordSizes sizes_;
  std::vector<at::Tensor> tensors_;  ///< as arrays_
};

void require_readable(const std::filesystem::path& path) {
  std::error_code none;
  const bool is_file = std::filesystem::is_regular_file(path, none);
  if (!is_file || !std::ifstream(path, std::ios::binary)) {
    throw Error(ErrorCode::unreadable_file, "cannot read '" + path.string() + "'",
                "a file written by torch.save()", "check the path and its permissions");
  }
}

Error malformed_file(const std::filesystem::path& path, const std::string& found) {
  return Error(
      ErrorCode::malformed_data, "'" + path.string() + "': " + found,
      "a complete file with a dict of tensors, written by torch.save() of PyTorch 1.6 or later",
      "recreate the file, for example with `trainer convert`");
}

/// A file of torch.save() before PyTorch 1.6 begins with a pickle of this number.
bool is_of_old_format(std::istream& stream) {
  using namespace std::string_view_literals;
  constexpr std::string_view kBegin = "\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19."sv;
  std::string begin(kBegin.size(), '\0');
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kBegin;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// As torch::pickle_load(), but it collects the sizes of the records that it reads, checks the
/// objects first, and reads each record once: a pickle may name one again in every 13 bytes.
c10::IValue load(const std::filesystem::path& path, PickleCheck& check, RecordSizes& sizes) {
  std::ifstream stream(path, std::ios::binary);
  check.damage = trouble_in_archive(stream);
  if (!check.damage.empty()) return {};
  stream.clear();
  caffe2::serialize::PyTorchStreamReader archive(&stream);
  const auto [pickle, size] = archive.getRecord("data.pkl");
  const std::string_view text(static_cast<const char*>(pickle.get()), size);
  check = check_pickle(text);
  if (!check.damage.empty()) return {};
  std::size_t at = 0;
  const auto read_text = [&](char* to, std::size_t wanted) {
    const std::size_t count = std::min(wanted, text.size() - at);
    std::memcpy(to, text.data() + at, count);
    at += count;
    return count;
  };
  std::map<std::size_t, Record> records;  // by their places: one may have several names
  const auto read_record = [&](const std::string& name) {
    Record& record = records[archive.getRecordOffset("data/" + name)];
    if (!record) {
      auto [data, bytes] = archive.getRecord("data/" + name);
      sizes[data.get()] = bytes;
      record = std::make_shared<const at::DataPtr>(std::move(data));
    }
    return share(record);
  };
  // LibTorch parses type names by recursion.
  const auto type_of = [](const std::string& name) {
    constexpr std::size_t kLongest = 500;
    if (name.size() > kLongest) throw std::length_error("the name of a type is too long");
    return torch::jit::Unpickler::defaultTypeParser(name);
  };
  torch::jit::Unpickler unpickler(read_text, nullptr, nullptr, read_record, at::Device(at::kCPU),
                                  false, type_of);
  return unpickler.parse_ivalue();
}

PtFile::PtFile(const std::filesystem::path& path) : ArrayFile(path, "PyTorch") {
  require_readable(path);
  if (std::ifstream stream(path, std::ios::binary); is_of_old_format(stream)) {
    throw Error(ErrorCode::malformed_data,
                "'" + path.string() + "' has the format of PyTorch before 1.6",
                "a file written by torch.save() of PyTorch 1.6 or later",
                "save it again in Python: torch.save(torch.load(FILE), FILE)");
  }
  PickleCheck check;
  c10::IValue value;
  std::string failed;
  try {
    value = load(path, check, sizes_);
  } catch (const c10::Error& failure) {
    failed = first_line(failure.what_without_backtrace());
  } catch (const std::exception& failure) {
    failed = first_line(failure.what());
  }
  constexpr int kProtocol = 2;
  if (check.protocol > kProtocol) {
    throw Error(
        ErrorCode::malformed_data,
        "'" + path.string() + "' has a pickle of protocol " + std::to_string(check.protocol),
        "protocol 2, the default of torch.save()",
        "save it again in Python, without pickle_protocol");
  }
  if (!check.damage.empty()) throw malformed_file(path, check.damage);
  if (!failed.empty() && check.fills_ordered_dict) {
    throw Error(
        ErrorCode::malformed_data,
        "'" + path.string() + "' contains an OrderedDict, such as a state_dict()",
        "tensors in plain dicts, the only kind that LibTorch reads",
        "save it again in Python: torch.save(dict(x), FILE) instead of torch.save(x, FILE)");
  }
  if (!failed.empty() && !check.foreign.empty()) {
    throw Error(
        ErrorCode::malformed_data,
        "'" + path.string() + "' contains " + check.foreign + "; LibTorch reports '" + failed + "'",
        "tensors, numbers and texts in plain dicts",
        "save tensors only, in Python: torch.save({\"train/images\": torch.as_tensor(x).detach(), "
        "…}, "
        "FILE)");
  }
  if (!failed.empty()) throw malformed_file(path, "LibTorch reports '" + failed + "'");
  if (!value.isGenericDict()) throw malformed_file(path, "a " + value.tagKind());
  add_dict(value, "", 0);
}

void PtFile::add_dict(const c10::IValue& dict, const std::string& prefix, int depth) {
  // A pickled dict may contain itself.
  if (depth == kMaxDepth) throw malformed_file(path(), "dicts nested more than 8 deep");
  for (const auto& entry : dict.toGenericDict()) {
    if (!entry.key().isString()) continue;
    const std::string name = prefix + entry.key().toStringRef();
    if (entry.value().isGenericDict()) add_dict(entry.value(), name + "/", depth + 1);
    if (entry.value().isTensor()) add_tensor(name, entry.value().toTensor());
  }
}

void PtFile::add_tensor(const std::string& name, const at::Tensor& tensor) {
  if (!lies_in_its_storage(tensor, sizes_)) {
    throw malformed_file(path(), "tensor '" + name + "' is larger than its data, or sparse");
  }
  const std::optional<DType> type = dtype_of(tensor.scalar_type());
  ArrayInfo array;
  array.name = name;
  array.readable = type.has_value();
  array.type = type.value_or(DType::u8);
  array.type_name = type ? type_name_of(*type) : c10::toString(tensor.scalar_type());
  array.shape = tensor.sizes().vec();
  arrays_.push_back(std::move(array));
  tensors_.push_back(tensor.detach().cpu());
}

void PtFile::read(const ArrayInfo& array, const std::vector<RowRun>& runs, void* out) const {
  const at::Tensor& tensor = tensors_[static_cast<std::size_t>(&array - arrays_.data())];
  const std::size_t row = tensor.nbytes() / static_cast<std::size_t>(array.shape[0]);
  const bool is_contiguous = tensor.is_contiguous();
  const auto* const from = static_cast<const std::uint8_t*>(tensor.data_ptr());
  auto* next = static_cast<std::uint8_t*>(out);
  for (const RowRun& run : runs) {
    const std::size_t bytes = row * static_cast<std::size_t>(run.count);
    if (is_contiguous) {
      std::memcpy(next, from + row * static_cast<std::size_t>(run.first), bytes);
    } else {  // a small file may have many views of one storage: none is copied as a whole
      const at::Tensor rows = tensor.narrow(0, run.first, run.count);
      at::from_blob(next, rows.sizes(), rows.options()).copy_(rows);
    }
    next += bytes;
  }
}

/// As torch::pickle_save(), but directly into the file, and without the types of TorchScript, which
/// Python's torch.load(weights_only=True), the default of newer versions, rejects.
void write_dict(const std::filesystem::path& path, const c10::IValue& dict) {
  std::vector<char> pickled;
  torch::jit::Pickler pickler(
      [&](const char* data, std::size_t size) { pickled.insert(pickled.end(), data, data + size); },
      nullptr, nullptr, nullptr, nullptr, false);
  pickler.protocol();
  pickler.pushIValue(dict);
  pickler.stop();
  record::AtomicFile file(path);
  caffe2::serialize::PyTorchStreamWriter archive([&](const void* data, std::size_t size) {
    file.write(data, size);
    return size;
  });
  archive.writeRecord("data.pkl", pickled.data(), pickled.size());
  for (std::size_t i = 0; i < pickler.tensorData().size(); ++i) {
    const at::Tensor& tensor = pickler.tensorData()[i];
    archive.writeRecord("data/" + std::to_string(i), tensor.data_ptr(), tensor.nbytes());
  }
  archive.writeEndOfFile();
  file.commit();
}

}  // namespace

std::shared_ptr<const ArrayFile> open_pt(const std::filesystem::path& path) {
  return std::make_shared<PtFile>(path);
}

void write_pt(const std::filesystem::path& path, const Dataset& train, const Dataset& test,
              const std::function<void(std::int64_t)>& progress) {
  WholeSet wholes[] = {read_whole(train, progress), read_whole(test, progress)};
  c10::Dict<std::string, at::Tensor> dict;
  const auto add = [&](Split split, const Dataset& set, WholeSet& whole) {
    const ImageShape& shape = set.shape();
    const at::ScalarType type = set.pixel_type() == PixelType::u8 ? at::kByte : at::kFloat;
    dict.insert(images_array_name(split),
                at::from_blob(whole.pixels.data(),
                              {set.count(), shape.channels, shape.rows, shape.cols}, type));
    dict.insert(labels_array_name(split),
                at::from_blob(whole.labels.data(), {set.count()}, at::kLong));
  };
  add(Split::train, train, wholes[0]);
  add(Split::test, test, wholes[1]);
  write_dict(path, dict);
}

void write_pt(const std::filesystem::path& path, const std::vector<ArraySource>& arrays,
              const std::function<void(std::int64_t)>& progress) {
  std::vector<std::vector<std::uint8_t>> wholes;
  c10::Dict<std::string, at::Tensor> dict;
  for (const ArraySource& array : arrays) {
    wholes.push_back(read_whole(array, progress));
    const auto* const type =
        std::find_if(std::begin(kTypes), std::end(kTypes),
                     [&](const auto& pair) { return pair.second == array.type; });
    dict.insert(array.name, at::from_blob(wholes.back().data(), array.shape, type->first));
  }
  write_dict(path, dict);
}

}  // namespace hpcboot::data

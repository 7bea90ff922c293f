#include "record/safetensors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "hpcboot/error.hpp"
#include "json/bounded_json.hpp"
#include "record/safetensors_format.hpp"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "safetensors data are little-endian; this machine would have to swap every element"
#endif

namespace hpcboot::record {
namespace {

struct DTypeEntry {
  DType dtype;
  std::string_view name;
  std::size_t size;
};
constexpr DTypeEntry kDTypes[] = {
    {DType::boolean, "BOOL", 1}, {DType::u8, "U8", 1},   {DType::i8, "I8", 1},
    {DType::i16, "I16", 2},      {DType::u16, "U16", 2}, {DType::f16, "F16", 2},
    {DType::bf16, "BF16", 2},    {DType::i32, "I32", 4}, {DType::u32, "U32", 4},
    {DType::f32, "F32", 4},      {DType::f64, "F64", 8}, {DType::i64, "I64", 8},
    {DType::u64, "U64", 8}};

/// The reference implementation refuses longer headers too.
constexpr std::uint64_t kLongestHeader = 100'000'000;
/// About eight per tensor; the largest models have ten thousand tensors.
constexpr std::size_t kMostValues = 2'000'000;

const DTypeEntry& entry_of(DType dtype) {
  return kDTypes[static_cast<std::size_t>(dtype)];
}

bool is_of_models(DType dtype) {
  return dtype != DType::u16 && dtype != DType::u32 && dtype != DType::u64;
}

Error malformed(const std::filesystem::path& path, std::string_view what, std::string expected) {
  return Error(ErrorCode::malformed_file, fmt::format("'{}': {}", path.string(), what),
               std::move(expected), "use a complete file in safetensors format");
}

Error unreadable(const std::filesystem::path& path) {
  return Error(ErrorCode::unreadable_file, fmt::format("cannot read '{}'", path.string()),
               "a safetensors file", "check the path and its permissions");
}

/// The header as JSON.
Json parse_header(const std::filesystem::path& path, const std::string& text) {
  if (text.empty() || text.front() != '{') throw malformed(path, "no header", "a header");
  try {
    return parse_json(text, {kLongestHeader, 8, kMostValues});
  } catch (const JsonError& problem) {
    throw malformed(path, std::string("the header is damaged: it ") + problem.what(),
                    "JSON with unique names");
  }
}

TensorInfo tensor_of(const std::filesystem::path& path, const std::string& name, const Json& entry,
                     DTypesTaken taken) {
  const auto fail = [&](std::string_view what, std::string expected) {
    return malformed(path, fmt::format("tensor '{}' has {}", name, what), std::move(expected));
  };
  TensorInfo tensor;
  tensor.name = name;
  try {
    const auto type = entry.at("dtype").get<std::string>();
    const auto* const known = std::find_if(std::begin(kDTypes), std::end(kDTypes),
                                           [&](const DTypeEntry& one) { return one.name == type; });
    const bool is_known = known != std::end(kDTypes);
    if (taken == DTypesTaken::models && !(is_known && is_of_models(known->dtype))) {
      throw fail(fmt::format("dtype '{}'", type), "a dtype such as F32 or I64");
    }
    if (is_known) tensor.dtype = known->dtype;
    if (!is_known) tensor.other_dtype = type;
    for (const Json& dimension : entry.at("shape")) {
      if (!dimension.is_number_unsigned() || dimension.get<std::int64_t>() < 0)
        throw fail("an invalid shape", "non-negative integers");
      tensor.shape.push_back(dimension.get<std::int64_t>());
    }
    const Json& offsets = entry.at("data_offsets");
    if (offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned()) {
      throw fail("invalid data_offsets", "two non-negative integers");
    }
    tensor.begin = offsets[0].get<std::uint64_t>();
    tensor.end = offsets[1].get<std::uint64_t>();
  } catch (const Json::exception&) {
    throw fail("an incomplete entry", "dtype, shape and data_offsets");
  }
  const std::optional<std::uint64_t> bytes = byte_count(tensor.dtype, tensor.shape);
  const bool has_size = tensor.other_dtype.empty();
  if (tensor.end < tensor.begin || (has_size && tensor.end - tensor.begin != bytes)) {
    throw fail(fmt::format("data_offsets {} to {}", tensor.begin, tensor.end),
               "the length that its shape and dtype require");
  }
  return tensor;
}

}  // namespace

std::string_view name_of(DType dtype) noexcept {
  return entry_of(dtype).name;
}
std::size_t size_of(DType dtype) noexcept {
  return entry_of(dtype).size;
}

std::optional<std::uint64_t> byte_count(DType dtype, const std::vector<std::int64_t>& shape) {
  std::uint64_t bytes = size_of(dtype);
  for (const std::int64_t dimension : shape) {
    const auto length = static_cast<std::uint64_t>(dimension);
    if (dimension < 0) return std::nullopt;
    if (length != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / length) {
      return std::nullopt;
    }
    bytes *= length;
  }
  return bytes;
}

InputFile::InputFile(const std::filesystem::path& path)
    // Without O_NONBLOCK, open() would wait for the other end of a FIFO.
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

SafetensorsFile::SafetensorsFile(std::filesystem::path path, DTypesTaken taken)
    : path_(std::move(path)), file_(path_) {
  std::error_code error;
  const std::uint64_t file_size = std::filesystem::file_size(path_, error);
  if (file_.get() < 0 || error) throw unreadable(path_);
  if (file_size < kHeaderLengthBytes) {
    throw malformed(path_, fmt::format("{} bytes", file_size), "at least 8, the header's length");
  }

  unsigned char length[kHeaderLengthBytes] = {};
  read_at(0, sizeof length, length);
  std::uint64_t header_size = 0;
  for (std::size_t i = 0; i < kHeaderLengthBytes; ++i) {
    header_size |= std::uint64_t{length[i]} << (8 * i);
  }
  if (header_size > kLongestHeader || header_size > file_size - kHeaderLengthBytes) {
    throw malformed(path_,
                    fmt::format("{} bytes, of which the header claims {}", file_size, header_size),
                    "a header that fits in the file");
  }
  data_begin_ = kHeaderLengthBytes + header_size;
  std::string text(header_size, '\0');
  read_at(kHeaderLengthBytes, header_size, text.data());

  const Json header = parse_header(path_, text);
  for (const auto& [name, entry] : header.items()) {
    if (name != kMetadataKey) {
      tensors_.push_back(tensor_of(path_, name, entry, taken));
      continue;
    }
    try {
      metadata_ = entry.get<std::map<std::string, std::string>>();
    } catch (const Json::exception&) {
      throw malformed(path_, "invalid __metadata__", "an object of strings");
    }
  }
  std::sort(tensors_.begin(), tensors_.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t covered = 0;
  for (const TensorInfo& tensor : tensors_) {
    if (tensor.begin != covered) {
      throw malformed(path_, fmt::format("tensor '{}' begins at {}", tensor.name, tensor.begin),
                      fmt::format("{}, where the previous tensor ends", covered));
    }
    covered = tensor.end;
  }
  if (covered != file_size - data_begin_) {
    throw malformed(path_, fmt::format("{} bytes of data", file_size - data_begin_),
                    fmt::format("{}, as the header states", covered));
  }
}

void SafetensorsFile::read(const TensorInfo& tensor, void* destination) const {
  read_part(tensor, 0, tensor.end - tensor.begin, destination);
}

void SafetensorsFile::read_part(const TensorInfo& tensor, std::uint64_t offset, std::uint64_t size,
                                void* destination) const {
  read_at(data_begin_ + tensor.begin + offset, size, destination);
}

void SafetensorsFile::read_at(std::uint64_t position, std::uint64_t size, void* destination) const {
  auto* next = static_cast<char*>(destination);
  while (size > 0) {
    const ssize_t got = ::pread(file_.get(), next, size, static_cast<off_t>(position));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw unreadable(path_);
    if (got == 0) {
      throw malformed(path_, fmt::format("the file ends at byte {}", position),
                      fmt::format("{} more bytes, as when it was opened", size));
    }
    next += got;
    position += static_cast<std::uint64_t>(got);
    size -= static_cast<std::uint64_t>(got);
  }
}

}  // namespace hpcboot::record

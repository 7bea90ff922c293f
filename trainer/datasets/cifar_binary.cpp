#include "datasets/cifar_binary.hpp"

#include <algorithm>
#include <string>

#include "datasets/data_file.hpp"

namespace hpcboot::data {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 30;
constexpr std::size_t kChunk = 256;  // records

/// The number of records, from the size of the file.
std::uint64_t check_size(const DataFile& file, std::size_t record) {
  const std::uint64_t size = file.max_size();
  const std::string expected = "records of " + std::to_string(record) + " bytes";
  if (size == 0) file.fail(0, "the end of the file", expected);
  if (size > kMaxBytes) {
    file.fail(0, "a file of " + std::to_string(size) + " bytes",
              "at most " + std::to_string(kMaxBytes));
  }
  if (size % record != 0) {
    file.fail(size,
              "the end of the file within the record that begins at " +
                  std::to_string(size - size % record),
              expected);
  }
  return size / record;
}

void check_label(const DataFile& file, std::uint64_t offset, std::uint8_t label,
                 std::int64_t classes, const char* name) {
  if (label < classes) return;
  file.fail(offset, std::string(name) + " " + std::to_string(label),
            "a label from 0 to " + std::to_string(classes - 1));
}

}  // namespace

std::size_t cifar_label_bytes(std::int64_t classes) {
  return classes > kClasses ? 2 : 1;
}

void read_cifar_binary(const std::filesystem::path& path, std::int64_t classes, std::int64_t most,
                       CifarImages& images) {
  DataFile file(path, cifar_remedy(path.parent_path(), classes, /*is_binary=*/true));
  const std::size_t labels = cifar_label_bytes(classes);
  const std::size_t record = labels + kCifarImage;
  const auto count = static_cast<std::size_t>(
      std::min(check_size(file, record), static_cast<std::uint64_t>(most)));
  std::vector<std::uint8_t> chunk(std::min(count, kChunk) * record);
  for (std::size_t done = 0; done < count;) {
    const std::size_t records = std::min(kChunk, count - done);
    const std::size_t got = file.read(chunk.data(), records * record);
    if (got < records * record) {
      file.fail(file.offset(), "the end of the file",
                std::to_string(file.max_size()) + " bytes, as at the start");
    }
    for (std::size_t i = 0; i < records; ++i) {
      const std::uint8_t* const at = chunk.data() + i * record;
      const std::uint64_t offset = (done + i) * record;
      if (labels == 2) check_label(file, offset, at[0], kCoarseClasses, "coarse label");
      check_label(file, offset + labels - 1, at[labels - 1], classes, "label");
      images.labels.push_back(at[labels - 1]);
      images.pixels.insert(images.pixels.end(), at + labels, at + record);
    }
    done += records;
  }
}

}  // namespace hpcboot::data

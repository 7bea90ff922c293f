#include "datasets/zip_directory.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "datasets/data_file.hpp"

namespace hpcboot::data {
namespace {

constexpr std::string_view kEnd("PK\5\6");
constexpr std::size_t kEndSize = 22;
constexpr std::string_view kEnd64("PK\6\6");
constexpr std::size_t kEnd64Size = 56;
constexpr std::string_view kLocator("PK\6\7");
constexpr std::size_t kLocatorSize = 20;
constexpr std::string_view kFile("PK\1\2");
constexpr std::size_t kFileSize = 46;

/// The directory of a million files takes about 64 MiB; torch.save() writes one file per tensor.
constexpr std::uint64_t kLargestDirectory = std::uint64_t{64} << 20U;
/// A pickle of a thousand tensors takes about 100 kB.
constexpr std::uint64_t kLargestRecord = std::uint64_t{64} << 20U;

/// The little-endian number in `size` bytes; 0 if they are missing.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || bytes.size() - at < size) return 0;
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;)
    value = value << 8U | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

/// That part of the archive; fewer bytes if it ends earlier.
std::string bytes_at(std::istream& archive, std::uint64_t at, std::uint64_t size) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  archive.clear();
  archive.seekg(static_cast<std::streamoff>(at));
  archive.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(archive.gcount(), 0)));
  return bytes;
}

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t size = 0;
  std::uint64_t at = 0;
};

std::optional<Directory> find_directory(std::istream& archive, std::uint64_t archive_size) {
  constexpr std::uint64_t kMostBehind = kEndSize + 65535;  // a comment
  const std::uint64_t from = archive_size - std::min(archive_size, kMostBehind + kLocatorSize);
  const std::string tail = bytes_at(archive, from, archive_size - from);
  if (tail.size() < kEndSize) return std::nullopt;
  const std::size_t end = tail.rfind(kEnd, tail.size() - kEndSize);
  if (end == std::string::npos) return std::nullopt;
  if (end >= kLocatorSize && tail.compare(end - kLocatorSize, kLocator.size(), kLocator) == 0) {
    const std::uint64_t place = number_at(tail, end - kLocatorSize + 8, 8);
    if (place > archive_size) return std::nullopt;
    const std::string end64 = bytes_at(archive, place, kEnd64Size);
    if (end64.size() < kEnd64Size || end64.compare(0, kEnd64.size(), kEnd64) != 0)
      return std::nullopt;
    return Directory{number_at(end64, 32, 8), number_at(end64, 40, 8), number_at(end64, 48, 8)};
  }
  return Directory{number_at(tail, end + 10, 2), number_at(tail, end + 12, 4),
                   number_at(tail, end + 16, 4)};
}

/// Sizes that do not fit in 32 bits are stored in the entry's extra fields, in this order.
bool take_zip64(std::string_view extra, ZipEntry& entry) {
  constexpr std::uint64_t kElsewhere = std::numeric_limits<std::uint32_t>::max();
  if (entry.size != kElsewhere && entry.stored != kElsewhere) return true;
  while (extra.size() >= 4) {
    const std::uint64_t id = number_at(extra, 0, 2);
    const std::uint64_t size = number_at(extra, 2, 2);
    extra.remove_prefix(4);
    if (size > extra.size()) return false;
    std::string_view field = extra.substr(0, size);
    extra.remove_prefix(size);
    if (id != 1) continue;
    for (std::uint64_t* number : {&entry.size, &entry.stored}) {
      if (*number != kElsewhere) continue;
      if (field.size() < 8) return false;
      *number = number_at(field, 0, 8);
      field.remove_prefix(8);
    }
    return true;
  }
  return false;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

std::optional<std::vector<ZipEntry>> read_zip_directory(std::istream& archive) {
  archive.clear();
  archive.seekg(0, std::ios::end);
  const std::streamoff length = archive.tellg();
  if (length < 0) return std::nullopt;
  const auto archive_size = static_cast<std::uint64_t>(length);
  const auto directory = find_directory(archive, archive_size);
  if (!directory || directory->at > archive_size || directory->size > kLargestDirectory ||
      directory->size > archive_size - directory->at) {
    return std::nullopt;
  }
  const std::string bytes = bytes_at(archive, directory->at, directory->size);
  std::string_view rest = bytes;
  std::vector<ZipEntry> entries;
  for (std::uint64_t i = 0; i < directory->entries; ++i) {
    if (rest.size() < kFileSize || rest.substr(0, kFile.size()) != kFile) return std::nullopt;
    const std::size_t name_size = number_at(rest, 28, 2);
    const std::size_t extra_size = number_at(rest, 30, 2);
    const std::size_t whole = kFileSize + name_size + extra_size + number_at(rest, 32, 2);
    if (whole > rest.size()) return std::nullopt;
    ZipEntry entry;
    entry.name = rest.substr(kFileSize, name_size);
    entry.method = static_cast<int>(number_at(rest, 10, 2));
    entry.stored = number_at(rest, 20, 4);
    entry.size = number_at(rest, 24, 4);
    if (!take_zip64(rest.substr(kFileSize + name_size, extra_size), entry)) return std::nullopt;
    if (entry.stored > archive_size) return std::nullopt;
    entries.push_back(std::move(entry));
    rest.remove_prefix(whole);
  }
  return entries;
}

std::string trouble_in_archive(std::istream& archive) {
  const auto entries = read_zip_directory(archive);
  if (!entries) return "not a complete zip archive";
  archive.clear();
  archive.seekg(0, std::ios::end);
  auto room = static_cast<std::uint64_t>(archive.tellg());
  for (const ZipEntry& entry : *entries) {
    const std::string shown = "its " + entry.name.substr(0, 80);
    if (entry.method == 0 ? entry.size != entry.stored
                          : entry.size / kDeflateRatio > entry.stored) {
      return shown + " claims " + std::to_string(entry.size) + " bytes, stored in " +
             std::to_string(entry.stored);
    }
    if (entry.stored > room) return "the files in it overlap";  // a way to repeat one many times
    room -= entry.stored;
    // The data of a tensor is as large as the tensor; LibTorch reads everything else at once.
    const bool is_tensor = entry.name.find("/data/") != std::string::npos &&
                           !ends_with(entry.name, "data.pkl") && !ends_with(entry.name, "version");
    if (!is_tensor && entry.size > kLargestRecord)
      return shown + " has " + std::to_string(entry.size) + " bytes unpacked, more than 64 MiB";
  }
  return "";
}

}  // namespace hpcboot::data

#include "datasets/data_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>
#include <utility>

#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::data {
namespace {

constexpr std::size_t kBufferSize = std::size_t{64} << 10;
constexpr int kGzipFormat = 15 + 16;  // the largest window, and gzip's header and checksum

std::string mnist_remedy(const std::filesystem::path& file) {
  return "download it again (setup/get-mnist --force --dir " +
         bash_quote(file.parent_path().string()) +
         " in hpcboot's sources), or draw a new set with `trainer digits NEW_FOLDER`";
}

}  // namespace

DataFile::DataFile(std::filesystem::path path, std::string remedy)
    : path_(std::move(path)),
      remedy_(remedy.empty() ? mnist_remedy(path_) : std::move(remedy)),
      compressed_(path_.extension() == ".gz") {
  std::error_code error;
  const auto size = std::filesystem::file_size(path_, error);
  if (!error) stream_.open(path_, std::ios::binary);
  if (error || !stream_) {
    const std::string reason = error ? error.message() : std::strerror(errno);
    throw Error(ErrorCode::unreadable_file, "'" + path_.string() + "': " + reason,
                "a data file that this user can read", "check the file and its permissions");
  }
  max_size_ = compressed_ ? size * kDeflateRatio : size;
  if (compressed_) {
    buffer_.resize(kBufferSize);
    if (inflateInit2(&zlib_, kGzipFormat) != Z_OK) throw std::bad_alloc();
  }
}

DataFile::~DataFile() {
  if (compressed_) inflateEnd(&zlib_);
}

void DataFile::fail(std::uint64_t offset, const std::string& found,
                    const std::string& expected) const {
  const std::string unit = compressed_ ? ", decompressed byte offset " : ", byte offset ";
  throw Error(ErrorCode::malformed_data,
              "'" + path_.string() + "'" + unit + std::to_string(offset) + ": " + found, expected,
              remedy_);
}

std::size_t DataFile::read(std::uint8_t* out, std::size_t size) {
  const std::size_t got = compressed_ ? read_compressed(out, size) : read_stored(out, size);
  offset_ += got;
  return got;
}

std::size_t DataFile::read_stored(std::uint8_t* out, std::size_t size) {
  stream_.read(reinterpret_cast<char*>(out), static_cast<std::streamsize>(size));
  if (stream_.bad()) fail(stored_offset_, "the disk reported a read error", "readable data");
  const auto got = static_cast<std::size_t>(stream_.gcount());
  stored_offset_ += got;
  return got;
}

std::size_t DataFile::read_compressed(std::uint8_t* out, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    if (zlib_.avail_in == 0) {
      zlib_.next_in = buffer_.data();
      zlib_.avail_in = static_cast<uInt>(read_stored(buffer_.data(), buffer_.size()));
      if (zlib_.avail_in == 0) {
        if (!in_member_) return done;
        fail(offset_ + done,
             "the compressed data ends after " + std::to_string(stored_offset_) + " bytes",
             "a complete gzip file");
      }
    }
    if (!in_member_) {
      inflateReset(&zlib_);
      in_member_ = true;
    }
    const std::size_t room = std::min<std::size_t>(size - done, std::numeric_limits<uInt>::max());
    zlib_.next_out = out + done;
    zlib_.avail_out = static_cast<uInt>(room);
    const int status = inflate(&zlib_, Z_NO_FLUSH);
    done += room - zlib_.avail_out;
    if (status == Z_STREAM_END) {
      in_member_ = false;
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      const std::string reason = zlib_.msg != nullptr ? zlib_.msg : "a preset dictionary";
      fail(offset_ + done,
           "gzip reports '" + reason + "' near compressed byte " +
               std::to_string(stored_offset_ - zlib_.avail_in),
           "intact gzip data");
    }
  }
  return done;
}

}  // namespace hpcboot::data

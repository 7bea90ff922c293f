#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace hpcboot::test {

using Bytes = std::vector<std::uint8_t>;

/// A folder with the data files of one test.
class DataFolder : public TemporaryFolder {
 public:
  void write(const std::string& name, const Bytes& bytes) const {
    write_text(path() / name, {bytes.begin(), bytes.end()});
  }

  Bytes read(const std::string& name) const {
    const std::string text = read_text(path() / name);
    return {text.begin(), text.end()};
  }

  /// Names in the folder, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

/// `bytes` as one gzip member.
inline Bytes gzip(const Bytes& bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  Bytes out(deflateBound(&stream, bytes.size()) + 64);
  Bytes in = bytes;
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate");
  return out;
}

inline void append_big_endian(Bytes& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<std::uint8_t>(value >> shift & 0xff));
  }
}

/// An IDX file: the magic number of `sizes.size()` dimensions, the sizes, the data.
inline Bytes idx_file(const std::vector<std::uint32_t>& sizes, const Bytes& data) {
  Bytes bytes = {0, 0, 8, static_cast<std::uint8_t>(sizes.size())};
  for (const auto size : sizes) append_big_endian(bytes, size);
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

}  // namespace hpcboot::test

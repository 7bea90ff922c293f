#include "export/wandb_log.hpp"

#include <algorithm>
#include <boost/crc.hpp>
#include <cstdint>

namespace hpcboot::exports {
namespace {

constexpr std::size_t kBlock = 32768;
constexpr std::size_t kHeader = 7;  // checksum, length, type

enum Type { full = 1, first = 2, middle = 3, last = 4 };

void append_number(std::string& bytes, std::uint32_t value, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
}

}  // namespace

WandbLog::WandbLog() : bytes_(":W&B") {
  append_number(bytes_, 0xBEE1, 2);
  append_number(bytes_, 0, 1);  // version
}

void WandbLog::append_part(int type, const char* data, std::size_t size) {
  boost::crc_32_type crc;
  crc.process_byte(static_cast<unsigned char>(type));
  crc.process_bytes(data, size);
  append_number(bytes_, crc.checksum(), 4);
  append_number(bytes_, static_cast<std::uint32_t>(size), 2);
  append_number(bytes_, static_cast<std::uint32_t>(type), 1);
  bytes_.append(data, size);
}

void WandbLog::append(const std::string& record) {
  std::size_t done = 0;
  bool is_first = true;  // also of parts without bytes, where only their header fits in a block
  do {
    std::size_t room = kBlock - bytes_.size() % kBlock;
    if (room < kHeader) {  // no header fits: the rest of the block is empty
      bytes_.append(room, '\0');
      room = kBlock;
    }
    const std::size_t part = std::min(record.size() - done, room - kHeader);
    const bool is_last = done + part == record.size();
    const Type type = is_first ? (is_last ? full : first) : (is_last ? last : middle);
    append_part(type, record.data() + done, part);
    done += part;
    is_first = false;
  } while (done < record.size());
}

}  // namespace hpcboot::exports

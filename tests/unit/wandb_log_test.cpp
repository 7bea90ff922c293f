// The log of Weights & Biases, read back by the rules of LevelDB's format.
#include "export/wandb_log.hpp"

#include <gtest/gtest.h>

#include <boost/crc.hpp>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace hpcboot::exports {
namespace {

std::uint32_t number_at(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
  return value;
}

/// The records of a log. Throws if a checksum, or the order of parts, is wrong.
std::vector<std::string> records_of(const std::string& bytes) {
  constexpr std::size_t kBlock = 32768;
  enum { full = 1, first, middle, last };
  std::vector<std::string> records;
  bool is_open = false;
  for (std::size_t at = 7; at < bytes.size();) {
    const std::size_t room = kBlock - at % kBlock;
    if (room < 7) {
      at += room;
      continue;
    }
    const std::uint32_t size = number_at(bytes, at + 4, 2);
    const std::uint32_t type = number_at(bytes, at + 6, 1);
    boost::crc_32_type crc;
    crc.process_bytes(bytes.data() + at + 6, 1 + size);
    if (crc.checksum() != number_at(bytes, at, 4)) throw std::runtime_error("checksum");
    if (7 + size > room) throw std::runtime_error("a part over the end of a block");
    const bool begins = type == full || type == first;
    if (begins == is_open) throw std::runtime_error("parts out of order");
    if (begins) records.emplace_back();
    records.back().append(bytes, at + 7, size);
    is_open = type == first || type == middle;
    at += 7 + size;
  }
  if (is_open) throw std::runtime_error("a record without its end");
  return records;
}

TEST(WandbLog, RecordsAreReadBackWhereverABlockEnds) {
  // The second record begins at each of the last places of a block.
  for (std::size_t size = 32768 - 40; size < 32768 + 10; ++size) {
    WandbLog log;
    const std::vector<std::string> written{std::string(size, 'a'), std::string(70000, 'b'), "",
                                           "end"};
    for (const std::string& record : written) log.append(record);
    EXPECT_EQ(records_of(log.bytes()), written) << size;
  }
}

TEST(WandbLog, BeginsWithItsHeader) {
  EXPECT_EQ(WandbLog().bytes(), std::string(":W&B\xe1\xbe\0", 7));
}

}  // namespace
}  // namespace hpcboot::exports

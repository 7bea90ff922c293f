#pragma once

#include <cstddef>
#include <string>

namespace hpcboot::exports {

/// The transaction log of Weights & Biases, a .wandb file: LevelDB's log format (blocks of 32 KiB,
/// records split over them; https://github.com/google/leveldb/blob/main/doc/log_format.md) with a
/// header of its own and plain CRC-32 (wandb/sdk/internal/datastore.py of wandb 0.16).
class WandbLog {
 public:
  WandbLog();

  /// @param record a message of wandb_internal.proto
  void append(const std::string& record);
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  void append_part(int type, const char* data, std::size_t size);

  std::string bytes_;
};

}  // namespace hpcboot::exports

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "hpcboot/key_value_store.hpp"

namespace hpcboot {

struct FileKvsOptions {
  std::string folder;    // that all ranks see
  std::string identity;  // of the launch, equal on all ranks; tells launches at one time apart
  int rank = 0;
  int world_size = 1;
};

// Waits until rank 0 and this rank know of each other; on rank 0, until all have come.
std::unique_ptr<KeyValueStore> open_file_kvs(const FileKvsOptions& options,
                                             std::chrono::milliseconds deadline);

}  // namespace hpcboot

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "hpcboot/key_value_store.hpp"

namespace hpcboot {

struct FileKvsOptions {
  std::string folder;    // visible to all ranks
  std::string identity;  // of the launch, equal on all ranks; distinguishes concurrent launches
  int rank = 0;
  int world_size = 1;
  // A rank 0 that does not renew its lease for so long is dead. Less if the deadline is short.
  std::chrono::milliseconds silence = std::chrono::seconds(5);
};

// The ranks that meet are one process each. If two processes of a rank are in the folder at the
// same time, the second fails, and so do those that still wait in a group with the first.
//
// Waits until rank 0 and this rank have found each other; on rank 0, until all ranks have arrived.
std::unique_ptr<KeyValueStore> open_file_kvs(const FileKvsOptions& options,
                                             std::chrono::milliseconds deadline);

}  // namespace hpcboot

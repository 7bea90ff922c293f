#pragma once

#include <cstdint>

namespace hpcboot::test {

/// For file systems that cannot be mounted here: while it exists, every path seems to be on one of
/// this type, f_type of statfs(2). The program must have pretended_file_system.cpp among its
/// sources.
class PretendedFileSystem {
 public:
  explicit PretendedFileSystem(std::uint32_t type);
  ~PretendedFileSystem();
  PretendedFileSystem(const PretendedFileSystem&) = delete;
  PretendedFileSystem& operator=(const PretendedFileSystem&) = delete;
};

}  // namespace hpcboot::test

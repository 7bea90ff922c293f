#include "support/pretended_file_system.hpp"

#include <dlfcn.h>
#include <sys/vfs.h>

namespace {
std::uint32_t pretended_type = 0;  // 0: none
}  // namespace

// Replaces the C library's function in this program.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved
extern "C" __attribute__((visibility("default"))) int statfs(const char* path,
                                                             struct statfs* status) noexcept {
  static const auto next =
      reinterpret_cast<int (*)(const char*, struct statfs*)>(dlsym(RTLD_NEXT, "statfs"));
  const int result = next(path, status);
  if (result == 0 && pretended_type != 0) status->f_type = pretended_type;
  return result;
}

namespace hpcboot::test {

PretendedFileSystem::PretendedFileSystem(std::uint32_t type) {
  pretended_type = type;
}

PretendedFileSystem::~PretendedFileSystem() {
  pretended_type = 0;
}

}  // namespace hpcboot::test

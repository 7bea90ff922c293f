#include "loop/blas_memory.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/counted.hpp"
#include "hpcboot/error.hpp"
#include "loop/memory_failure.hpp"

namespace hpcboot::train {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;
// What OpenBLAS takes for a thread on x86-64; on other processors it is at most that.
constexpr std::size_t kOfThread = 128 * kMiB + 4096;

/// Two functions that OpenBLAS exports: what has been freed is kept for the next request.
struct OpenBlas {
  void* (*take)(int position);
  void (*free)(void* memory);
};

template <typename Function>
void find(const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

bool has_room() {
  void* const room = ::mmap(nullptr, kOfThread, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room != MAP_FAILED && ::munmap(room, kOfThread) == 0;
}

}  // namespace

void take_blas_memory(int threads) {
  const std::optional<std::uint64_t> limit = address_space_limit();
  OpenBlas blas{};
  find("blas_memory_alloc", blas.take);
  find("blas_memory_free", blas.free);
  if (!limit || blas.take == nullptr || blas.free == nullptr) return;
  std::vector<void*> taken;
  while (taken.size() < static_cast<std::size_t>(threads) && has_room()) {
    taken.push_back(blas.take(0));
  }
  for (void* const memory : taken) blas.free(memory);
  if (taken.size() == static_cast<std::size_t>(threads)) return;
  throw Error(ErrorCode::out_of_memory,
              fmt::format("not enough memory for OpenBLAS, which needs 128 MiB a thread, for {}: "
                          "the address space of this process is limited to {} MiB",
                          counted(threads, "thread"), *limit / kMiB),
              "room for OpenBLAS beside the data and the programs",
              "raise the limit (ulimit -v; h_vmem in Grid Engine), or use fewer --threads");
}

}  // namespace hpcboot::train

#include "support/counted_memory.hpp"

#include <ATen/record_function.h>
#include <c10/core/CPUAllocator.h>
#include <torch/version.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace hpcboot::counted_memory {
namespace {

std::atomic<std::int64_t> live_bytes{0};
std::atomic<std::int64_t> peak_bytes{0};

void count(std::int64_t change) {
  live_bytes += change;
}

void note_peak() {
  const std::int64_t now = live_bytes;
  std::int64_t peak = peak_bytes;
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
}

std::unique_ptr<at::ObserverContext> operator_begins(const at::RecordFunction&) {
  note_peak();
  return nullptr;
}

void operator_ends(const at::RecordFunction&, at::ObserverContext*) {
  note_peak();
}

// The size of a block is in front of it: oneDNN wants the address of the block itself as its
// context.
constexpr std::size_t kFront = 64;

void free_block(void* address) {
  if (address == nullptr) return;
  auto* front = static_cast<char*>(address) - kFront;
  std::int64_t bytes = 0;
  std::memcpy(&bytes, front, sizeof bytes);
  count(-bytes);
  std::free(front);
}

class CountingAllocator : public at::Allocator {
 public:
#if TORCH_VERSION_MAJOR >= 2
  at::DataPtr allocate(std::size_t size) override {
#else
  at::DataPtr allocate(std::size_t size) const override {
#endif
    const auto bytes = static_cast<std::int64_t>(size);
    auto* front = static_cast<char*>(
        std::aligned_alloc(kFront, kFront + (size + kFront - 1) / kFront * kFront));
    if (front == nullptr) throw std::bad_alloc();
    std::memcpy(front, &bytes, sizeof bytes);
    count(bytes);
    return {front + kFront, front + kFront, &free_block, at::Device(at::kCPU)};
  }

  at::DeleterFnPtr raw_deleter() const override {
    return &free_block;
  }

#if TORCH_VERSION_MAJOR >= 2
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
#endif
};

// Before main(): no tensor of the program is older.
const bool installed = [] {
  static CountingAllocator allocator;
  c10::SetCPUAllocator(&allocator, /*priority=*/255);
  at::addGlobalCallback(at::RecordFunctionCallback(operator_begins, operator_ends));
  return true;
}();

}  // namespace

std::int64_t live() {
  return live_bytes;
}
std::int64_t peak() {
  note_peak();
  return peak_bytes;
}
void forget_peak() {
  peak_bytes = live_bytes.load();
}

}  // namespace hpcboot::counted_memory

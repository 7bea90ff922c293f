#include "loop/memory_failure.hpp"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <array>
#include <new>
#include <string>
#include <string_view>

#include "core/counted.hpp"

namespace hpcboot::train {
namespace {

// LibTorch has an exception class for CUDA's allocator only, and the autograd engine loses the
// class: only the text remains. "not enough memory" is that of newer versions.
constexpr std::array<std::string_view, 3> kTexts{"DefaultCPUAllocator: can't allocate memory",
                                                 "DefaultCPUAllocator: not enough memory",
                                                 "CUDA out of memory"};

bool means_memory(const std::exception& cause) {
  if (dynamic_cast<const std::bad_alloc*>(&cause) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&cause) != nullptr) return true;
  const std::string_view text = cause.what();
  for (const std::string_view part : kTexts) {
    if (text.find(part) != std::string_view::npos) return true;
  }
  return false;
}

/// The allocator's message, without LibTorch's source location and stack.
std::string reason_of(const std::exception& cause) {
  const std::string_view text = cause.what();
  for (const std::string_view part : kTexts) {
    const std::size_t begin = text.find(part);
    if (begin == std::string_view::npos) continue;
    return std::string(text.substr(begin, text.find('\n', begin) - begin));
  }
  return std::string(text.substr(0, text.find('\n')));
}

std::string remedy_of(const BatchPlan& batches) {
  const std::int64_t passes = batches.local / batches.micro;
  if (batches.micro % 2 == 0) {
    return fmt::format(
        "use --micro-batch {} --accumulate {}, the same step in passes of half the images; or a "
        "smaller --image-size, more ranks, or hosts with more memory",
        batches.micro / 2, 2 * passes);
  }
  if (batches.micro > 1) {
    return "use --micro-batch 1, the same step in passes of one image; or a "
           "smaller --image-size, more ranks, or hosts with more memory";
  }
  return "a pass already has only one image: use a smaller --image-size, or hosts with more memory";
}

}  // namespace

std::optional<Error> memory_failure(const std::exception& cause, const BatchPlan& batches,
                                    bool recorded) {
  if (dynamic_cast<const Error*>(&cause) != nullptr || !means_memory(cause)) return std::nullopt;
  return Error(ErrorCode::out_of_memory,
               fmt::format("not enough memory for {} per pass ({})",
                           counted(batches.micro, "image"), reason_of(cause)),
               "memory for the data, the model and the tensors of a pass",
               (recorded ? "leave out --cuda-graph, and then " : "") + remedy_of(batches));
}

}  // namespace hpcboot::train

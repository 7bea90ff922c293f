#include "loop/memory_failure.hpp"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "core/counted.hpp"

namespace hpcboot::train {
namespace {

// LibTorch has an exception class for CUDA's allocator only, and the autograd engine loses the
// class: only the text remains. "not enough memory" is that of newer versions.
constexpr std::array<std::string_view, 3> kTexts{"DefaultCPUAllocator: can't allocate memory",
                                                 "DefaultCPUAllocator: not enough memory",
                                                 "CUDA out of memory"};

/// Whether a thread could not be started. Its stack needs memory; without a limit of that, it is
/// the number of threads that is limited.
bool means_a_thread(const std::exception& cause) {
  const auto* const failure = dynamic_cast<const std::system_error*>(&cause);
  return failure != nullptr && failure->code() == std::errc::resource_unavailable_try_again;
}

/// The allocator's message, without LibTorch's source location and stack.
std::string reason_of(const std::exception& cause) {
  const std::string_view text = cause.what();
  for (const std::string_view part : kTexts) {
    const std::size_t begin = text.find(part);
    if (begin == std::string_view::npos) continue;
    return std::string(text.substr(begin, text.find('\n', begin) - begin));
  }
  return (means_a_thread(cause) ? "a thread: " : "") + std::string(text.substr(0, text.find('\n')));
}

/// "batch size 64 = micro-batch 8 x accumulate 4 x 2 ranks".
std::string sizes_text(const BatchPlan& batches, std::int64_t micro) {
  return fmt::format("batch size {} = micro-batch {} x accumulate {} x {}", batches.global, micro,
                     batches.local / micro, counted(batches.global / batches.local, "rank"));
}

/// The most samples, at most half of a pass, into which a rank's batch can be divided evenly.
/// Nothing if there is no such number. Batch norms need two samples.
std::optional<std::int64_t> smaller_pass(const MemoryUse& use) {
  const std::int64_t least = use.has_batch_norms ? 2 : 1;
  for (std::int64_t pass = use.batches.micro / 2; pass >= least; --pass) {
    if (use.batches.local % pass == 0) return pass;
  }
  return std::nullopt;
}

std::string remedy_of(const MemoryUse& use) {
  const BatchPlan& batches = use.batches;
  const std::string smaller = use.sample == "image" ? "a smaller --image-size, " : "";
  const auto pass = smaller_pass(use);
  if (!pass) {
    const std::string other = smaller + "a smaller model, or hosts with more memory";
    if (batches.micro == 1) {
      return fmt::format("a pass already has only one {}: use {}", use.sample, other);
    }
    return fmt::format(
        "a smaller pass would have only one {}, too few for batch norms: use a smaller "
        "--batch-size, {}",
        use.sample, other);
  }
  return fmt::format(
      "use --micro-batch {} --accumulate {}, {}: {}; or {}more ranks, or hosts with more memory",
      *pass, batches.local / *pass,
      use.has_batch_norms
          ? "smaller passes, which change the results: this model's batch norms take their "
            "statistics from a pass"
          : "the same step in smaller passes",
      sizes_text(batches, *pass), smaller);
}

}  // namespace

std::optional<std::uint64_t> address_space_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

bool means_memory(const std::exception& cause) {
  if (dynamic_cast<const std::bad_alloc*>(&cause) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&cause) != nullptr) return true;
  if (means_a_thread(cause)) return address_space_limit().has_value();
  const std::string_view text = cause.what();
  for (const std::string_view part : kTexts) {
    if (text.find(part) != std::string_view::npos) return true;
  }
  return false;
}

std::optional<Error> memory_failure(const std::exception& cause, const MemoryUse& use) {
  if (dynamic_cast<const Error*>(&cause) != nullptr || !means_memory(cause)) return std::nullopt;
  return Error(ErrorCode::out_of_memory,
               fmt::format("not enough memory for {}, with {} per pass ({})", use.phase,
                           counted(use.batches.micro, std::string(use.sample)), reason_of(cause)),
               "memory for the data, the model and the tensors of a pass",
               (use.recorded ? "leave out --cuda-graph, and then " : "") + remedy_of(use));
}

}  // namespace hpcboot::train

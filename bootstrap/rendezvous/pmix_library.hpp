#pragma once

#include <pmix.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"

// libpmix, loaded at run time, and what it answers from its own thread.
namespace hpcboot {

// The functions in use, from the libpmix of the launcher or of the machine.
class PmixLibrary {
 public:
  // @throws Error (backend_unavailable) if there is none that can be used
  static const PmixLibrary& get(const Env& env);

  // "pmix: OpenPMIx 4.2.2 (/usr/lib/libpmix.so.2)"
  std::string description() const;

  // @throws Error (exchange_failed) unless the call succeeded
  void check(const char* call, pmix_status_t status) const;

  [[noreturn]] void fail(const char* call, pmix_status_t status) const;

  decltype(&::PMIx_Init) init = nullptr;
  decltype(&::PMIx_Finalize) finalize = nullptr;
  decltype(&::PMIx_Put) put = nullptr;
  decltype(&::PMIx_Commit) commit = nullptr;
  decltype(&::PMIx_Get_nb) get_nb = nullptr;
  decltype(&::PMIx_Fence_nb) fence_nb = nullptr;
  decltype(&::PMIx_Error_string) error_string = nullptr;
  decltype(&::PMIx_Get_version) get_version = nullptr;
  std::string path;

 private:
  explicit PmixLibrary(const std::vector<std::string>& names);
  void check_version() const;
};

// The outcome of one call that PMIx answers from its own thread. Shared with the callback, which
// may run after the caller has timed out.
struct PmixAnswer {
  std::string key;  // of a request; PMIx reads it from its own thread
  std::mutex mutex;
  std::condition_variable arrived;
  std::optional<pmix_status_t> status;
  std::string text;
  std::uint32_t number = 0;

  void set(pmix_status_t result);

  // The status, or nullopt if the end came first.
  std::optional<pmix_status_t> wait(std::chrono::steady_clock::time_point end);
};

using SharedPmixAnswer = std::shared_ptr<PmixAnswer>;

// Asks for the value of a key of a process. @param how one attribute of the request; nullptr for
// none. It must remain valid, since PMIx reads it from its own thread.
SharedPmixAnswer ask_pmix(const PmixLibrary& pmix, const pmix_proc_t& proc, std::string key,
                          const pmix_info_t* how = nullptr);

// Begins a fence of all ranks.
SharedPmixAnswer begin_pmix_fence(const PmixLibrary& pmix);

}  // namespace hpcboot

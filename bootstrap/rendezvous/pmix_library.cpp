#include "pmix_library.hpp"

#include <string_view>
#include <utility>

#include "core/major_version.hpp"
#include "dynamic_library.hpp"
#include "hpcboot/error.hpp"
#include "pmix_server.hpp"

namespace hpcboot {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(ErrorCode::backend_unavailable,
              "the launcher offers PMIx, but its library cannot be used: " + reason,
              "libpmix.so.2 on the library path",
              "install libpmix2 or load the pmix module; or set HPCBOOT_MASTER_ADDR and "
              "HPCBOOT_MASTER_PORT");
}

void on_value(pmix_status_t status, pmix_value_t* value, void* data) {
  const std::unique_ptr<SharedPmixAnswer> answer(static_cast<SharedPmixAnswer*>(data));
  if (status == PMIX_SUCCESS && value != nullptr) {
    // The type is checked before the union is read: local ranks are 16 bits wide, sizes 32.
    if (value->type == PMIX_STRING && value->data.string != nullptr) {
      (*answer)->text = value->data.string;
    } else if (value->type == PMIX_UINT32) {
      (*answer)->number = value->data.uint32;
    } else {
      status = PMIX_ERR_TYPE_MISMATCH;
    }
  }
  (*answer)->set(status);
}

void on_done(pmix_status_t status, void* data) {
  const std::unique_ptr<SharedPmixAnswer> answer(static_cast<SharedPmixAnswer*>(data));
  (*answer)->set(status);
}

}  // namespace

PmixLibrary::PmixLibrary(const std::vector<std::string>& names) {
  DynamicLibrary file(names, refuse);
  file.load(init, "PMIx_Init");
  file.load(finalize, "PMIx_Finalize");
  file.load(put, "PMIx_Put");
  file.load(commit, "PMIx_Commit");
  file.load(get_nb, "PMIx_Get_nb");
  file.load(fence_nb, "PMIx_Fence_nb");
  file.load(error_string, "PMIx_Error_string");
  file.load(get_version, "PMIx_Get_version");
  path = file.path();
  check_version();
}

const PmixLibrary& PmixLibrary::get(const Env& env) {
  static const PmixLibrary library(pmix_library_names(env));
  return library;
}

std::string PmixLibrary::description() const {
  const std::string version = get_version();
  return "pmix: " + version.substr(0, version.find(" (")) + " (" + path + ")";
}

// Parses "OpenPMIx 4.2.2 (PMIx Standard: …". The signatures of the functions in use have not
// changed since version 2.
void PmixLibrary::check_version() const {
  const std::string_view text = get_version();
  const auto major = major_version(text);
  if (!major || *major >= 2) return;
  refuse(path + " is " + std::string(text.substr(0, text.find(" ("))) +
         ", but version 2 or newer is required");
}

void PmixLibrary::check(const char* call, pmix_status_t status) const {
  if (status != PMIX_SUCCESS) fail(call, status);
}

void PmixLibrary::fail(const char* call, pmix_status_t status) const {
  throw Error(ErrorCode::exchange_failed,
              std::string(call) + " returned " + error_string(status) + " (" + path + ")",
              "a PMIx server that serves this process",
              "start the program with mpirun or srun --mpi=pmix, and make sure that both use the "
              "same version of PMIx; or set HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT");
}

void PmixAnswer::set(pmix_status_t result) {
  const std::lock_guard<std::mutex> lock(mutex);
  status = result;
  arrived.notify_all();
}

std::optional<pmix_status_t> PmixAnswer::wait(std::chrono::steady_clock::time_point end) {
  std::unique_lock<std::mutex> lock(mutex);
  arrived.wait_until(lock, end, [&] { return status.has_value(); });
  return status;
}

SharedPmixAnswer ask_pmix(const PmixLibrary& pmix, const pmix_proc_t& proc, std::string key,
                          const pmix_info_t* how) {
  auto answer = std::make_shared<PmixAnswer>();
  answer->key = std::move(key);
  auto data = std::make_unique<SharedPmixAnswer>(answer);
  const pmix_status_t status =
      pmix.get_nb(&proc, answer->key.c_str(), how, how == nullptr ? 0 : 1, on_value, data.get());
  if (status == PMIX_ERR_NOT_FOUND) {  // known at once; on_value is not called
    answer->set(status);
    return answer;
  }
  pmix.check("PMIx_Get_nb", status);
  (void)data.release();  // owned by on_value from here on
  return answer;
}

SharedPmixAnswer begin_pmix_fence(const PmixLibrary& pmix) {
  auto answer = std::make_shared<PmixAnswer>();
  auto data = std::make_unique<SharedPmixAnswer>(answer);
  pmix.check("PMIx_Fence_nb", pmix.fence_nb(nullptr, 0, nullptr, 0, on_done, data.get()));
  (void)data.release();  // owned by on_done from here on
  return answer;
}

}  // namespace hpcboot

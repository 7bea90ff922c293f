#include "hpcboot/error.hpp"
#include "pmix.hpp"

namespace hpcboot {

std::string load_pmix(const Env&) {
  throw Error(ErrorCode::backend_unavailable,
              "the launcher offers PMIx, but this build of hpcboot has no PMIx support",
              "a build that found pmix.h",
              "install libpmix-dev (or load the pmix module), configure and build again; or set "
              "HPCBOOT_MASTER_ADDR and HPCBOOT_MASTER_PORT");
}

std::unique_ptr<KeyValueStore> open_pmix_kvs(const Env& env, std::chrono::milliseconds) {
  load_pmix(env);
  return nullptr;
}

}  // namespace hpcboot

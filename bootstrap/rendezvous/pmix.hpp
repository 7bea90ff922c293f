#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "hpcboot/key_value_store.hpp"

namespace hpcboot {

// Connects to the PMIx server that PMIX_NAMESPACE and PMIX_SERVER_URI* name.
std::unique_ptr<KeyValueStore> open_pmix_kvs(const Env& env, std::chrono::milliseconds deadline);

// Loads libpmix: the first of pmix_library_names() that can be loaded. Only once in the life of a
// process.
// @return "pmix: OpenPMIx 4.2.2 (/usr/lib/libpmix.so.2)". @throws Error{backend_unavailable}
std::string load_pmix(const Env& env);

}  // namespace hpcboot

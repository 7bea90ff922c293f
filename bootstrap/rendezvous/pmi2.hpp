#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "hpcboot/key_value_store.hpp"

namespace hpcboot {

// Slurm's PMI2, through libpmi2. Can be opened only once in the life of a process.
std::unique_ptr<KeyValueStore> open_pmi2_kvs(std::chrono::milliseconds deadline);

// Loads libpmi2. @return "pmi2: /usr/lib/libpmi2.so.0". @throws Error{backend_unavailable}
std::string load_pmi2();

}  // namespace hpcboot

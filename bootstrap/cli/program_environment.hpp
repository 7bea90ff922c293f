#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/key_value_store.hpp"
#include "hpcboot/resolve.hpp"
#include "verbs.hpp"

// The environment that `exec` and `run` give to the programs that they start.
namespace hpcboot::tool {

using Variables = std::map<std::string, std::string>;

struct ProgramEnvironment {
  Resolution resolution;
  DeviceChoice device;  // chosen only for gpu_bind
  Variables variables;  // the whole environment of the program
};

struct ProgramOptions {
  bool gpu_bind = false;  // the program sees only this rank's device
  std::chrono::seconds timeout{60};
  // A key-value store that takes precedence over all others, for the rank that the environment
  // names; null if there is none, on all ranks or on none.
  std::function<std::unique_ptr<KeyValueStore>(const Resolution&)> way = nullptr;
};

// If the environment does not say where rank 0 listens, the ranks exchange it. Hints and conflicts
// go to standard error.
// @param verb with its arguments: hpcboot restarts itself with them if PMIx needs a setting in its
//        initial environment
// @throws Error
ProgramEnvironment environment_for_program(const Env& env, const ProgramOptions& options,
                                           const char* verb, const Arguments& arguments);

}  // namespace hpcboot::tool

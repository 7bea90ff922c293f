#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "hpcboot/endpoint.hpp"
#include "hpcboot/key_value_store.hpp"
#include "hpcboot/resolve.hpp"
#include "verbs.hpp"

// What `exec` and `run` give the programs that they start.
namespace hpcboot::tool {

using Variables = std::map<std::string, std::string>;

struct ProgramEnvironment {
  Resolution resolution;
  DeviceChoice device;  // chosen only for gpu_bind
  Variables variables;  // all that the program is to have
};

struct ProgramOptions {
  bool gpu_bind = false;  // the program sees this rank's own device only
  std::chrono::seconds timeout{60};
  // A way between the ranks that comes before all others, of the rank that the environment names;
  // null if there is none, on all ranks or on none of them.
  std::function<std::unique_ptr<KeyValueStore>(const Resolution&)> way = nullptr;
};

// Where the environment does not say where rank 0 listens, the ranks find each other; hints and
// conflicts go to standard error.
// @param verb and its arguments, with which this program starts itself again where PMIx has to be
//        told something before it is used
// @throws Error
ProgramEnvironment environment_for_program(const Env& env, const ProgramOptions& options,
                                           const char* verb, const Arguments& arguments);

// Becomes the program. @return only if that fails: errno
int become(const Variables& variables, const std::vector<std::string>& command,
           const char* program);

}  // namespace hpcboot::tool

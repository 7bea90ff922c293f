#include "loop/same_run.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "hpcboot/error.hpp"
#include "loop/run_identity.hpp"

namespace hpcboot::train {
namespace {

/// What may differ between hosts, and what only rank 0 uses.
constexpr const char* kOwn[] = {
    "device",     "devices",          "threads",           "loader_threads",
    "data",       "runs_dir",         "comment",           "tensorboard",
    "time_limit", "start_up_timeout", "collective_timeout"};

Json compared(const TrainOptions& options, const Json& identity) {
  Json all = to_json(options);
  for (const char* key : kOwn) all.erase(key);
  all.update(identity);
  return all;
}

}  // namespace

void require_same_run(const TrainOptions& options, const Json& identity,
                      Communicator& communicator) {
  if (communicator.size() == 1) return;
  const Json own = compared(options, identity);
  const std::string first =
      communicator.broadcast(communicator.is_first() ? json_text(own).str() : "");
  std::string found;
  if (const auto texts = differences(own, parse_json(first), "on rank 0"); !texts.empty()) {
    found = fmt::format("rank {} of {}: {}", communicator.rank(), communicator.size(),
                        fmt::join(texts.begin(), texts.end(), "; "));
  }
  for (const std::string& text : communicator.gather(found)) {
    if (text.empty()) continue;
    throw Error(ErrorCode::invalid_model_use, text, "the same options and data on every rank",
                "give all ranks the same command line and --config file, and copy the data set to "
                "the hosts again if theirs differ");
  }
}

}  // namespace hpcboot::train

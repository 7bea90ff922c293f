#include "loop/resume_request.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "hpcboot/error.hpp"
#include "loop/checkpoint_folder.hpp"

namespace hpcboot::train {
namespace {

using record::RunFolder;

/// The request, if this is a run folder or a file in its folder of checkpoints.
std::optional<ResumeRequest> request_for(const std::filesystem::path& given) {
  const auto is_run = [](const RunFolder& folder) {
    std::error_code absent;
    return std::filesystem::exists(folder.run_json(), absent);
  };
  const std::filesystem::path path = given.has_filename() ? given : given.parent_path();
  const RunFolder named(path);
  if (is_run(named)) return ResumeRequest{named};
  const std::filesystem::path above = path.parent_path().parent_path();
  const RunFolder around(above.empty() ? "." : above);
  if (path.parent_path().filename() != around.checkpoints().filename() || !is_run(around)) {
    return std::nullopt;
  }
  return ResumeRequest{around, path.filename().string()};
}

}  // namespace

ResumeRequest request_of(const TrainOptions& options) {
  if (options.resume == "auto") return {};
  if (options.resume == "best") return {std::nullopt, kBestCheckpoint};
  for (const std::filesystem::path& path :
       {std::filesystem::path(options.resume),
        std::filesystem::path(options.runs_dir) / options.resume}) {
    if (auto request = request_for(path)) return *std::move(request);
  }
  throw Error(ErrorCode::unreadable_file, fmt::format("no run in '{}'", options.resume),
              "a run folder with its run.json, a checkpoint in one, auto or best",
              fmt::format("give one of the folders in {}, or omit --resume", options.runs_dir));
}

}  // namespace hpcboot::train

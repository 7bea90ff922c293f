#include "loop/usable_checkpoint.hpp"

#include <fmt/format.h>

#include <utility>

#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"
#include "loop/checkpoint_folder.hpp"

namespace hpcboot::train {

std::optional<UsableCheckpoint> first_usable(const std::vector<std::filesystem::path>& files,
                                             const Json& identity,
                                             std::vector<std::string>& notes) {
  for (const auto& file : files) {
    try {
      Checkpoint checkpoint = read_checkpoint(file);
      if (checkpoint.state.identity == identity) {
        return UsableCheckpoint{file, std::move(checkpoint)};
      }
      notes.push_back(
          fmt::format("checkpoint {} cannot be used: it belongs to another configuration",
                      file.filename().string()));
    } catch (const Error& error) {
      notes.push_back(
          fmt::format("checkpoint {} cannot be used: {}", file.filename().string(), error.found()));
    }
  }
  return std::nullopt;
}

std::string how_to_take_best(const record::RunFolder& folder, const Json& identity) {
  std::vector<std::string> unused;
  const auto best =
      first_usable({checkpoint_path(folder.checkpoints(), kBestCheckpoint)}, identity, unused);
  if (!best) return {};
  const TrainingState& state = best->checkpoint.state;
  return fmt::format("--resume {} continues from its best epoch, {} (step {})",
                     shell_quote(best->file.string()), state.epoch - 1, state.step);
}

}  // namespace hpcboot::train

#include "loop/usable_checkpoint.hpp"

#include <fmt/format.h>

#include <utility>

#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"
#include "loop/checkpoint_folder.hpp"
#include "loop/error_words.hpp"
#include "loop/memory_failure.hpp"
#include "loop/run_identity.hpp"

namespace hpcboot::train {

std::optional<UsableCheckpoint> first_usable(const std::vector<std::filesystem::path>& files,
                                             const Configuration& own,
                                             std::vector<std::string>& notes) {
  std::optional<TrainingShapes> shapes;
  for (const auto& file : files) {
    const auto note = [&](const std::string& reason) {
      notes.push_back(
          fmt::format("checkpoint {} cannot be used: {}", file.filename().string(), reason));
    };
    const auto examine = [&](const TrainingState& state,
                             const std::vector<record::TensorInfo>& tensors) {
      if (!differences(own.identity, state.identity).empty()) {
        throw Error(ErrorCode::malformed_file, "it belongs to another configuration",
                    "a checkpoint of this configuration", "resume the run that saved it");
      }
      if (tensors.empty()) return;  // for the shapes, a model is made
      if (!shapes) shapes = own.shapes();
      require_shapes(tensors, *shapes, file.string());
    };
    try {
      return UsableCheckpoint{file, read_checkpoint(file, examine)};
    } catch (const Error& error) {
      note(error.found());
    } catch (const std::exception& error) {
      // The tensors take no more memory than the run itself needs: another checkpoint is no help.
      if (means_memory(error)) throw;
      note(error_words(error));
    }
  }
  return std::nullopt;
}

std::string how_to_take_best(const record::RunFolder& folder, const Configuration& own) {
  std::vector<std::string> unused;
  const auto best =
      first_usable({checkpoint_path(folder.checkpoints(), kBestCheckpoint)}, own, unused);
  if (!best) return {};
  const TrainingState& state = best->checkpoint.state;
  return fmt::format("--resume {} continues from its best epoch, {} (step {})",
                     bash_quote(best->file.string()), state.epoch - 1, state.step);
}

}  // namespace hpcboot::train

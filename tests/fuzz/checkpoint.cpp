#include "fuzz.hpp"
#include "loop/training_state.hpp"

// The state in a checkpoint: read back as written, with numbers that training can go on from, or an
// Error. Its tensors are those of a safetensors file.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  Json json;
  try {
    json = parse_json(fuzz::text_of(data, size));
  } catch (const JsonError&) {
    return 0;
  }
  fuzz::allow_error([&] {
    const train::TrainingState state = train::training_state_from_json(json, "f");
    fuzz::require(state.epoch >= 1 && state.step >= 0 && state.progress.steps >= 0,
                  "epochs are numbered from 1, steps counted");
    fuzz::require(state.progress.steps <= train::kMostSteps, "no more than can be counted");
    fuzz::require(state.world_size >= 1 && state.devices >= 1, "somebody has saved it");
    const Json written = train::to_json(state);
    fuzz::require(train::to_json(train::training_state_from_json(written, "f")) == written,
                  "a state is read back");
  });
  return 0;
}

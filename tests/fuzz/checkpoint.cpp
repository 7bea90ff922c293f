#include "fuzz.hpp"
#include "loop/training_state.hpp"

// The state in a checkpoint: reads back as written, with numbers from which training can continue,
// or an Error. Its tensors are in a safetensors file.
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
    fuzz::require(state.progress.steps <= train::kMostSteps, "at most kMostSteps steps");
    fuzz::require(state.world_size >= 1 && state.devices >= 1,
                  "at least one rank and one device saved it");
    const Json written = train::to_json(state);
    fuzz::require(train::to_json(train::training_state_from_json(written, "f")) == written,
                  "a state reads back unchanged");
  });
  return 0;
}

#include "loop/training_state.hpp"

#include <cmath>

namespace hpcboot::train {
namespace {

constexpr std::string_view kNumber = "a number";

double number(const JsonReader& reader, const char* key) {
  return reader.require(key, reader.number(key), kNumber);
}

/// Counters from a file that may be hostile. The default limit leaves room, since they are
/// incremented.
std::int64_t count(const JsonReader& reader, const char* key,
                   std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2) {
  return reader.require(key, reader.integer(key, 0, most), kNumber);
}

int from_one(const JsonReader& reader, const char* key) {
  return static_cast<int>(reader.require(
      key, reader.integer(key, 1, std::numeric_limits<std::int32_t>::max() - 1), kNumber));
}

JsonReader object(const JsonReader& reader, const char* key) {
  return reader.require(key, reader.object(key), "an object");
}

Json json_of(const EpochProgress& progress) {
  return Json{{"steps", progress.steps},
              {"loss_sum", progress.loss_sum},
              {"loss_images", progress.loss_images},
              {"images_seen", progress.images_seen},
              {"train_seconds", progress.train_seconds},
              {"data_wait_seconds", progress.data_wait_seconds},
              {"forward_seconds", progress.phases.forward},
              {"backward_seconds", progress.phases.backward},
              {"communication_seconds", progress.phases.communication},
              {"optimizer_seconds", progress.phases.optimizer},
              {"bytes_reduced", progress.phases.bytes_reduced},
              {"skipped_before", progress.skipped_before}};
}

EpochProgress progress_from(const JsonReader& reader) {
  EpochProgress progress;
  progress.steps = count(reader, "steps", kMostSteps);
  progress.loss_sum = number(reader, "loss_sum");
  progress.loss_images = number(reader, "loss_images");
  progress.images_seen = count(reader, "images_seen");
  progress.train_seconds = number(reader, "train_seconds");
  progress.data_wait_seconds = number(reader, "data_wait_seconds");
  progress.phases.forward = number(reader, "forward_seconds");
  progress.phases.backward = number(reader, "backward_seconds");
  progress.phases.communication = number(reader, "communication_seconds");
  progress.phases.optimizer = number(reader, "optimizer_seconds");
  progress.phases.bytes_reduced = count(reader, "bytes_reduced");
  progress.skipped_before = count(reader, "skipped_before");
  return progress;
}

}  // namespace

BestValidation validation_of(int epoch, double score, double loss) {
  using Numbers = std::numeric_limits<double>;
  return {epoch, std::isfinite(score) ? score : Numbers::lowest(),
          std::isfinite(loss) ? loss : Numbers::max()};
}

Json to_json(const TrainingState& state) {
  Json json = {{"epoch", state.epoch},
               {"step", state.step},
               {"progress", json_of(state.progress)},
               {"scaler", nullptr},
               {"best", nullptr},
               {"world_size", state.world_size},
               {"devices", state.devices},
               {"runtime_seconds", state.runtime_seconds},
               {"identity", state.identity}};
  if (state.scaler) {
    json["scaler"] = {{"scale", state.scaler->scale},
                      {"steps_since_change", state.scaler->steps_since_change},
                      {"skipped_steps", state.scaler->skipped_steps}};
  }
  if (state.best) {
    json["best"] = {
        {"epoch", state.best->epoch}, {"score", state.best->score}, {"loss", state.best->loss}};
  }
  return json;
}

TrainingState training_state_from_json(const Json& json, const std::string& file) {
  const JsonReader reader(file, json);
  TrainingState state;
  state.epoch = from_one(reader, "epoch");
  state.step = count(reader, "step");
  state.progress = progress_from(object(reader, "progress"));
  if (const auto scaler = reader.object("scaler")) {
    state.scaler = GradScalerState{number(*scaler, "scale"), count(*scaler, "steps_since_change"),
                                   count(*scaler, "skipped_steps")};
  }
  if (const auto best = reader.object("best")) {
    const auto score = best->number("score");
    // Earlier versions knew no other score than the accuracy.
    state.best = BestValidation{from_one(*best, "epoch"),
                                score ? *score : number(*best, "accuracy"), number(*best, "loss")};
  }
  state.world_size = from_one(reader, "world_size");
  state.devices = from_one(reader, "devices");
  state.runtime_seconds = number(reader, "runtime_seconds");
  state.identity = object(reader, "identity").json();
  return state;
}

}  // namespace hpcboot::train

#include "loop/shared_resume.hpp"

#include <utility>

#include "hpcboot/error.hpp"
#include "json/json_reader.hpp"
#include "loop/best_at_resume.hpp"
#include "loop/checkpoint_folder.hpp"
#include "record/disk_sync.hpp"

namespace hpcboot::train {
namespace {

/// Makes the point the run's newest checkpoint, and removes later ones. Must happen before anything
/// else of the run is cut back to it: until then, a crash leaves the run unchanged.
void go_back(const ResumePoint& point, std::size_t keep) {
  const TrainingState& state = point.checkpoint.state;
  const bool is_sharded = !point.checkpoint.folder.empty();  // then it has its own name
  const std::filesystem::path newest =
      is_sharded ? point.file
                 : point.folder.checkpoints() / checkpoint_name(state.epoch - 1, state.step);
  if (point.file != newest) write_checkpoint(point.checkpoint, newest);
  keep_newest_checkpoints(newest, keep);
  record::sync_folder(point.folder.checkpoints());
}

/// Rank 0's part. Returns the message to the other ranks.
Json find(const TrainOptions& options, const Configuration& own, const record::LockHolder& self,
          SharedResume& shared) {
  try {
    shared.point = find_resume_point(options, own, self, shared.notes);
    if (shared.point && shared.point->goes_back)
      go_back(*shared.point, static_cast<std::size_t>(options.keep_checkpoints));
    if (shared.point) agree_on_best(*shared.point);
  } catch (const UsageError& error) {
    return {{"usage", error.what()}};
  } catch (const Error& error) {
    return {{"code", error.exit_code()},
            {"found", error.found()},
            {"expected", error.expected()},
            {"remedy", error.remedy()}};
  } catch (const std::filesystem::filesystem_error& error) {
    return {{"code", static_cast<int>(ErrorCode::unreadable_file)},
            {"found", error.what()},
            {"expected", "a folder of runs that this user can read"},
            {"remedy", "check the path and its permissions"}};
  }
  if (!shared.point) return Json::object();
  shared.tensors = std::move(shared.point->checkpoint.tensors);
  return {{"state", to_json(shared.point->checkpoint.state)},
          {"sharded", !shared.point->checkpoint.folder.empty()},
          {"file", shared.point->file.string()}};
}

}  // namespace

SharedResume resume_together(const TrainOptions& options, const Configuration& own,
                             const record::LockHolder& self, Communicator& communicator) {
  SharedResume shared;
  if (options.resume.empty() || options.resume == "none") return shared;
  std::string text;
  if (communicator.is_first()) {
    text = json_text(find(options, own, self, shared)).str();
  }
  const Json told = parse_json(communicator.broadcast(text));
  const JsonReader reader("rank 0's answer", told);
  const auto part = [&](const char* key) {
    return reader.require(key, reader.text(key), "a string");
  };
  if (const auto usage = reader.text("usage")) throw UsageError(*usage);
  if (const auto code = reader.small_integer("code"))
    throw Error(static_cast<ErrorCode>(*code), part("found"), part("expected"), part("remedy"));
  if (!told.contains("state")) return shared;
  shared.file = part("file");
  shared.state = training_state_from_json(told["state"], shared.file);
  shared.is_sharded = reader.require("sharded", reader.boolean("sharded"), "a Boolean");
  if (!shared.is_sharded) share_tensors(shared.tensors, communicator);
  return shared;
}

}  // namespace hpcboot::train

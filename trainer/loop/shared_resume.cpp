#include "loop/shared_resume.hpp"

#include <utility>

#include "hpcboot/error.hpp"

namespace hpcboot::train {
namespace {

using record::Json;

/// Rank 0's part: what the others are told.
Json find(const TrainOptions& options, const Json& identity, const record::LockHolder& self,
          SharedResume& shared) {
  try {
    shared.point = find_resume_point(options, identity, self, shared.notes);
  } catch (const UsageError& error) {
    return {{"usage", error.what()}};
  } catch (const Error& error) {
    return {{"code", error.exit_code()},
            {"found", error.found()},
            {"expected", error.expected()},
            {"remedy", error.remedy()}};
  }
  if (!shared.point) return Json::object();
  shared.tensors = std::move(shared.point->checkpoint.tensors);
  return {{"state", to_json(shared.point->checkpoint.state)},
          {"file", shared.point->file.string()}};
}

}  // namespace

SharedResume resume_together(const TrainOptions& options, const Json& identity,
                             const record::LockHolder& self, Team& team) {
  SharedResume shared;
  if (options.resume.empty() || options.resume == "none") return shared;
  std::string text;
  if (team.is_first()) {
    text =
        find(options, identity, self, shared).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  const Json told = Json::parse(team.text_from_first(text));
  if (told.contains("usage")) throw UsageError(told["usage"].get<std::string>());
  if (told.contains("code")) {
    throw Error(static_cast<ErrorCode>(told["code"].get<int>()), told["found"], told["expected"],
                told["remedy"]);
  }
  if (!told.contains("state")) return shared;
  shared.file = told["file"];
  shared.state = training_state_from_json(told["state"], shared.file);
  share_tensors(shared.tensors, team);
  return shared;
}

}  // namespace hpcboot::train

#include "export/written_run.hpp"

#include <vector>

#include "export/run_values.hpp"
#include "hpcboot/error.hpp"
#include "record/atomic_file.hpp"
#include "record/run_phases.hpp"

namespace hpcboot::exports {
namespace {

namespace fs = std::filesystem;

/// Beside the files of the other tool, which ignores it.
fs::path note_in(const fs::path& folder) {
  return folder / "hpcboot.json";
}

Json end_of(const record::RunRecord& run) {
  const std::vector<std::int64_t> steps = record::last_steps(run.epochs);
  return {{"finished", run.finished.value_or("")}, {"step", steps.empty() ? 0 : steps.back()}};
}

/// What an earlier export has left in `folder`; nothing if there is no such folder.
std::optional<Exported> exported_before(const fs::path& folder, const record::RunRecord& run) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return std::nullopt;
  try {
    constexpr JsonLimits kLimits{4096, 2, 16};
    if (read_json_file(note_in(folder), kLimits) != end_of(run))
      return Exported{Exported::When::before_it_went_on, folder};
  } catch (const Error&) {  // without a note that can be read, nothing is known
  }
  return Exported{Exported::When::before, folder};
}

/// Two tasks of an array, each with its own runs, can start runs of one name in the same second.
std::string identity_of(const fs::path& folder, const record::RunRecord& run) {
  std::error_code ignored;
  return run.run + run.started + "\n" +
         record::origin_of(run).value_or(fs::weakly_canonical(folder, ignored).string());
}

}  // namespace

void note_end(const fs::path& folder, const record::RunRecord& run) {
  record::write_file_atomically(note_in(folder), json_text(end_of(run)).str() + "\n");
}

Place Places::place_of(const fs::path& folder, const record::RunRecord& run, std::size_t digits,
                       const FolderOf& folder_of) {
  const std::string identity = identity_of(folder, run);
  std::string id = id_of(identity, digits);
  const fs::path place = folder_of(id);
  if (auto before = exported_before(place, run)) return {std::move(id), place, std::move(before)};
  // An older version made the id of name and second alone: what has it is one run, not two.
  const fs::path older = folder_of(id_of(run.run + run.started, digits));
  auto before = exported_before(older, run);
  if (before && older_.try_emplace(older, identity).first->second != identity) before.reset();
  return {std::move(id), place, std::move(before)};
}

}  // namespace hpcboot::exports

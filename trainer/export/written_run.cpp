#include "export/written_run.hpp"

#include <vector>

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

}  // namespace

void note_end(const fs::path& folder, const record::RunRecord& run) {
  record::write_file_atomically(note_in(folder), json_text(end_of(run)).str() + "\n");
}

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

}  // namespace hpcboot::exports

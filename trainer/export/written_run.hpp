#pragma once

#include <filesystem>
#include <optional>

#include "export/exporter.hpp"
#include "record/run_record.hpp"

namespace hpcboot::exports {

/// Notes in `folder`, which an export is writing, which end of the run it has: a run that is
/// continued gets a later one. @throws Error{unwritable_output}
void note_end(const std::filesystem::path& folder, const record::RunRecord& run);

/// What an earlier export has left in `folder`; nothing if there is no such folder.
std::optional<Exported> exported_before(const std::filesystem::path& folder,
                                        const record::RunRecord& run);

}  // namespace hpcboot::exports

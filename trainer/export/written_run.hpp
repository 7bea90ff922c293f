#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "export/exporter.hpp"
#include "record/run_record.hpp"

namespace hpcboot::exports {

/// Notes in `folder`, which an export is writing, which end of the run it has: a run that is
/// continued gets a later one. @throws Error{unwritable_output}
void note_end(const std::filesystem::path& folder, const record::RunRecord& run);

/// Where a run is in an export, or is to be.
struct Place {
  std::string id;
  std::filesystem::path folder;
  std::optional<Exported> before;  ///< what an earlier export has left there, if any
};

/// The places of the runs in an export: an id depends on the run's name, its start, and its origin,
/// which stays if it is continued.
class Places {
 public:
  using FolderOf = std::function<std::filesystem::path(const std::string& id)>;

  /// @param digits of an id
  /// @param folder_of the folder in the export for an id
  Place place_of(const std::filesystem::path& folder, const record::RunRecord& run,
                 std::size_t digits, const FolderOf& folder_of);

 private:
  /// Folders that an older version wrote, and the runs that they have been taken for.
  std::map<std::filesystem::path, std::string> older_;
};

}  // namespace hpcboot::exports

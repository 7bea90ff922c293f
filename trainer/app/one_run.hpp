#pragma once

#include <filesystem>

#include "record/run_record.hpp"

namespace hpcboot::app {

/// The record of the run that a user names by its folder or run.json.
/// @throws Error{unreadable_file, malformed_file}
inline record::RunRecord read_run(const std::filesystem::path& place) {
  std::error_code error;
  return record::RunRecord::read(std::filesystem::is_directory(place, error) ? place / "run.json"
                                                                             : place);
}

}  // namespace hpcboot::app

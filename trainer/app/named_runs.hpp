#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "options/option.hpp"
#include "record/run_record.hpp"

namespace hpcboot::app {

/// The record of the run that a user names by its folder or run.json.
/// @throws Error{unreadable_file, malformed_file}
inline record::RunRecord read_run(const std::filesystem::path& place) {
  std::error_code error;
  return record::RunRecord::read(std::filesystem::is_directory(place, error) ? place / "run.json"
                                                                             : place);
}

/// The places of the operand DIR, or runs/.
inline std::vector<std::filesystem::path> places_of(const options::po::variables_map& values) {
  if (values.count("dir") == 0) return {"runs"};
  const auto& named = values["dir"].as<std::vector<std::string>>();
  return {named.begin(), named.end()};
}

}  // namespace hpcboot::app

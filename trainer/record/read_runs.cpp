#include "record/read_runs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "hpcboot/error.hpp"
#include "record/run_folder.hpp"

namespace hpcboot::record {
namespace {

namespace fs = std::filesystem;
using Take = std::function<void(const fs::path& folder, const RunRecord& run)>;

Error unreadable_place(const fs::path& place, const std::string& reason) {
  return Error(ErrorCode::unreadable_file,
               fmt::format("cannot read '{}': {}", place.string(), reason),
               "a folder of runs, a run folder or a run.json",
               "name the folder that the trainer wrote to (--runs-dir), or run the trainer first");
}

/// Identifies a file, by whatever path it is named.
using FileKey = std::pair<dev_t, ino_t>;

std::optional<FileKey> key_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  return FileKey(status.st_dev, status.st_ino);
}

/// The run.json files that a folder's subfolders have, or lack.
std::vector<fs::path> records_below(const fs::path& place, std::error_code& error) {
  std::vector<fs::path> files;
  fs::directory_iterator folder(place, error);
  for (; !error && folder != fs::directory_iterator(); folder.increment(error)) {
    const bool hidden = folder->path().filename().string().front() == '.';
    std::error_code ignored;
    if (!hidden && folder->is_directory(ignored))
      files.push_back(RunFolder(folder->path()).run_json());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The same for a folder of runs among runs, such as that of the job "compare"; none if it is not.
std::vector<fs::path> records_of_group(const fs::path& folder) {
  std::error_code unreadable;
  std::vector<fs::path> files = records_below(folder, unreadable);
  const bool is_group = std::any_of(files.begin(), files.end(), key_of);
  return is_group ? files : std::vector<fs::path>();
}

/// The run.json files of a place, including those missing from their run folders.
std::vector<fs::path> find_records(const fs::path& place) {
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (!fs::exists(status)) throw unreadable_place(place, error.message());
  if (!fs::is_directory(status)) return {place};
  const fs::path own = RunFolder(place).run_json();
  std::vector<fs::path> files;
  const bool is_run = fs::exists(own, error);
  if (is_run) files.push_back(own);
  std::set<FileKey> listed{key_of(place).value_or(FileKey())};
  const std::vector<fs::path> below = records_below(place, error);
  if (error) throw unreadable_place(place, error.message());
  for (const fs::path& file : below) {
    std::vector<fs::path> found{file};
    if (!key_of(file)) {
      // Each once: links to one folder, or to the place, would multiply the work.
      if (!listed.insert(key_of(file.parent_path()).value_or(FileKey())).second) continue;
      found = records_of_group(file.parent_path());
      // A run's own subfolders are not runs; but a stray run.json beside runs must not hide them.
      if (found.empty() && !is_run) found = {file};
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

/// Passes a run on, or returns why it is left out, as a sentence.
std::string take_record(const fs::path& file, Runs which, const Take& take) {
  std::optional<RunRecord> record;
  try {
    const Json json = read_json_file(file);
    try {
      record = run_record_from_json(json, file.string());
    } catch (const Error& problem) {
      return fmt::format("{}; expected {}", problem.found(), problem.expected());
    }
  } catch (const Error& problem) {
    return problem.found();
  }
  if (which == Runs::finished && record->exit_reason == kRunning) {
    return fmt::format("'{}' records a run that is not finished: still running, or killed",
                       file.string());
  }
  if (which == Runs::finished && record->exit_reason != kFinished) {
    return fmt::format("'{}' records a run that ended with '{}'", file.string(),
                       record->exit_reason);
  }
  take(file.has_parent_path() ? file.parent_path() : fs::path("."), *record);
  return "";
}

}  // namespace

std::vector<std::string> read_runs(const std::vector<fs::path>& places, Runs which,
                                   const Take& take) {
  std::vector<std::string> skipped;
  std::set<FileKey> seen;
  for (const fs::path& place : places) {
    for (const fs::path& file : find_records(place)) {
      const auto key = key_of(file);
      if (key && !seen.insert(*key).second) continue;
      std::string reason =
          key ? take_record(file, which, take)
              : fmt::format("'{}' contains no run.json", file.parent_path().string());
      if (!reason.empty()) skipped.push_back(std::move(reason));
    }
  }
  return skipped;
}

}  // namespace hpcboot::record

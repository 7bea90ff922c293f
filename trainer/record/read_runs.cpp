#include "record/read_runs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
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

/// A run.json; without a key, the folder lacks it. The key is asked for once: on a shared file
/// system that takes time.
struct RecordFile {
  fs::path path;
  std::optional<FileKey> key = key_of(path);
};

/// The run.json files that a folder's subfolders have, or lack.
std::vector<RecordFile> records_below(const fs::path& place, std::error_code& error) {
  std::vector<RecordFile> files;
  fs::directory_iterator folder(place, error);
  for (; !error && folder != fs::directory_iterator(); folder.increment(error)) {
    const bool hidden = folder->path().filename().string().front() == '.';
    std::error_code ignored;
    if (!hidden && folder->is_directory(ignored))
      files.push_back({RunFolder(folder->path()).run_json()});
  }
  std::sort(files.begin(), files.end(),
            [](const RecordFile& a, const RecordFile& b) { return a.path < b.path; });
  return files;
}

/// The same for a folder of runs among runs, such as that of the job "compare"; none if it is not.
std::vector<RecordFile> records_of_group(const fs::path& folder) {
  std::error_code unreadable;
  std::vector<RecordFile> files = records_below(folder, unreadable);
  const bool is_group = std::any_of(files.begin(), files.end(),
                                    [](const RecordFile& file) { return file.key.has_value(); });
  return is_group ? files : std::vector<RecordFile>();
}

/// The run.json files of a place, including those missing from their run folders.
std::vector<RecordFile> find_records(const fs::path& place) {
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (!fs::exists(status)) throw unreadable_place(place, error.message());
  if (!fs::is_directory(status)) return {RecordFile{place}};
  std::vector<RecordFile> files{RecordFile{RunFolder(place).run_json()}};
  const bool is_run = files.front().key.has_value();
  if (!is_run) files.clear();
  std::set<FileKey> listed{key_of(place).value_or(FileKey())};
  std::vector<RecordFile> below = records_below(place, error);
  if (error) throw unreadable_place(place, error.message());
  for (RecordFile& file : below) {
    if (file.key) {
      files.push_back(std::move(file));
      continue;
    }
    // Each once: links to one folder, or to the place, would multiply the work.
    const fs::path folder = file.path.parent_path();
    if (!listed.insert(key_of(folder).value_or(FileKey())).second) continue;
    std::vector<RecordFile> group = records_of_group(folder);
    // A run's own subfolders are not runs; but a stray run.json beside runs must not hide them.
    if (group.empty() && !is_run) files.push_back(std::move(file));
    std::move(group.begin(), group.end(), std::back_inserter(files));
  }
  return files;
}

/// Passes a run on, or notes why it is left out, as a sentence.
void take_record(const fs::path& file, Runs which, const Take& take, SkippedRuns& skipped) {
  RunRecord record;
  bool is_json = false;
  try {
    const Json json = read_json_file(file);
    is_json = true;
    record = run_record_from_json(json, file.string());
  } catch (const Error& problem) {
    skipped.lines.push_back(
        is_json ? fmt::format("{}; expected {}", problem.found(), problem.expected())
                : problem.found());
    if (!skipped.first_problem) skipped.first_problem = problem.code();
    return;
  }
  if (which == Runs::finished && record.exit_reason == kRunning) {
    skipped.lines.push_back(fmt::format(
        "'{}' records a run that is not finished: still running, or killed", file.string()));
  } else if (which == Runs::finished && record.exit_reason != kFinished) {
    skipped.lines.push_back(
        fmt::format("'{}' records a run that ended with '{}'", file.string(), record.exit_reason));
  } else {
    take(file.has_parent_path() ? file.parent_path() : fs::path("."), record);
  }
}

}  // namespace

SkippedRuns read_runs(const std::vector<fs::path>& places, Runs which, const Take& take) {
  SkippedRuns skipped;
  std::set<FileKey> seen;
  for (const fs::path& place : places) {
    for (const RecordFile& file : find_records(place)) {
      if (file.key) {
        if (seen.insert(*file.key).second) take_record(file.path, which, take, skipped);
        continue;
      }
      skipped.lines.push_back(
          fmt::format("'{}' contains no run.json", file.path.parent_path().string()));
      if (!skipped.first_problem) skipped.first_problem = ErrorCode::unreadable_file;
    }
  }
  return skipped;
}

}  // namespace hpcboot::record

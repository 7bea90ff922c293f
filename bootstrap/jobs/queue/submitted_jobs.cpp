#include "submitted_jobs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/user_folders.hpp"
#include "hpcboot/error.hpp"
#include "json/bounded_json.hpp"
#include "json/json_reader.hpp"

namespace hpcboot::queue {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 500;

// Ids may contain brackets, cluster names anything: other characters become "_".
std::string file_name(const SubmittedJob& job) {
  std::string name = job.scheduler + "-" + job.cluster + "-" + job.id;
  for (char& c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!is_plain) c = '_';
  }
  return name + ".json";
}

Json json_of(const SubmittedJob& job) {
  Json json = {{"id", job.id},
               {"scheduler", job.scheduler},
               {"cluster", job.cluster},
               {"site", job.site},
               {"name", job.name},
               {"folder", job.folder},
               {"command", job.command},
               {"output", job.output},
               {"runs_dir", job.runs_dir},
               {"nodes", job.nodes},
               {"submitted", job.submitted},
               {"state", job.state},
               {"ended", job.ended},
               {"missing_since", job.missing_since}};
  json["exit_code"] = job.exit_code ? Json(*job.exit_code) : Json();
  return json;
}

SubmittedJob job_in(const fs::path& file) {
  const Json json = read_json_file(file);
  const JsonReader reader(file.string(), json);
  const auto text = [&](const char* key) { return reader.text(key).value_or(""); };
  SubmittedJob job;
  job.id = text("id");
  job.scheduler = text("scheduler");
  job.cluster = text("cluster");
  job.site = text("site");
  job.name = text("name");
  job.folder = text("folder");
  job.command = text("command");
  job.output = reader.texts("output").value_or(std::vector<std::string>());
  job.runs_dir = text("runs_dir");
  job.nodes = reader.small_integer("nodes").value_or(0);
  job.submitted = reader.integer("submitted").value_or(0);
  job.state = text("state");
  job.exit_code = reader.small_integer("exit_code");
  job.ended = reader.integer("ended").value_or(0);
  job.missing_since = reader.integer("missing_since").value_or(0);
  return job;
}

[[noreturn]] void fail(const fs::path& where) {
  throw Error(ErrorCode::unwritable_output,
              "the submitted job cannot be recorded in " + where.string(),
              "a writable folder that you own",
              "free up space there, or set XDG_STATE_HOME to another folder");
}

}  // namespace

SubmittedJobs::SubmittedJobs(const Env& env) {
  if (const std::string state = state_folder(env); !state.empty())
    folder_ = fs::path(state) / "hpcboot/submitted";
}

// Written to a temporary file and renamed: another hpcboot may read it at any time.
bool SubmittedJobs::remember(const SubmittedJob& job) const {
  if (folder_.empty()) return false;
  std::error_code failure;
  fs::create_directories(folder_, failure);
  if (failure) fail(folder_);
  fs::permissions(folder_, fs::perms::owner_all, failure);
  const fs::path file = folder_ / file_name(job);
  std::string partial = file.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(partial.data());  // mode 0600
  if (descriptor < 0) fail(partial);
  const std::string text = json_text(json_of(job), 2).str() + "\n";
  const bool is_written =
      ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  // Network file systems report a full disk when the file is closed.
  if (::close(descriptor) != 0 || !is_written || ::rename(partial.c_str(), file.c_str()) != 0) {
    ::unlink(partial.c_str());
    fail(file);
  }
  return true;
}

std::vector<SubmittedJob> SubmittedJobs::of(const Queue* queue) const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code none;
  for (fs::directory_iterator entry(folder_, none), end; !none && entry != end;
       entry.increment(none)) {
    std::error_code gone;
    if (entry->path().extension() == ".json")
      files.emplace_back(entry->last_write_time(gone), entry->path());
  }
  std::sort(files.rbegin(), files.rend());
  if (files.size() > kMostFiles) files.resize(kMostFiles);
  std::vector<SubmittedJob> jobs;
  for (const auto& [time, file] : files) {
    try {
      SubmittedJob job = job_in(file);
      const bool is_here = queue == nullptr ||
                           (job.scheduler == queue->scheduler() && job.cluster == queue->cluster());
      if (is_here) jobs.push_back(std::move(job));
    } catch (const Error&) {
      continue;  // a disk was full, or the file was modified
    }
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const SubmittedJob& a, const SubmittedJob& b) {
    return a.submitted > b.submitted;
  });
  return jobs;
}

std::optional<SubmittedJob> SubmittedJobs::find(const std::string& id, const Queue* queue) const {
  for (SubmittedJob& job : of(queue)) {
    if (id.empty() || job.id == id || job.id.rfind(id + ".", 0) == 0) return std::move(job);
  }
  return std::nullopt;
}

}  // namespace hpcboot::queue

#include "known_jobs.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "hpcboot/error.hpp"
#include "json/bounded_json.hpp"
#include "json/json_reader.hpp"

namespace hpcboot::queue {
namespace {

// For an array the scheduler lists tasks: "12_3", "12[3].server", "12.3"; for a heterogeneous job
// its components, "12+1".
bool is_task_of(const std::string& listed, const std::string& submitted) {
  const std::string number = submitted.substr(0, submitted.find_first_of("[."));
  if (listed.size() <= number.size() || listed.compare(0, number.size(), number) != 0) return false;
  const std::string rest = listed.substr(number.size());
  return rest[0] == '_' || rest[0] == '[' || rest[0] == '+' ||
         (rest[0] == '.' && rest.size() > 1 && rest[1] >= '0' && rest[1] <= '9');
}

QueuedJob from_memory(const SubmittedJob& submitted) {
  QueuedJob job;
  job.id = submitted.id;
  job.name = submitted.name;
  job.nodes = submitted.nodes;
  job.submitted = wall_time_of(submitted.submitted);
  job.stage = submitted.state.empty() ? JobStage::waiting : JobStage::ended;
  job.state = submitted.state.empty() ? "unknown" : submitted.state;
  job.exit_code = submitted.exit_code;
  job.end = time_of_epoch(std::to_string(submitted.ended));
  return job;
}

void remember(const SubmittedJob& submitted, const SubmittedJobs& memory) {
  try {
    memory.remember(submitted);
  } catch (const Error&) {
    return;  // the scheduler is asked again next time
  }
}

// Schedulers forget ended jobs soon.
void remember_end(SubmittedJob& submitted, const QueuedJob& job, const SubmittedJobs& memory) {
  if (job.stage != JobStage::ended || submitted.state == job.state) return;
  submitted.state = job.state;
  submitted.exit_code = job.exit_code;
  submitted.ended = job.end ? std::chrono::system_clock::to_time_t(*job.end) : 0;
  remember(submitted, memory);
}

// Grid Engine writes the accounting record of an ended job only after a while.
bool is_forgotten(SubmittedJob& submitted, const SubmittedJobs& memory) {
  constexpr std::int64_t kLate = 600;
  const std::int64_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  if (submitted.missing_since == 0) {
    submitted.missing_since = now;
    remember(submitted, memory);
  }
  return now - submitted.missing_since >= kLate;
}

// Keeps the recorded files: the scheduler knows only one of them.
void add_outputs(QueuedJob& job, const SubmittedJob& submitted) {
  std::vector<std::string> all = submitted.output;
  add_files(all, job.output);
  job.output = std::move(all);
}

KnownJob with_memory(std::optional<QueuedJob> job, SubmittedJob submitted,
                     const SubmittedJobs& memory, const Queue* queue) {
  if (job) {
    remember_end(submitted, *job, memory);
  } else {
    job = from_memory(submitted);
    if (queue != nullptr && submitted.state.empty()) {
      const bool is_over = is_forgotten(submitted, memory);
      job->stage = JobStage::ended;
      job->state = kForgotten;
      if (is_over) remember_end(submitted, *job, memory);
    }
  }
  add_outputs(*job, submitted);
  if (job->nodes == 0) job->nodes = submitted.nodes;
  return {std::move(*job), std::move(submitted)};
}

int rank_of(JobStage stage) {
  return stage == JobStage::running ? 0 : stage == JobStage::waiting ? 1 : 2;
}

// Adds the job's run folders in `place`; with `has_groups` also those in the folder that the job
// "compare" makes there for its runs.
void add_run_folders(std::vector<std::string>& folders, const std::filesystem::path& place,
                     const SubmittedJob& job, bool has_groups) {
  namespace fs = std::filesystem;
  const std::string number = job.id.substr(0, job.id.find('.'));
  std::error_code none;
  for (fs::directory_iterator entry(place, none), end; !none && entry != end;
       entry.increment(none)) {
    // The name of a run folder contains the job id; its record tells whether it is from this job.
    if (entry->path().filename().string().find(number) == std::string::npos) continue;
    const fs::path file = entry->path() / "run.json";
    std::error_code ignored;
    if (!fs::exists(file, ignored)) {
      const bool is_own = entry->is_directory(ignored) && !entry->is_symlink(ignored);
      if (has_groups && is_own) add_run_folders(folders, entry->path(), job, false);
      continue;
    }
    try {
      const Json json = read_json_file(file);
      if (JsonReader(file.string(), json).text("job_id") == job.id)
        folders.push_back(entry->path().string());
    } catch (const Error&) {
      continue;
    }
  }
}

}  // namespace

std::vector<KnownJob> known_jobs(const Queue* queue, const SubmittedJobs& memory, WallTime since) {
  std::vector<SubmittedJob> submitted = memory.of(queue);
  std::vector<KnownJob> jobs;
  std::set<std::string> arrays;  // and heterogeneous jobs: those whose parts are listed
  for (QueuedJob& job : queue == nullptr ? std::vector<QueuedJob>() : queue->jobs()) {
    const auto ours = std::find_if(
        submitted.begin(), submitted.end(),
        [&](const SubmittedJob& one) { return one.id == job.id || is_task_of(job.id, one.id); });
    if (ours == submitted.end()) {
      jobs.push_back({std::move(job), std::nullopt});
    } else if (ours->id != job.id) {
      arrays.insert(ours->id);
      jobs.push_back({std::move(job), *ours});
    } else {
      // The list does not include the exit code. It is queried once and then recorded.
      if (job.stage == JobStage::ended && ours->state.empty()) {
        if (auto whole = queue->job(job.id)) job = std::move(*whole);
      }
      if (ours->exit_code && ours->state == job.state) job.exit_code = ours->exit_code;
      jobs.push_back(with_memory(std::move(job), *ours, memory, queue));
      submitted.erase(ours);
    }
  }
  for (SubmittedJob& one : submitted) {
    if (arrays.count(one.id) != 0) continue;
    if (wall_time_of(one.submitted).value_or(WallTime()) < since && !one.state.empty()) continue;
    const bool is_asked = queue != nullptr && one.state.empty();
    auto job = is_asked ? queue->job(one.id) : std::nullopt;
    jobs.push_back(with_memory(std::move(job), std::move(one), memory, queue));
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const KnownJob& a, const KnownJob& b) {
    if (a.job.stage != b.job.stage) return rank_of(a.job.stage) < rank_of(b.job.stage);
    return a.job.submitted.value_or(WallTime()) > b.job.submitted.value_or(WallTime());
  });
  return jobs;
}

std::optional<KnownJob> known_job(const std::string& id, const Queue* queue,
                                  const SubmittedJobs& memory) {
  auto submitted = memory.find(id, queue);
  const std::string asked = submitted ? submitted->id : id;
  if (asked.empty()) return std::nullopt;
  auto job = queue == nullptr ? std::nullopt : queue->job(asked);
  if (!submitted && !job) return std::nullopt;
  if (!submitted) return KnownJob{std::move(*job), std::nullopt};
  if (!job && !submitted->state.empty()) job = from_memory(*submitted);
  return with_memory(std::move(job), std::move(*submitted), memory, queue);
}

std::vector<std::string> run_folders_of(const SubmittedJob& job) {
  std::vector<std::string> folders;
  if (job.runs_dir.empty()) return folders;
  add_run_folders(folders, std::filesystem::path(job.folder) / job.runs_dir, job, true);
  std::sort(folders.rbegin(), folders.rend());
  return folders;
}

}  // namespace hpcboot::queue

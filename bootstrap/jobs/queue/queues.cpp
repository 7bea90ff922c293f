#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <utility>

#include "hpcboot/error.hpp"
#include "jobs/probe/probe_text.hpp"
#include "queue.hpp"

namespace hpcboot::queue {

namespace {

[[noreturn]] void fail(const std::vector<std::string>& words, const CommandResult& result) {
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
  constexpr std::size_t kMost = 500;  // commands that list all jobs may print megabytes
  throw Error(ErrorCode::backend_unavailable,
              "`" + command + "`: " + failure_of(result).substr(0, kMost),
              "an answer from the scheduler", "run the command by hand");
}

}  // namespace

jobscripts::Ask ask_by(const RunCommand& run) {
  return [run](const std::vector<std::string>& words) -> std::optional<std::string> {
    CommandResult result = run(words);
    if (!result.is_ok() || result.is_late) return std::nullopt;
    return std::move(result.output);
  };
}

std::string answer_of(const RunCommand& run, const std::vector<std::string>& words) {
  CommandResult result = run(words);
  if (!result.is_ok() || result.is_late) fail(words, result);
  return std::move(result.output);
}

std::optional<std::string> answer_about_job(const RunCommand& run,
                                            const std::vector<std::string>& words,
                                            const std::vector<std::string>& unknown) {
  CommandResult result = run(words);
  if (result.is_ok() && !result.is_late) return std::move(result.output);
  for (const std::string& text : unknown) {
    if (!result.is_late && result.output.find(text) != std::string::npos) return std::nullopt;
  }
  fail(words, result);
}

bool has_succeeded(const QueuedJob& job) {
  return job.exit_code == 0 && (job.state == "completed" || job.state == "done");
}

QueuedJob merged(const std::vector<QueuedJob>& tasks) {
  const auto first = [&](JobStage stage) {
    return std::find_if(tasks.begin(), tasks.end(),
                        [&](const QueuedJob& task) { return task.stage == stage; });
  };
  auto chosen = first(JobStage::running);
  if (chosen == tasks.end()) chosen = first(JobStage::waiting);
  if (chosen == tasks.end()) {
    chosen = std::find_if_not(tasks.begin(), tasks.end(), has_succeeded);
  }
  QueuedJob whole = chosen == tasks.end() ? tasks.front() : *chosen;
  for (const QueuedJob& task : tasks) {
    add_files(whole.output, task.output);
    if (task.end && whole.end) whole.end = std::max(*task.end, *whole.end);
  }
  return whole;
}

void add_files(std::vector<std::string>& files, const std::vector<std::string>& more) {
  for (const std::string& file : more) {
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
}

std::vector<std::vector<std::string>> rows_in(const std::string& text, std::size_t columns) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto parts = jobscripts::split(line, '|');
    if (parts.size() < columns) continue;
    for (std::size_t i = columns; i < parts.size(); ++i) parts[columns - 1] += "|" + parts[i];
    parts.resize(columns);
    rows.push_back(std::move(parts));
  }
  return rows;
}

std::string user_name() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : std::to_string(::geteuid());
}

std::optional<WallTime> time_of_epoch(const std::string& text) {
  const auto seconds = parse_whole_number(text.substr(0, text.find('.')));
  return seconds ? wall_time_of(*seconds) : std::nullopt;
}

std::optional<int> exit_status_in(const std::string& text) {
  constexpr std::int64_t kMost = 65535;  // 16 bits of wait(2)
  const auto number = parse_whole_number(text);
  if (!number || *number < -kMost || *number > kMost) return std::nullopt;
  return static_cast<int>(*number);
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Slurm first: it may also install the commands of PBS and Grid Engine. Inside a Flux instance,
// Flux is tried first, whatever scheduler started it.
std::unique_ptr<Queue> queue_here(const Env& env, const RunCommand& run,
                                  const std::string& scheduler) {
  using Make = std::unique_ptr<Queue> (*)(const Env&, const RunCommand&);
  std::array<std::pair<const char*, Make>, 5> all = {{{"slurm", slurm_queue},
                                                      {"pbs", pbs_queue},
                                                      {"sge", grid_engine_queue},
                                                      {"lsf", lsf_queue},
                                                      {"flux", flux_queue}}};
  if (env.text("FLUX_URI")) std::swap(all.front(), all.back());
  for (const auto& [name, make] : all) {
    if (!scheduler.empty() && scheduler != name) continue;
    if (auto queue = make(env, run)) return queue;
  }
  return nullptr;
}

}  // namespace hpcboot::queue

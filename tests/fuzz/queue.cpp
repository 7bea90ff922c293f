#include "jobs/queue/queue.hpp"

#include <filesystem>

#include "answers.hpp"
#include "data_file.hpp"
#include "fuzz.hpp"
#include "jobs/queue/job_table.hpp"
#include "jobs/queue/known_jobs.hpp"
#include "jobs/queue/submission.hpp"

namespace {

using namespace hpcboot;
using namespace hpcboot::queue;

void require_printable(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    fuzz::require(is_printable(line), "no terminal control characters");
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

// A job can be printed, as text and as JSON.
void require_sound(const KnownJob& known) {
  const QueuedJob& job = known.job;
  fuzz::require(job.nodes >= 0, "the number of nodes is not negative");
  fuzz::require(!job.limit || job.limit->count() >= 0, "a walltime is not negative");
  fuzz::require(!job.end || job.stage == JobStage::ended, "only an ended job has an end");
  const WallTime now = std::chrono::system_clock::from_time_t(1'800'000'000);
  require_printable(job_table({known}, now, 80).str());
  require_printable(job_details(known, now).str());
  fuzz::require(parse_json(json_text(job_json(known)).str()).is_object(),
                "a job converts to a JSON object");
}

}  // namespace

// The output of a scheduler's commands about jobs, one after the other, and between them a record
// of a submitted job: jobs that can be printed, or an Error. The first byte selects the scheduler.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::DataFolder kFolder;
  static const char* const kSchedulers[] = {"slurm", "pbs", "sge", "lsf", "flux"};
  fuzz::Input input(fuzz::text_of(data, size));
  const std::string scheduler = kSchedulers[input.u8() % 5];
  const RunCommand run = [&](const std::vector<std::string>&) { return fuzz::next_answer(input); };
  fuzz::allow_error([&] {
    const std::filesystem::path submitted = kFolder.path() / "hpcboot/submitted";
    std::filesystem::remove_all(submitted);
    std::filesystem::create_directories(submitted);
    kFolder.write("hpcboot/submitted/job.json", input.text());
    const Env env(std::map<std::string, std::string>{{"XDG_STATE_HOME", kFolder.path().string()}});
    const SubmittedJobs memory(env);
    for (const SubmittedJob& job : memory.of(nullptr)) {
      fuzz::allow_error([&] {
        memory.remember(job);
        fuzz::require(memory.find(job.id, nullptr).has_value(), "a recorded job is found");
      });
    }
    const auto queue = queue_here(env, run, scheduler);
    if (!queue) return;
    fuzz::require(queue->scheduler() == scheduler, "the requested scheduler");
    std::string id = "12";
    for (const KnownJob& job : known_jobs(queue.get(), memory, WallTime())) {
      require_sound(job);
      id = job.job.id;
    }
    if (const auto job = known_job(id, queue.get(), memory)) require_sound(*job);
    const std::string number = job_id_in(scheduler, std::string(input.text()));
    require_printable(number);
  });
  return 0;
}

#include "jobs/run/job/scheduler_job.hpp"

#include "answers.hpp"
#include "fuzz.hpp"
#include "hpcboot/hostlist.hpp"
#include "jobs/run/plan/granted.hpp"

namespace {

using namespace hpcboot;
using namespace hpcboot::run;

fuzz::Input* answers = nullptr;  // Surroundings has plain functions

Surroundings surroundings_of(const std::map<std::string, std::string>& variables) {
  Surroundings s;
  s.env = Env(variables);
  s.allocation = read_allocation(s.env, {std::nullopt, false});
  s.run_command = [](const std::vector<std::string>&, const std::string&) {
    return fuzz::next_answer(*answers);
  };
  s.find_program = [](const Env&, const std::string& name) { return "/usr/bin/" + name; };
  s.read_file = [](const std::string&) { return fuzz::next_answer(*answers).output; };
  return s;
}

// Lists of very many hosts are valid but slow.
bool has_long_list(fuzz::Input input) {
  bool is_long = false;
  while (!input.at_end()) {
    const std::string_view text = input.text();
    if (text.find('[') == std::string_view::npos) continue;
    fuzz::allow_error([&] {
      is_long = is_long || hostlist::count(text.substr(0, text.find_first_of(" \t\r\n"))) > 1000;
    });
  }
  return is_long;
}

}  // namespace

// The output of a scheduler's commands about the job of `hpcboot run`, one after the other: its
// hosts, its times, and how it is requeued, or an Error. The first byte selects the scheduler.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::map<std::string, std::string> kJobs[] = {
      {{"SLURM_JOB_ID", "12"}, {"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_TASKS_PER_NODE", "2(x2)"}},
      {{"PBS_JOBID", "12.pbs"}, {"PBS_ENVIRONMENT", "PBS_BATCH"}},
      {{"JOB_ID", "12"},
       {"SGE_TASK_ID", "3"},
       {"SGE_TASK_FIRST", "1"},
       {"SGE_TASK_LAST", "4"},
       {"SGE_TASK_STEPSIZE", "1"}},
      {{"LSB_JOBID", "12"}, {"LSB_MCPU_HOSTS", "n1 2 n2 2"}},
      {{"FLUX_ENCLOSING_ID", "f12"}}};
  fuzz::Input input(fuzz::text_of(data, size));
  const unsigned first = input.u8();
  if (has_long_list(input)) return -1;  // not kept in the corpus
  answers = &input;
  const Surroundings s = surroundings_of(kJobs[first % 5]);
  fuzz::allow_error([&] {
    RunRequest request;
    request.command = {"true"};
    const Granted granted = granted_hosts(request, s);
    fuzz::require(!granted.hosts.empty(), "a job has hosts");
    for (const GrantedHost& host : granted.hosts)
      fuzz::require(host.slots >= 1 && host.limit >= 1 && host.cpus >= 0,
                    "valid slots on each host");
    fuzz::require(!granted.gpus || *granted.gpus >= 0, "the number of GPUs is not negative");
  });
  const auto job = job_of(s);
  fuzz::require(job != nullptr, "a job is recognised by its variables");
  fuzz::allow_error([&] {
    const JobState state = job->state();
    fuzz::require(!state.end || *state.end > WallTime(), "a job ends after 1970");
  });
  fuzz::allow_error([&] {
    const QueuedAgain again = job->queue_again(first >= 128 ? "n2" : "");
    fuzz::require(!again.how.empty(), "a requeue reports how it was done");
  });
  return 0;
}

#include "jobs/probe/probed_site.hpp"

#include "answers.hpp"
#include "fuzz.hpp"
#include "jobs/queue/limits.hpp"
#include "jobs/site_profile.hpp"

// The output of a scheduler's commands about its hosts and queues, one after the other: a profile
// that hpcboot accepts, or an Error; and the limits that a job exceeds. The first byte selects the
// scheduler.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  static const char* const kSchedulers[] = {"slurm", "pbs", "sge", "lsf"};
  fuzz::Input input(fuzz::text_of(data, size));
  const std::string scheduler = kSchedulers[input.u8() % 4];
  const jobscripts::Ask ask = [&](const std::vector<std::string>&) -> std::optional<std::string> {
    CommandResult result = fuzz::next_answer(input);
    if (!result.is_ok()) return std::nullopt;
    return std::move(result.output);
  };
  fuzz::allow_error([&] {
    const std::string text = jobscripts::probe(ask, scheduler);
    const auto site = jobscripts::SiteProfile::parse("probed.toml", text);
    fuzz::require(site.text("launcher").size() > 1, "a launcher is named");
  });
  queue::JobDemand demand;
  demand.queue = input.text();
  demand.shape.nodes = input.u8();
  demand.shape.seconds = input.u8() * 1000;
  demand.shape.memory_gb = input.u8();
  fuzz::allow_error([&] {
    const auto problems = scheduler == "slurm" ? queue::slurm_limit_problems(demand, ask)
                                               : queue::pbs_limit_problems(demand, ask);
    for (const queue::LimitProblem& problem : problems)
      fuzz::require(!problem.found.empty() && !problem.expected.empty() && !problem.remedy.empty(),
                    "a problem has all its parts");
  });
  return 0;
}


#include "core/schedulers/schedulers.hpp"
#include "host_lines.hpp"
#include "hpcboot/allocation.hpp"
#include "hpcboot/error.hpp"
#include "read_file.hpp"

// sbatchd sets LSB_JOBID, LSB_JOBINDEX (0 outside arrays), LSB_RESTART=Y in a rerun job,
// LSB_MCPU_HOSTS ("h1 4 h2 4"), LSB_HOSTS ("h1 h1 …", empty for large jobs: Lightning#10216),
// LSB_DJOB_HOSTFILE (a file, one slot per line) and LSB_DJOB_NUMPROC. See "Environment variables
// set for job execution" in the documentation of IBM Spectrum LSF.
namespace hpcboot {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"LSB_JOBID", kCompanion, kUsed},
    {"LSB_JOBINDEX", kCompanion, kUsed},
    {"LSB_RESTART", kCompanion, kUsed},
    {"LSB_MCPU_HOSTS", kCompanion, kUsed},
    {"LSB_HOSTS", kCompanion, kUsed},
    {"LSB_DJOB_HOSTFILE", kCompanion, kUsed},
    {"LSB_DJOB_NUMPROC", kSize, kUsed},
    {"CSM_ALLOCATION_ID", kCompanion, kUsed},
    {"LSB_JOBNAME", kSecret},
    {"LSB_*", kCompanion},
    {"LS_JOBPID", kCompanion},
    {"LS_SUBCWD", kCompanion},
    {"LSF_*", kSetting},
};

[[noreturn]] void fail(const char* variable, std::string_view text, const char* expected) {
  throw Error(ErrorCode::malformed_value,
              std::string(variable) + "='" + std::string(text.substr(0, 80)) + "'", expected,
              std::string("unset ") + variable + " or resubmit the job");
}

std::string_view next_word(std::string_view& rest) {
  rest = trim(rest);
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(word.size());
  return word;
}

Nodefile parse_pairs(std::string_view text) {
  static constexpr const char* kExpected = "hosts, each followed by its slots: h1 4 h2 4";
  HostCounter counter;
  for (std::string_view rest = text; !trim(rest).empty();) {
    const std::string_view host = next_word(rest);
    const auto slots = parse_whole_number(next_word(rest));
    if (!is_host(host) || !slots || *slots < 1 || *slots > HostCounter::kMaxSlots ||
        !counter.add(host, static_cast<int>(*slots))) {
      fail("LSB_MCPU_HOSTS", text, kExpected);
    }
  }
  return counter.take();
}

Nodefile parse_names(std::string_view text) {
  HostCounter counter;
  for (std::string_view rest = text; !trim(rest).empty();) {
    const std::string_view host = next_word(rest);
    if (!is_host(host) || !counter.add(host, 1)) fail("LSB_HOSTS", text, "host names");
  }
  return counter.take();
}

// "batch5" and "batch12" have one shape, "a01n01" has another.
std::string shape_of(std::string_view host) {
  std::string shape;
  for (const char c : host.substr(0, host.find('.'))) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || shape.empty() || shape.back() != '#') shape += digit ? '#' : c;
  }
  return shape;
}

// On machines with jsrun, the first host of an allocation is the launch node, which runs the script
// but no tasks: it has one slot, the compute hosts have many. One slot alone is no proof: on other
// LSF clusters the first host may simply have had one free slot.
bool begins_with_launch_node(const Env& env, const Allocation& job) {
  if (job.hosts.size() < 2 || job.slots.front() != 1) return false;
  if (std::any_of(job.slots.begin() + 1, job.slots.end(), [](int n) { return n == 1; }))
    return false;
  if (env.has("JSM_NAMESPACE_RANK") || env.has("CSM_ALLOCATION_ID")) return true;
  const std::string shape = shape_of(job.hosts.front());
  return std::none_of(job.hosts.begin() + 1, job.hosts.end(),
                      [&](const std::string& host) { return shape_of(host) == shape; });
}

std::optional<Allocation> read(const Env& env, const AllocationOptions& options) {
  const auto id = env.text("LSB_JOBID");
  if (!id) return std::nullopt;
  Allocation job;
  job.scheduler = "lsf";
  job.job_id = *id;
  job.job_variable = "LSB_JOBID";
  const auto index = env.integer("LSB_JOBINDEX");
  if (index.value_or(0) > 0) job.job_id += "[" + std::to_string(*index) + "]";
  job.identity = job.job_id;
  if (const auto restart = env.text("LSB_RESTART")) job.identity.append("/").append(*restart);

  const auto take = [&](const char* variable, Nodefile (*parse)(std::string_view)) {
    const auto text = env.text(variable);
    if (!text || !job.hosts.empty()) return;
    Nodefile hosts = parse(*text);
    job.hosts = std::move(hosts.hosts);
    job.slots = std::move(hosts.slots);
    job.hosts_variable = variable;
  };
  if (!options.nodefile) {
    take("LSB_MCPU_HOSTS", parse_pairs);
    take("LSB_HOSTS", parse_names);
  }
  if (job.hosts.empty())
    take_hosts_from_file(job, env, "LSB_DJOB_HOSTFILE", options, parse_nodefile);
  if (begins_with_launch_node(env, job)) {
    // The remaining slots are cores of compute hosts; jsrun sets the number of tasks.
    job.hosts.erase(job.hosts.begin());
    job.slots.clear();
    job.num_tasks.reset();
  } else {
    job.num_tasks = job.slots.empty() ? env.integer("LSB_DJOB_NUMPROC", 1) : sum_of(job.slots);
  }
  return job;
}

}  // namespace

const Scheduler kLsfScheduler{
    "lsf",
    "jsrun",
    "https://www.ibm.com/docs/en/spectrum-lsf/10.1.0?topic=variables-environment-set-job-execution",
    kVariables,
    read,
    nullptr,
    {},
    "LSB_JOBID",
    "LSF"};

}  // namespace hpcboot

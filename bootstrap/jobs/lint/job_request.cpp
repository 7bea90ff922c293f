#include "job_request.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace hpcboot::lint {
namespace {

constexpr int kLargest = 1000000;  // larger numbers are ignored

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

// "4", "a100:4": values of --gpus, or of --gres after gpu:. A type alone means one.
std::optional<int> count_of(std::string_view text) {
  const std::string_view last = text.substr(text.find_last_of(':') + 1);
  if (const auto count = number_of(last)) return count;
  const bool is_type = !last.empty() && std::all_of(last.begin(), last.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  });
  return is_type ? std::optional(1) : std::nullopt;
}

std::optional<int> product(int a, int b) {
  const std::int64_t value = std::int64_t{a} * b;
  return value <= kLargest ? std::optional(static_cast<int>(value)) : std::nullopt;
}

std::optional<int> gpus_of_gres(std::string_view gres) {
  std::optional<int> sum;
  for (std::string_view one : split(gres, ',')) {
    if (one.rfind("gres:", 0) == 0) one.remove_prefix(5);
    if (one != "gpu" && one.rfind("gpu:", 0) != 0) continue;
    const auto count = one == "gpu" ? std::optional(1) : count_of(one.substr(4));
    if (!count || *count > kLargest - sum.value_or(0)) return std::nullopt;
    sum = sum.value_or(0) + *count;
  }
  return sum;
}

JobRequest slurm_request(const Script& script) {
  const auto value = [&](const char* name) { return script.option(Scheduler::slurm, name); };
  const auto number = [&](const char* name) { return number_of(value(name).value_or("")); };
  JobRequest job;
  job.nodes = number("nodes");
  job.tasks = number("ntasks");
  job.tasks_per_node = number("ntasks-per-node");
  job.exclusive = value("exclusive") == "";
  if (!job.tasks && job.nodes && !value("ntasks") && !value("ntasks-per-gpu")) {
    // One task per node if nothing else is requested.
    if (job.tasks_per_node || !value("ntasks-per-node"))
      job.tasks = product(*job.nodes, job.tasks_per_node.value_or(1));
  }
  if (!job.tasks_per_node && job.tasks && job.nodes && *job.nodes > 0 &&
      *job.tasks % *job.nodes == 0) {
    job.tasks_per_node = *job.tasks / *job.nodes;
  }
  if (const auto gpus = value("gpus-per-node")) {
    job.gpus_per_node = count_of(*gpus);
  } else if (const auto gres = value("gres")) {
    job.gpus_per_node = gpus_of_gres(*gres);
  } else if (const auto all = value("gpus")) {
    const auto count = count_of(*all);
    if (count && job.nodes && *job.nodes > 0 && *count % *job.nodes == 0)
      job.gpus_per_node = *count / *job.nodes;
  }
  return job;
}

// LSF: -n 8, -R "span[ptile=4]", and -gpu "num=2:mode=…", which is per host.
JobRequest lsf_request(const Script& script) {
  JobRequest job;
  job.tasks = number_of(script.option(Scheduler::lsf, "n").value_or(""));
  const auto number_behind = [](const std::string& value, std::string_view name) {
    const std::size_t at = value.find(name);
    if (at == std::string::npos) return std::optional<int>();
    const std::string rest = value.substr(at + name.size());
    return number_of(rest.substr(0, rest.find_first_of(":] ,")));
  };
  for (const Directive& directive : script.directives) {
    if (!directive.is_read || directive.scheduler != Scheduler::lsf) continue;
    for (const Option& option : directive.options) {
      if (option.name == "gpu") job.gpus_per_node = number_behind(option.value, "num=");
      if (option.name != "R") continue;
      if (const auto each = number_behind(option.value, "ptile=")) job.tasks_per_node = each;
    }
  }
  if (job.tasks && job.tasks_per_node)
    job.tasks_per_node = std::min(*job.tasks, *job.tasks_per_node);
  return job;
}

JobRequest pbs_request(const Script& script) {
  JobRequest job;
  bool packed = false;  // all chunks on one host
  for (const PbsResource& resource : pbs_resources(script)) {
    if (resource.name == "place") {
      job.exclusive = resource.value.find("excl") != std::string::npos;
      packed = resource.value.find("pack") != std::string::npos;
    } else if (resource.name == "select") {
      std::int64_t tasks = 0;
      std::int64_t chunks = 0;
      for (const PbsChunk& chunk : parse_select(resource.value)) {
        chunks += chunk.count;
        tasks += std::int64_t{chunk.count} * chunk.mpiprocs.value_or(1);
      }
      job.nodes = static_cast<int>(std::min<std::int64_t>(chunks, kLargest));
      job.tasks = static_cast<int>(std::min<std::int64_t>(tasks, kLargest));
    } else if (resource.name == "nodes") {
      const auto chunks = parse_select(resource.value);
      if (chunks.size() == 1) job.nodes = chunks[0].count;
      if (chunks.size() == 1 && chunks[0].mpiprocs)
        job.tasks = product(chunks[0].count, *chunks[0].mpiprocs);
    }
  }
  if (packed) job.nodes = 1;
  return job;
}

}  // namespace

std::optional<int> number_of(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end || value < 0 || value > kLargest)
    return std::nullopt;
  return value;
}

std::vector<PbsResource> pbs_resources(const Script& script) {
  std::vector<PbsResource> resources;
  for (const Directive& directive : script.directives) {
    if (!directive.is_read || directive.scheduler != Scheduler::pbs) continue;
    for (const Option& option : directive.options) {
      if (option.name != "l") continue;
      std::size_t at = option.value_at;
      for (const std::string_view one : split(option.value, ',')) {
        const std::size_t equals = std::min(one.find('='), one.size());
        resources.push_back({std::string(one.substr(0, equals)),
                             std::string(one.substr(std::min(equals + 1, one.size()))), at});
        at += one.size() + 1;
      }
    }
  }
  return resources;
}

std::vector<PbsChunk> parse_select(std::string_view value) {
  std::vector<PbsChunk> chunks;
  for (const std::string_view text : split(value, '+')) {
    PbsChunk chunk;
    for (const std::string_view part : split(text, ':')) {
      if (const auto count = number_of(part)) {
        chunk.count = *count;
        continue;
      }
      const std::size_t equals = std::min(part.find('='), part.size());
      const std::string_view name = part.substr(0, equals);
      const auto number = number_of(part.substr(std::min(equals + 1, part.size())));
      if (name == "ncpus") chunk.ncpus = number;
      if (name == "mpiprocs" || name == "ppn") chunk.mpiprocs = number;
      if (name == "ngpus" || name == "gpus") chunk.ngpus = number;
      if (name == "ompthreads") chunk.ompthreads = number;
    }
    chunks.push_back(chunk);
  }
  return chunks;
}

JobRequest job_request_of(const Script& script) {
  for (const Directive& directive : script.directives) {
    const auto& words = directive.words;
    if (directive.scheduler == Scheduler::slurm && !words.empty() &&
        (words[0].text == "hetjob" || words[0].text == "packjob")) {
      JobRequest job;
      job.several_parts = true;
      return job;
    }
  }
  if (script.has_directives_of(Scheduler::slurm)) return slurm_request(script);
  if (script.has_directives_of(Scheduler::pbs)) return pbs_request(script);
  if (script.has_directives_of(Scheduler::lsf)) return lsf_request(script);
  return {};
}

}  // namespace hpcboot::lint

#include "submit_request.hpp"

#include "rank_counts.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "hpcboot/encode.hpp"
#include "jobs/job.hpp"
#include "jobs/run/plan/exported_variables.hpp"
#include "options.hpp"
#include "script_words.hpp"

namespace hpcboot::tool {
namespace {

using namespace hpcboot::jobscripts;

std::string text_of(const po::variables_map& values, const char* name) {
  return values.count(name) != 0 ? values[name].as<std::string>() : std::string();
}

std::optional<int> count_of(const po::variables_map& values, const char* name) {
  if (values.count(name) == 0) return std::nullopt;
  const int number = values[name].as<int>();
  if (number < 1) throw UsageError("--" + std::string(name) + " must be at least 1");
  return number;
}

// A number. "gpu" is the default of a job.
std::optional<int> ranks_per_node_of(const po::variables_map& values, const SiteProfile& site) {
  const std::string text = text_of(values, "ranks-per-node");
  if (text.empty()) return std::nullopt;
  const bool has_gpus = site.number("node.gpus") > 0 && (values.count("gpus-per-node") == 0 ||
                                                         values["gpus-per-node"].as<int>() > 0);
  if (text == "gpu" && has_gpus) return std::nullopt;
  const auto number = parse_whole_number(text);
  if (!number || *number < 1 || *number > 100'000) {
    throw UsageError("--submit takes --ranks-per-node N" + std::string(has_gpus ? " or gpu" : "") +
                     ", not '" + text + "'");
  }
  return static_cast<int>(*number);
}

// Sets nodes and ranks per node, from -n, --nodes, --ranks-per-node and the GPUs of a node.
void take_ranks(const po::variables_map& values, const SiteProfile& site, ScriptRequest& request) {
  const auto ranks = rank_count_of(values);
  request.nodes = count_of(values, "nodes");
  request.ranks_per_node = ranks_per_node_of(values, site);
  if (values.count("gpus-per-node") != 0) request.gpus_per_node = values["gpus-per-node"].as<int>();
  const int gpus = request.gpus_per_node.value_or(site.number("node.gpus"));
  if (ranks && !request.ranks_per_node) {
    const bool fills_nodes = !request.nodes && gpus > 0 && *ranks > gpus;
    const int parts = fills_nodes ? (*ranks + gpus - 1) / gpus : request.nodes.value_or(1);
    if (*ranks % parts != 0) {
      throw UsageError("-n " + std::to_string(*ranks) + " does not divide evenly over " +
                       std::to_string(parts) + " nodes" +
                       (fills_nodes ? " of " + std::to_string(gpus) + " GPUs" : "") +
                       ": give --nodes and --ranks-per-node");
    }
    request.nodes = parts;
    request.ranks_per_node = *ranks / parts;
  } else if (ranks) {
    const int nodes = request.nodes.value_or(*ranks / *request.ranks_per_node);
    if (std::int64_t{nodes} * *request.ranks_per_node != *ranks) {
      throw UsageError("-n " + std::to_string(*ranks) + " is not " + std::to_string(nodes) +
                       " nodes with " + std::to_string(*request.ranks_per_node) +
                       " ranks each: omit one of the three");
    }
    request.nodes = nodes;
  }
  // One device per rank.
  if (request.ranks_per_node && !request.gpus_per_node)
    request.gpus_per_node = std::min(*request.ranks_per_node, site.number("node.gpus"));
}

std::string job_for(const ScriptRequest& request, const SiteProfile& site) {
  const int nodes = request.nodes.value_or(1);
  if (nodes == 1) return request.ranks_per_node == 1 ? "single" : "ddp";
  const bool has_srun = site.text("scheduler") == "slurm" && site.text("launcher") == "srun" &&
                        request.launcher.empty();
  return has_srun ? "multinode_srun" : "multinode_mpirun";
}

// What schedulers accept as a name: letters, digits and _ - ., starting with a letter; Torque
// allows 15.
std::string job_name(const std::string& text) {
  constexpr std::size_t kMost = 15;
  std::string name;
  for (const char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_inner = (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    if (is_letter || (is_inner && !name.empty())) name += c;
  }
  return name.empty() ? "job" : name.substr(0, kMost);
}

// The program's name; for an interpreter, the name of its script.
std::string name_of_program(const std::vector<std::string>& command) {
  const auto base = [](const std::string& word) {
    return std::filesystem::path(word).filename().string();
  };
  const std::string first = base(command.front());
  for (const char* interpreter : {"python", "bash", "sh", "perl", "julia", "Rscript"}) {
    const std::string rest = first.substr(std::min(first.size(), std::string(interpreter).size()));
    if (first.rfind(interpreter, 0) != 0 ||
        rest.find_first_not_of("0123456789.") != std::string::npos)
      continue;
    const auto script = std::find_if(command.begin() + 1, command.end(), [](const auto& word) {
      return !word.empty() && word.front() != '-';
    });
    const bool is_text =
        script != command.end() && script->find_first_of(" ;\n") != std::string::npos;
    if (script != command.end() && !is_text) return base(*script);
  }
  return first;
}

void require_possible(const po::variables_map& values, const SiteProfile& site) {
  if (values.count("hostfile") != 0)
    throw UsageError("--hostfile cannot be used with --submit: the scheduler chooses the hosts");
  if (values.count("launcher-args") != 0 && !site.list("launch.options").empty())
    throw UsageError(
        "the site already has launcher options: change them with --set launch.options=…");
  if (values.count("torchrun") != 0 && values.count("launcher") != 0)
    throw UsageError(
        "--launcher cannot be used with --submit --torchrun, which chooses the launcher itself");
}

// --env NAME=VALUE becomes an assignment and --env NAME. PATH remains as it is: the job's own `run`
// needs the host's PATH to find the launcher.
void take_variables(const std::vector<std::string>& given, ScriptRequest& request) {
  for (const std::string& one : given) {
    const std::size_t equals = one.find('=');
    const std::string name = one.substr(0, equals);
    if (!run::is_variable_name(name))
      throw UsageError("--env '" + one +
                       "': expected NAME or NAME=VALUE, with a NAME of letters, "
                       "digits and _");
    const bool is_assignment = equals != std::string::npos && name != "PATH";
    request.run_options += " --env " + bash_quote(is_assignment ? name : one);
    if (is_assignment) request.variables.emplace_back(name, one.substr(equals + 1));
  }
}

}  // namespace

std::vector<std::string> variables_by_name(const po::variables_map& values, const Env& env,
                                           bool takes_qsub) {
  std::vector<std::string> names;
  if (values.count("env") == 0) return names;
  for (const std::string& one : values["env"].as<std::vector<std::string>>()) {
    if (one.find('=') != std::string::npos) continue;
    if (env.variables().count(one) == 0)
      throw UsageError("--env " + one + ": this variable is not set here");
    if (takes_qsub && env.variables().at(one).find_first_of("\\\"'\n") != std::string::npos)
      throw UsageError("--env " + one +
                       ": qsub changes values that contain quotes, backslashes or line ends; pass "
                       "the value in a file that the program reads");
    names.push_back(one);
  }
  return names;
}

ScriptRequest submit_request(const po::variables_map& values, const SiteProfile& site,
                             const std::vector<std::string>& command) {
  require_possible(values, site);
  ScriptRequest request;
  if (values.count("time") != 0) request.time = text_of(values, "time");
  request.account = text_of(values, "account");
  request.mail = text_of(values, "mail");
  request.launcher = values.count("torchrun") != 0 ? "torchrun" : text_of(values, "launcher");
  take_ranks(values, site, request);
  request.job = job_for(request, site);
  const std::string name = text_of(values, "name");
  if (!name.empty() && job_name(name) != name) {
    throw UsageError(
        "--name must have at most 15 letters, digits and _-., starting with a letter, not '" +
        name + "'");
  }
  request.name = name.empty() ? job_name(name_of_program(command)) : name;
  // Options for the job's own `run`. Resources and the launcher are part of the script.
  const options::Group passed{"",
                              {{"launcher-args", options::text("ARGS"), ""},
                               {"gpu-bind", options::text("MODE"), ""},
                               {"chdir", options::text("DIR"), ""},
                               {"output-dir", options::text("DIR"), ""},
                               {"stage", options::text("PATH"), ""},
                               {"no-prefix", options::flag(), ""},
                               {"oversubscribe", options::flag(), ""},
                               {"warn", options::number("SECONDS"), ""},
                               {"requeue", options::flag(), ""},
                               {"retries", options::number("N"), ""},
                               {"timeout", options::number("SECONDS"), ""},
                               {"silence", options::number("SECONDS"), ""}}};
  const std::string words = option_words(values, {passed}, {});
  request.run_options = words.empty() ? "" : " " + words;
  if (values.count("env") != 0)
    take_variables(values["env"].as<std::vector<std::string>>(), request);
  return request;
}

}  // namespace hpcboot::tool

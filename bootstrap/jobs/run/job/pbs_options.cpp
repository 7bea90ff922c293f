#include "pbs_options.hpp"

#include <map>
#include <set>

namespace hpcboot::run {
namespace {

struct Option {
  const char* attribute;
  const char* option;
  const char* no_value;  // the value if nothing was requested
};

constexpr Option kPbsOptions[] = {
    {"Job_Name", "-N", ""},      {"Account_Name", "-A", ""},    {"Join_Path", "-j", ""},
    {"Keep_Files", "-k", ""},    {"Mail_Points", "-m", ""},     {"Mail_Users", "-M", ""},
    {"Priority", "-p", "0"},     {"Shell_Path_List", "-S", ""}, {"Checkpoint", "-c", "u"},
    {"job_arguments", "-F", ""},  // Torque: of the script
};

constexpr const char* kAdditional[] = {"group_list", "umask",    "sandbox",
                                       "stagein",    "stageout", "tolerate_node_failures"};

// Sums that PBS computes over the chunks; `-l` must not set them together with `select`. Resources
// of a site are listed in `select` by name.
const std::set<std::string> kSumsOfChunks = {
    "accelerator", "arch",  "hbmem", "host",  "mem",        "mpiprocs", "naccelerators",
    "ncpus",       "ngpus", "nmics", "nodes", "ompthreads", "vmem",     "vnode"};

// Computed by the server for its own use: `qsub -l nodect=2` is refused.
const std::set<std::string> kCounted = {"nodect", "neednodes", "nodeset"};

bool is_chunk_resource(const std::string& name, const std::string& select) {
  return kSumsOfChunks.count(name) != 0 || select.find(":" + name + "=") != std::string::npos ||
         select.rfind(name + "=", 0) == 0 || select.find("+" + name + "=") != std::string::npos;
}

void add_resources(std::vector<std::string>& words, const PbsStatus& status) {
  const std::string& select = status.text("Resource_List.select");
  for (const auto& [name, value] : status.resources()) {
    if (kCounted.count(name) != 0) continue;
    const bool is_of_select = name == "select" || name == "place";
    if (!select.empty() && !is_of_select && is_chunk_resource(name, select)) continue;
    words.insert(words.end(), {"-l", name + "=" + value});
  }
}

// Without -o and -e the file name has the number of the job: "pbs:/home/a/train.o12"; for an array
// task "….o12.3", in Torque "….o12-3".
bool is_default_path(const std::string& path, const std::string& name, char letter,
                     const std::string& id) {
  const std::string number = id.substr(0, id.find_first_not_of("0123456789"));
  const std::string file = "/" + name + "." + letter + number;
  const std::size_t found = path.rfind(file);
  if (found == std::string::npos) return false;
  const std::string rest = path.substr(found + file.size());
  return rest.find_first_not_of("0123456789.-") == std::string::npos;
}

// A queue that is fed only by a routing queue accepts no jobs from qsub.
std::string queue_of(const PbsStatus& status, const std::map<std::string, std::string>& variables) {
  const auto first = variables.find("PBS_O_QUEUE");
  return first == variables.end() || first->second.empty() ? status.text("queue") : first->second;
}

}  // namespace

std::vector<std::string> pbs_options(const std::string& id, const PbsStatus& status) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  for (const Option& option : kPbsOptions) {
    if (!status.is(option.attribute, option.no_value))
      add(option.option, status.text(option.attribute));
  }
  add("-q", queue_of(status, status.variables()));
  if (!status.is("project", "_pbs_project_default")) add("-P", status.text("project"));
  if (!status.text("Rerunable").empty()) add("-r", status.is("Rerunable", "False") ? "n" : "y");
  for (const char* name : kAdditional) {
    const std::string& value = status.text(name);
    const char* quote = value.find(',') == std::string::npos ? "" : "\"";
    if (!value.empty()) add("-W", name + ("=" + (quote + value + quote)));
  }
  const std::string& name = status.text("Job_Name");
  for (const auto& [attribute, letter] : {std::pair{"Output_Path", 'o'}, {"Error_Path", 'e'}}) {
    const std::string& path = status.text(attribute);
    if (!is_default_path(path, name, letter, id)) add(letter == 'o' ? "-o" : "-e", path);
  }
  add_resources(words, status);
  return words;
}

}  // namespace hpcboot::run

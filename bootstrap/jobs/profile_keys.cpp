#include "profile_keys.hpp"

#include <algorithm>
#include <regex>
#include <string_view>

#include "hpcboot/encode.hpp"
#include "toml/nearest_name.hpp"

namespace hpcboot::jobscripts {

const std::vector<ProfileKey>& profile_keys() {
  using T = KeyType;
  static const std::vector<ProfileKey> kKeys = {
      {"description", T::text, "the site and the machine", true},
      {"documentation", T::word, "where the site says how to use it", true},
      {"scheduler",
       T::choice,
       "whose directives the scripts have",
       true,
       {"slurm", "pbs", "torque", "sge", "lsf", "none", "kubernetes"}},
      {"launcher",
       T::choice,
       "what starts the ranks of a job, where the job's name does not say it",
       true,
       {"srun", "mpirun", "pals", "ssh", "torchrun"}},
      {"build.modules", T::words, "modules to load, for building and in the jobs", false},
      {"build.module_folder", T::word, "a folder of more modules, for `module use`", false},
      {"build.commands", T::lines, "how hpcboot is built there", false},
      {"node.gpus", T::number, "GPUs of a node; 0: none", true},
      {"node.gpu_type", T::word, "the scheduler's name of them", false},
      {"node.cores", T::number, "cores of a node", true},
      {"node.memory_gb", T::number, "memory that jobs may ask for on a node; 0: do not ask", false},
      {"queue.name", T::word, "partition or queue; left out where the site chooses by itself",
       false},
      {"queue.time", T::word, "walltime, HH:MM:SS", true},
      {"queue.whole_nodes", T::truth,
       "nodes are handed out whole: a request names neither cores nor memory nor GPUs", false},
      {"queue.chunk", T::word, "added to each chunk of PBS's select=", false},
      {"queue.parallel_environment", T::word,
       "Grid Engine's parallel environment for jobs of several hosts ($fill_up, $round_robin)",
       false},
      {"queue.parallel_environment_of_one_host", T::word, "that for jobs of one host ($pe_slots)",
       false},
      {"queue.options", T::lines, "more options of the scheduler, a directive each", false},
      {"queue.requeue", T::truth, "jobs may start again after a node has failed", false},
      {"account.example", T::word, "the form of an account's name; empty: none is needed", false},
      {"account.mail_example", T::word, "the form of a mail address", false},
      {"network.interface", T::word,
       "the interface between nodes, where hpcboot's choice is not it", false},
      {"network.host_suffix", T::word, "what a host's name gets to name it in the fast network",
       false},
      {"network.device_order", T::word, "the devices of the local ranks: reverse, or a list",
       false},
      {"storage.scratch", T::path,
       "where runs go if the folder of submission cannot be written in jobs", false},
      {"storage.local", T::path,
       "where staged data goes on each node, in place of SLURM_TMPDIR or TMPDIR", false},
      {"storage.note", T::text, "what a job cannot write or reach", false},
      {"launch.hostfile", T::word, "the machines that mpirun uses where no scheduler says it",
       false},
      {"launch.options", T::words, "more options of srun, mpirun or mpiexec", false},
      {"container.image", T::path, "an Apptainer image that the programs run in; empty: none",
       false},
      {"kubernetes.image", T::word, "the container image with hpcboot", false},
      {"kubernetes.namespace", T::label, "where the job is made", false},
      {"kubernetes.rdma_resource", T::resource, "the resource of the RDMA device plug-in", false},
      {"kubernetes.rdma_devices", T::number, "RDMA devices of a worker; 0: none", false},
      {"kubernetes.data_claim", T::dns_name, "the volume claim that holds the data", false},
      {"kubernetes.output_claim", T::dns_name, "the volume claim that runs are written to", false},
  };
  return kKeys;
}

const ProfileKey* find_key(const std::string& name) {
  const auto& keys = profile_keys();
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const auto& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string> key_names() {
  std::vector<std::string> names;
  for (const ProfileKey& key : profile_keys()) names.push_back(key.name);
  return names;
}

std::string description_of(const ProfileKey& key) {
  switch (key.type) {
    case KeyType::text:
      return "a text of one line";
    case KeyType::word:
      return "a text of letters, digits and _.,:/@%+=-";
    case KeyType::path:
      return "a path, in which ${NAME} and ${NAME:-VALUE} stand for environment variables";
    case KeyType::label:
      return "a name of at most 63 of a-z, 0-9 and -, which begins and ends with none of -";
    case KeyType::dns_name:
      return "a name of at most 253 of a-z, 0-9, - and ., whose parts begin and end with none of -";
    case KeyType::resource:
      return "a resource with its domain, such as rdma/hca";
    case KeyType::choice:
      return "one of " + listed(key.choices);
    case KeyType::number:
      return "a whole number, such as 4";
    case KeyType::truth:
      return "true or false";
    case KeyType::words:
      return "a list of texts of letters, digits and _.,:/@%+=-";
    case KeyType::lines:
      return "a list of texts of one line";
  }
  return {};
}

namespace {

// Of RFC 1123, as Kubernetes has it.
bool is_label(std::string_view text) {
  constexpr std::size_t kLongest = 63;
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kLongest && is_plain(text.front()) &&
         is_plain(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_plain(c) || c == '-'; });
}

bool is_dns_name(std::string_view text) {
  constexpr std::size_t kLongest = 253;
  if (text.size() > kLongest) return false;
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_resource(std::string_view text) {
  constexpr std::size_t kLongest = 63;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !is_dns_name(text.substr(0, slash))) return false;
  const std::string_view name = text.substr(slash + 1);
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= kLongest && is_plain(name.front()) &&
         is_plain(name.back()) && std::all_of(name.begin(), name.end(), [&](char c) {
           return is_plain(c) || c == '-' || c == '_' || c == '.';
         });
}

// An empty one is none.
bool is_kubernetes_name(KeyType type, std::string_view text) {
  if (text.empty() || type == KeyType::label) return text.empty() || is_label(text);
  return type == KeyType::dns_name ? is_dns_name(text) : is_resource(text);
}

}  // namespace

std::optional<std::string> problem_of(const ProfileKey& key, const std::string& value) {
  // std::regex goes through a text by recursion: a long one would end the process.
  constexpr std::size_t kLongest = 1000;
  static const std::regex kWord("[A-Za-z0-9_.,:/@%+=-]*");
  static const std::regex kPath(
      R"(([A-Za-z0-9_.,:/@%+=-]|\$\{[A-Za-z_][A-Za-z0-9_]*(:-[A-Za-z0-9_./$-]*)?\})*)");
  const KeyType type = key.type;
  const bool has_pattern = type == KeyType::word || type == KeyType::words || type == KeyType::path;
  if (has_pattern && value.size() > kLongest)
    return "has more than " + std::to_string(kLongest) + " characters";
  if ((type == KeyType::word || type == KeyType::words) && !std::regex_match(value, kWord))
    return "has a character that does not fit a directive";
  if (type == KeyType::path && !std::regex_match(value, kPath))
    return "is no path that a script can take";
  if ((type == KeyType::label || type == KeyType::dns_name || type == KeyType::resource) &&
      !is_kubernetes_name(type, value))
    return "is no name that Kubernetes takes";
  if (type == KeyType::choice &&
      std::find(key.choices.begin(), key.choices.end(), value) == key.choices.end()) {
    const std::string nearest = nearest_name(value, key.choices);
    return nearest.empty() ? "is not known" : "is not known; " + nearest + " is nearest";
  }
  if (!is_printable(value)) return "has a line break or another control character";
  return std::nullopt;
}

}  // namespace hpcboot::jobscripts

#include "profile_keys.hpp"

#include <algorithm>
#include <regex>
#include <string_view>

#include "core/nearest_name.hpp"
#include "hpcboot/encode.hpp"

namespace hpcboot::jobscripts {

const std::vector<ProfileKey>& profile_keys() {
  using T = KeyType;
  static const std::vector<ProfileKey> kKeys = {
      {"description", T::text, "name of the site and the machine", true},
      {"documentation", T::word, "URL of the site's documentation", true},
      {"scheduler",
       T::choice,
       "scheduler whose directives the scripts contain",
       true,
       {"slurm", "pbs", "torque", "sge", "lsf", "none", "kubernetes"}},
      {"launcher",
       T::choice,
       "starts the ranks, except in a job that is named after its launcher",
       true,
       {"srun", "mpirun", "pals", "ssh", "torchrun"}},
      {"build.modules", T::words, "modules to load for building and in jobs", false},
      {"build.module_folder", T::word, "folder with additional modules, for `module use`", false},
      {"build.commands", T::lines, "commands that build hpcboot on the site", false},
      {"node.gpus", T::number, "GPUs per node; 0: none", true},
      {"node.gpu_type", T::word, "the scheduler's name for the GPUs", false},
      {"node.cores", T::number, "cores per node", true},
      {"node.memory_gb", T::number,
       "memory per node that jobs may request; 0: do not request memory", false},
      {"queue.name", T::word, "partition or queue; empty if the site chooses it", false},
      {"queue.time", T::word, "default walltime, HH:MM:SS", true},
      {"queue.whole_nodes", T::truth,
       "nodes are allocated whole: jobs request no cores, memory or GPUs", false},
      {"queue.chunk", T::word, "added to each chunk of PBS select=", false},
      {"queue.parallel_environment", T::word,
       "Grid Engine parallel environment for multi-host jobs ($fill_up, $round_robin)", false},
      {"queue.parallel_environment_of_one_host", T::word,
       "Grid Engine parallel environment for single-host jobs ($pe_slots)", false},
      {"queue.options", T::lines, "additional scheduler options, one directive each", false},
      {"queue.requeue", T::truth, "jobs may be requeued after a node failure", false},
      {"account.example", T::word, "example of an account name; empty: no account needed", false},
      {"account.mail_example", T::word, "example of a mail address", false},
      {"network.interface", T::word,
       "network interface between nodes, if hpcboot chooses the wrong one", false},
      {"network.host_suffix", T::word,
       "suffix that turns a host name into its name on the fast network", false},
      {"network.device_order", T::word, "device order of the local ranks: reverse, or a list",
       false},
      {"storage.scratch", T::path, "folder for runs if jobs cannot write to the submission folder",
       false},
      {"storage.local", T::path,
       "folder for staged data on each node, instead of SLURM_TMPDIR or TMPDIR", false},
      {"storage.note", T::text, "what jobs cannot write or reach, for the script header", false},
      {"launch.hostfile", T::word, "hostfile for mpirun if there is no scheduler", false},
      {"launch.options", T::words, "additional options of srun, mpirun or mpiexec", false},
      {"container.image", T::path, "Apptainer image in which the programs run; empty: none", false},
      {"kubernetes.image", T::word, "container image with hpcboot", false},
      {"kubernetes.namespace", T::label, "namespace in which the job is created", false},
      {"kubernetes.rdma_resource", T::resource, "resource name of the RDMA device plug-in", false},
      {"kubernetes.rdma_devices", T::number, "RDMA devices per worker; 0: none", false},
      {"kubernetes.accelerator", T::word, "kind of GPU: the value of a label of the nodes", false},
      {"kubernetes.accelerator_label", T::resource, "that label; empty: nvidia.com/gpu.product",
       false},
      {"kubernetes.data", T::word,
       "the trainer's --data in a pod: a path, or computed data; empty: /data", false},
      {"kubernetes.data_claim", T::dns_name, "volume claim with the data", false},
      {"kubernetes.output_claim", T::dns_name, "volume claim for the runs", false},
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
      return "one line of text";
    case KeyType::word:
      return "a word of letters, digits and _.,:/@%+=-";
    case KeyType::path:
      return "a path; ${NAME} and ${NAME:-VALUE} stand for environment variables";
    case KeyType::label:
      return "a name of at most 63 characters a-z, 0-9 and -, not starting or ending with -";
    case KeyType::dns_name:
      return "a name of at most 253 characters a-z, 0-9, - and ., no part starting or ending with "
             "-";
    case KeyType::resource:
      return "a resource name with its domain, such as rdma/hca";
    case KeyType::choice:
      return "one of " + listed(key.choices);
    case KeyType::number:
      return "a whole number, at least 0";
    case KeyType::truth:
      return "true or false";
    case KeyType::words:
      return "a list of words of letters, digits and _.,:/@%+=-";
    case KeyType::lines:
      return "a list of one-line texts";
  }
  return {};
}

namespace {

// As defined by RFC 1123 and used by Kubernetes.
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

// An empty name means none.
bool is_kubernetes_name(KeyType type, std::string_view text) {
  if (text.empty() || type == KeyType::label) return text.empty() || is_label(text);
  return type == KeyType::dns_name ? is_dns_name(text) : is_resource(text);
}

}  // namespace

std::optional<std::string> problem_of(const ProfileKey& key, const std::string& value) {
  // std::regex recurses over the text: a long one would overflow the stack.
  constexpr std::size_t kLongest = 1000;
  static const std::regex kWord("[A-Za-z0-9_.,:/@%+=-]*");
  static const std::regex kPath(
      R"(([A-Za-z0-9_.,:/@%+=-]|\$\{[A-Za-z_][A-Za-z0-9_]*(:-[A-Za-z0-9_./$-]*)?\})*)");
  const KeyType type = key.type;
  const bool has_pattern = type == KeyType::word || type == KeyType::words || type == KeyType::path;
  if (has_pattern && value.size() > kLongest)
    return "has more than " + std::to_string(kLongest) + " characters";
  if ((type == KeyType::word || type == KeyType::words) && !std::regex_match(value, kWord))
    return "has a character that is not allowed in a directive";
  if (type == KeyType::path && !std::regex_match(value, kPath))
    return "is not a path that a script can use";
  if ((type == KeyType::label || type == KeyType::dns_name || type == KeyType::resource) &&
      !is_kubernetes_name(type, value))
    return "is not a name that Kubernetes accepts";
  if (type == KeyType::choice &&
      std::find(key.choices.begin(), key.choices.end(), value) == key.choices.end()) {
    const std::string nearest = nearest_name(value, key.choices);
    return nearest.empty() ? "is unknown" : "is unknown; closest match: " + nearest;
  }
  if (!is_printable(value)) return "has a line break or another control character";
  return std::nullopt;
}

}  // namespace hpcboot::jobscripts

#include <algorithm>

#include "core/address.hpp"
#include "description.hpp"
#include "hpcboot/error.hpp"
#include "launchers.hpp"
#include "small_json.hpp"

// TF_CONFIG, which TensorFlow's cluster resolver reads and Kubeflow's TFJob, Vertex AI and others
// set:
// {"cluster": {"chief": ["host:port"], "worker": […], "ps": […], "evaluator": […]},
//  "task": {"type": "worker", "index": 0}}
// The world is the chief (formerly "master") and the workers, in that order; without a chief,
// worker 0 is rank 0. Parameter servers and evaluators are outside the world, each on its own. The
// addresses show which processes share a host. Source:
// tensorflow/python/distribute/multi_worker_util.py (id_in_cluster, worker_count),
// https://www.tensorflow.org/guide/distributed_training#TF_CONFIG
namespace hpcboot::sources {
namespace {

constexpr LaunchVariable kVariables[] = {
    {"TF_CONFIG", kIdentity, kUsed},
};

constexpr const char* kExpected =
    R"({"cluster": {"worker": ["host:port", …]}, "task": {"type": "worker", "index": 0}})";

[[noreturn]] void fail_as(const std::string& found) {
  throw Error(ErrorCode::malformed_value, found, kExpected, "correct TF_CONFIG, or unset it");
}

[[noreturn]] void fail(const std::string& what) {
  fail_as("TF_CONFIG: " + what);
}

struct Task {
  std::string type;
  int index = 0;
};

// The parsed TF_CONFIG; throws if it is malformed.
class Config {
 public:
  explicit Config(std::string_view text) {
    const auto root = parse_small_json(text);
    if (!root) fail_as("TF_CONFIG is not JSON, or is too large or too deeply nested");
    root_ = *root;
  }

  Task task() const {
    const SmallJson* task = root_.find("task");
    if (task == nullptr) fail("task is missing");
    const SmallJson* type = task->find("type");
    const SmallJson* index = task->find("index");
    if (type == nullptr || type->kind != SmallJson::Kind::text) fail("task.type is not a string");
    // Some write the index as a string.
    const auto number = index == nullptr ? std::nullopt : parse_whole_number(index->text);
    if (!number || *number < 0 || *number > 1000000) fail("task.index is not a whole number");
    return {type->text, static_cast<int>(*number)};
  }

  // Host names of one task type, without ports.
  std::vector<std::string> hosts_of(const char* type) const {
    std::vector<std::string> hosts;
    const SmallJson* cluster = root_.find("cluster");
    if (cluster == nullptr) fail("cluster is missing");
    const SmallJson* list = cluster->find(type);
    if (list == nullptr) return hosts;
    if (list->kind != SmallJson::Kind::list)
      fail(std::string("cluster.") + type + " is not a list of addresses");
    for (const SmallJson& entry : list->items) {
      const bool is_address = entry.kind == SmallJson::Kind::text && !entry.text.empty() &&
                              std::all_of(entry.text.begin(), entry.text.end(),
                                          [](char c) { return c > ' ' && c <= '~'; });
      if (!is_address) fail(std::string("cluster.") + type + " has an entry that is not HOST:PORT");
      hosts.push_back(checked_endpoint("TF_CONFIG", entry.text).host);
    }
    return hosts;
  }

 private:
  SmallJson root_;
};

bool is_of_the_world(const std::string& type) {
  return type == "chief" || type == "master" || type == "worker";
}

Detection detect(const Env& env, const Facts&) {
  const auto text = env.text("TF_CONFIG");
  if (!text) return {};
  const Detection inner = detect_any(env, {"RANK", "LOCAL_RANK", "WORLD_SIZE"});
  if (inner.match == Match::present)
    return {Match::refused, inner.reason + ": another launcher or script numbered this process"};
  // Vertex AI sets it even for jobs with one process, and others set {}.
  const auto root = parse_small_json(*text);
  if (root && root->find("cluster") == nullptr && root->find("task") == nullptr)
    return {Match::refused, "TF_CONFIG has neither cluster nor task"};
  if (!root) return {Match::present, "TF_CONFIG is set"};
  const SmallJson* task = root->find("task");
  const SmallJson* type = task == nullptr ? nullptr : task->find("type");
  if (type != nullptr && (type->text == "ps" || type->text == "evaluator"))
    return {Match::refused, "TF_CONFIG: a task of type " + type->text + " is outside the world"};
  return {Match::present, "TF_CONFIG is set"};
}

LaunchFacts read(const Env& env, const Facts&) {
  const Config config(env.require_text("TF_CONFIG", "Kubeflow or another operator"));
  const Task task = config.task();
  if (!is_of_the_world(task.type)) fail("task.type is '" + task.type.substr(0, 80) + "'");
  std::vector<std::string> world = config.hosts_of("chief");
  for (const std::string& host : config.hosts_of("master")) world.push_back(host);
  const std::size_t chiefs = world.size();
  for (const std::string& host : config.hosts_of("worker")) world.push_back(host);
  const bool is_worker = task.type == "worker";
  const std::size_t rank = static_cast<std::size_t>(task.index) + (is_worker ? chiefs : 0);
  if (chiefs > 1) fail("it has more than one chief");
  if (rank >= (is_worker ? world.size() : chiefs))
    fail("task.index is out of range for its list in cluster");

  LaunchFacts facts;
  const auto own = world.begin() + static_cast<std::ptrdiff_t>(rank);
  const auto count = [&](auto begin, auto end) {
    return static_cast<int>(std::count(begin, end, *own));
  };
  facts.hosts = unique_hosts(world);
  facts.rank = static_cast<int>(rank);
  facts.world_size = static_cast<int>(world.size());
  facts.local_rank = count(world.begin(), own);
  facts.local_size = count(world.begin(), world.end());
  facts.node_rank = static_cast<int>(std::find(facts.hosts.begin(), facts.hosts.end(), *own) -
                                     facts.hosts.begin());
  facts.num_nodes = static_cast<int>(facts.hosts.size());
  facts.rank0_host = world.front();
  for (const char* field : {"rank", "world_size", "local_rank", "local_size", "node_rank",
                            "num_nodes", "hosts", "master_addr"}) {
    facts.variables[field] = "TF_CONFIG";
  }
  return facts;
}

}  // namespace

const LaunchSource kTfConfig{"tf_config",
                             Level::pod,
                             "one process per task; launchers that a task starts are more specific",
                             "the operator that sets TF_CONFIG",
                             "https://www.tensorflow.org/guide/distributed_training#TF_CONFIG",
                             kVariables,
                             "a port for rank 0's server (those in TF_CONFIG are TensorFlow's)",
                             {},
                             detect,
                             read};

}  // namespace hpcboot::sources

#include "app/train_command.hpp"

#include "app/checkpoints.hpp"
#include "app/observation.hpp"
#include "app/optimization.hpp"
#include "app/options.hpp"
#include "app/parallel.hpp"
#include "core/schedulers/read_file.hpp"
#include "datasets/augmentation.hpp"
#include "datasets/places.hpp"
#include "hpcboot/error.hpp"
#include "options/config_file.hpp"
#include "tasks/task_names.hpp"

namespace hpcboot::app {
namespace {

using train::TrainOptions;

void require_at_least(const char* option, double value, double minimum) {
  if (value >= minimum) return;
  throw UsageError(std::string("--") + option + " must be at least " +
                   std::to_string(static_cast<long>(minimum)));
}

void require_at_most(const char* option, std::int64_t value, std::int64_t maximum) {
  if (value <= maximum) return;
  throw UsageError(std::string("--") + option + " must be at most " + std::to_string(maximum));
}

// No machine has more cores, and LibTorch's thread pools would take minutes to start, or never
// would.
constexpr int kMostThreads = 1024;
constexpr std::int64_t kLongestTimeout = 100'000'000;  // three years: no sum overflows
constexpr std::int64_t kLargestImage = 4096;           // as for data files

void check(const TrainOptions& o) {
  require_at_least("epochs", o.epochs, 1);
  if (o.image_size != 0) require_at_least("image-size", static_cast<double>(o.image_size), 8);
  require_at_most("image-size", o.image_size, kLargestImage);
  require_at_least("limit-samples", static_cast<double>(o.limit_samples), 0);
  require_at_least("threads", o.threads, 0);
  require_at_least("loader-threads", o.loader_threads, 1);
  require_at_most("threads", o.threads, kMostThreads);
  require_at_most("loader-threads", o.loader_threads, kMostThreads);
  if (!(o.dropout >= 0 && o.dropout < 1)) throw UsageError("--dropout must be in [0, 1)");
  if (o.mixup != 0 && !(o.mixup >= data::kLeastMixup && o.mixup <= 1))
    throw UsageError("--mixup must be 0, or from 0.01 to 1");
  if (!(o.data_fraction > 0 && o.data_fraction <= 1)) {
    throw UsageError("--data-fraction must be in (0, 1]");
  }
  check_optimization(o.optimization);
  check_parallel(o);
  check_checkpoints(o);
  check_observation(o);
}

// What the command line and a configuration file set.
struct Options {
  TrainOptions train;
  bool has_tensorboard = train::has_tensorboard();
  bool no_tensorboard = false;
  std::int64_t start_up = train.start_up_timeout.count();
  std::int64_t collective = train.collective_timeout.count();
};

// In a configuration file the switch is a Boolean: tensorboard = true.
options::Value tensorboard_flag(bool& slot) {
  options::Value value = options::flag();
  value.semantic = [&slot]() -> po::value_semantic* {
    return po::value(&slot)->default_value(slot)->implicit_value(true)->zero_tokens();
  };
  return value;
}

// Defaults of the tasks, for help.
std::string model_of(const tasks::KnownTask& task) {
  return std::string(task.model);
}
std::string data_of(const tasks::KnownTask& task) {
  return std::string(task.data);
}
std::string image_size_of(const tasks::KnownTask& task) {
  return task.image_size > 0 ? std::to_string(task.image_size) : "";
}
std::string augment_of(const tasks::KnownTask& task) {
  return task.image_size > 0 ? std::string(task.augment) : "";
}
std::string dropout_of(const tasks::KnownTask& task) {
  return tasks::number_text(task.dropout);
}
std::string of_each_task(std::string (*text)(const tasks::KnownTask& task)) {
  return tasks::default_of_each_task(text);
}

// The names are too many for the option's line in help.
options::Value model_into(std::string& slot) {
  options::Value value = options::choice_into(slot, tasks::models_of_all_tasks());
  value.name = "NAME";
  value.otherwise = of_each_task(model_of);
  return value;
}

/// Gives the options that were not set the task's values.
void set_defaults_of_task(const po::variables_map& values, TrainOptions& o) {
  const tasks::KnownTask& task = tasks::known_task(o.task);
  const auto set = [&](const char* option, auto& slot, auto value) {
    if (values[option].defaulted()) slot = value;
  };
  set("model", o.model, task.model);
  set("data", o.data, task.data);
  set("image-size", o.image_size, task.image_size);
  set("augment", o.augment, task.augment);
  set("dropout", o.dropout, task.dropout);
  set("lr", o.optimization.lr, task.lr);
  set("scale-lr", o.optimization.scale_lr, task.scale_lr);
}

// The options that a configuration file may set, too.
std::vector<options::Group> config_groups(Options& all) {
  using options::choice_into;
  using options::Completes;
  using options::into;
  TrainOptions& o = all.train;
  return {
      {"Training",
       {{"mode", choice_into(o.mode, {"auto", "single", "dp", "ddp"}),
         "auto: ddp if there are several ranks, else single; dp: one process on several devices"},
        {"task", choice_into(o.task, tasks::task_names()),
         "what to train, on what: " + tasks::about_tasks()},
        {"model", model_into(o.model),
         "model to train, one of the task's: " + options::one_of(tasks::models_of_all_tasks())},
        {"data", into(o.data, "DATA", Completes::file).otherwise_is(of_each_task(data_of)),
         "data set: " + data::known_places()},
        {"epochs", into(o.epochs, "N"), "passes over the training split"},
        {"image-size", into(o.image_size, "N").otherwise_is(of_each_task(image_size_of)),
         "resize images to N x N pixels"},
        {"augment",
         choice_into(o.augment, {"none", "crop-flip"}).otherwise_is(of_each_task(augment_of)),
         "random changes of training images; crop-flip: shift by up to 4 pixels, and mirror"},
        {"dropout", into(o.dropout, "P").otherwise_is(of_each_task(dropout_of)),
         "probability with which a value is dropped in training"},
        {"mixup", into(o.mixup, "ALPHA"),
         "mix training images in pairs, with weights of a beta distribution; 0: off"},
        {"seed", into(o.seed, "N"), "seed of the weights and of the order of the samples"},
        {"limit-samples", into(o.limit_samples, "N"),
         "use the first N samples of each split; 0: all"},
        {"data-fraction", into(o.data_fraction, "X"),
         "use the first fraction X of the training samples; 0.1: a tenth"},
        {"runs-dir", into(o.runs_dir, "DIR", Completes::folder),
         "folder in which the run folder is created"},
        {"comment", into(o.comment, "TEXT"), "text added to the run folder's name"},
        {"tensorboard", tensorboard_flag(all.has_tensorboard),
         std::string("write events for TensorBoard") +
             (all.has_tensorboard ? " [on]" : " [off in this build]")},
        {"no-tensorboard", options::flag(all.no_tensorboard), "write no events for TensorBoard"}}},
      {"Devices and ranks",
       {{"device", choice_into(o.device, {"auto", "cpu", "cuda"}), "kind of device"},
        {"devices", into(o.devices, "LIST").otherwise_is("all CUDA devices, else cpu:2"),
         "mode dp: cpu:N, cuda or cuda:I,J,..."},
        {"threads", into(o.threads, "N"), "threads of each rank; 0: its share of the cores"},
        {"loader-threads", into(o.loader_threads, "N"),
         "threads with which each rank loads batches"},
        {"cuda-graph", options::flag(o.cuda_graph),
         "record the forward and backward pass as a CUDA graph, and replay it in each step; faster "
         "for small models (mode single)"},
        {"backend", choice_into(o.backend, {"auto", "gloo", "nccl"}), "backend of the collectives"},
        {"store", choice_into(o.store, {"own", "tcp"}),
         "store of the rendezvous; own: hpcboot's, where each rank proves that it belongs to this "
         "launch; tcp: LibTorch's TCPStore, for comparison"},
        {"start-up-timeout", into(all.start_up, "SECONDS"), "timeout for all ranks to meet"},
        {"collective-timeout", into(all.collective, "SECONDS"), "timeout for collectives"}}},
      optimization_options(o.optimization),
      parallel_options(o),
      checkpoint_options(o),
      observation_options(o)};
}

options::Command command_for(Options& o) {
  options::Command command{
      "trainer",
      "",
      "train a model: single device, DP, DDP, one node or many",
      {"trainer [OPTIONS]", "trainer VERB [OPTIONS]"},
      {{"trainer --model mnistnet --image-size 28", "one process"},
       {"trainer --mode dp --devices cpu:2 --model mnistnet --image-size 28", "two devices"},
       {"mpirun -np 2 trainer --model mnistnet --image-size 28", "two ranks"},
       {"trainer --resume auto --model mnistnet --image-size 28",
        "continue where the last run was stopped"}}};
  command.details = {
      "Under mpirun, srun, torchrun or hpcboot run every process is one rank of the training. Each "
      "run leaves a folder in runs/; runtable compares them. --config reads options from a file "
      "with lines NAME = VALUE; the command line takes precedence. A # begins a comment at the "
      "start of a line or of a word, except in a VALUE in double quotes."};
  command.groups = config_groups(o);
  command.groups.push_back({"Configuration",
                            {{"config", options::text("FILE", options::Completes::file),
                              "read options from this file"}}});
  command.exit_codes = {
      {"0", "the run is finished"},
      {"1", "it failed"},
      {"2", "the command line or the configuration file is wrong"},
      {"27, 28",
       "the configuration file or a checkpoint cannot be read, or is damaged; the data cannot be "
       "read"},
      {"30", "a device or a library is missing on this machine or in this build"},
      {"20 to 35", "other codes: the placement cannot be resolved, or the ranks did not meet"},
      {"40 to 49",
       "missing or damaged data, output that cannot be written, or a training error; 46: stopped "
       "with a checkpoint, to be resumed"}};
  command.more = "trainer/README.md and runs/README.md of the project";
  return command;
}

void read_config(const std::string& file, Options& all, po::variables_map& values) {
  const FileText content = read_whole(file, FileKind::any);
  if (!content.text) {
    throw Error(ErrorCode::unreadable_file,
                "the configuration file '" + file + "' cannot be read: " + content.reason,
                "lines such as: epochs = 5", "correct the path given with --config");
  }
  options::store_config(config_groups(all), file, *content.text, values);
}

}  // namespace

options::Command train_command() {
  static Options unused;  // only described, never parsed
  return command_for(unused);
}

std::optional<TrainOptions> parse_training(const Arguments& arguments, ConfigFile config) {
  Options all;
  const options::Command command = command_for(all);
  auto parsed = options::parse(command, HPCBOOT_VERSION, arguments);
  if (!parsed) return std::nullopt;
  po::variables_map& values = parsed->values;
  const bool has_typed_tensorboard =
      !values["tensorboard"].defaulted() && !values["no-tensorboard"].as<bool>();
  const bool has_config = values.count("config") != 0;
  if (has_config && config == ConfigFile::now)
    read_config(values["config"].as<std::string>(), all, values);
  options::finish(command, values);
  TrainOptions& o = all.train;
  o.tensorboard = all.has_tensorboard;
  if (all.no_tensorboard && !has_typed_tensorboard) o.tensorboard = false;
  if (has_config && config == ConfigFile::later) return o;
  set_defaults_of_task(values, o);
  require_at_least("start-up-timeout", static_cast<double>(all.start_up), 1);
  require_at_least("collective-timeout", static_cast<double>(all.collective), 1);
  require_at_most("start-up-timeout", all.start_up, kLongestTimeout);
  require_at_most("collective-timeout", all.collective, kLongestTimeout);
  o.start_up_timeout = std::chrono::seconds(all.start_up);
  o.collective_timeout = std::chrono::seconds(all.collective);
  check(o);
  return o;
}

}  // namespace hpcboot::app

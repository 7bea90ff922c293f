#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/checkpoints.hpp"
#include "app/optimization.hpp"
#include "app/options.hpp"
#include "app/parallel.hpp"
#include "datasets/formats.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/launcher_files.hpp"
#include "loop/run_curves.hpp"
#include "loop/run_training.hpp"
#include "loop/stop_request.hpp"
#include "models/model.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {
namespace {

namespace po = boost::program_options;
using train::TrainOptions;

void require_at_least(const char* option, double value, double minimum) {
  if (value >= minimum) return;
  throw UsageError(std::string("--") + option + " has to be at least " +
                   std::to_string(static_cast<long>(minimum)));
}

void require_at_most(const char* option, std::int64_t value, std::int64_t maximum) {
  if (value <= maximum) return;
  throw UsageError(std::string("--") + option + " has to be at most " + std::to_string(maximum));
}

// No machine has more, and LibTorch's pools take minutes to come about, or never do.
constexpr int kMostThreads = 1024;
constexpr std::int64_t kLongestTimeout = 100'000'000;  // three years: sums stay in their types
constexpr std::int64_t kLargestImage = 4096;           // as in files

const std::vector<std::string> kModes = {"auto", "single", "dp", "ddp"};
const std::vector<std::string> kBackends = {"auto", "gloo", "nccl"};
const std::vector<std::string> kStores = {"own", "tcp"};
const std::vector<std::string> kDevices = {"auto", "cpu", "cuda"};

void check(const TrainOptions& o) {
  require_one_of("mode", o.mode, kModes);
  require_one_of("model", o.model, models::model_names());
  require_one_of("backend", o.backend, kBackends);
  require_one_of("store", o.store, kStores);
  require_one_of("device", o.device, kDevices);
  require_at_least("epochs", o.epochs, 1);
  require_at_least("image-size", static_cast<double>(o.image_size), 8);
  require_at_most("image-size", o.image_size, kLargestImage);
  require_at_least("limit-samples", static_cast<double>(o.limit_samples), 0);
  require_at_least("threads", o.threads, 0);
  require_at_least("loader-threads", o.loader_threads, 1);
  require_at_most("threads", o.threads, kMostThreads);
  require_at_most("loader-threads", o.loader_threads, kMostThreads);
  if (!(o.data_fraction > 0 && o.data_fraction <= 1)) {
    throw UsageError("--data-fraction has to be in (0, 1]");
  }
  check_optimization(o.optimization);
  check_parallel(o);
  check_checkpoints(o);
}

po::options_description config_options(TrainOptions& o, std::int64_t& start_up,
                                       std::int64_t& collective) {
  po::options_description options(
      "Options (also in the file of --config, as NAME = VALUE; the command line wins)");
  const auto value = [](auto& slot, const char* name) {
    return po::value(&slot)->default_value(slot)->value_name(name);
  };
  const std::string models = joined(models::model_names());
  options.add_options()("mode", value(o.mode, "M"),
                        (joined(kModes) + "; auto is ddp where there are several ranks").c_str())(
      "model", value(o.model, "M"), models.c_str())(
      "data", value(o.data, "DATA"), data::known_places().c_str())("epochs", value(o.epochs, "N"),
                                                                   "passes over the training set")(
      "image-size", value(o.image_size, "N"), "images are resized to N x N pixels")(
      "seed", value(o.seed, "N"), "of the weights and of the order of the samples")(
      "limit-samples", value(o.limit_samples, "N"),
      "use the first N images of each half of the data; 0: all")(
      "data-fraction", value(o.data_fraction, "X"),
      "use the first part of the training images, 0.1 for a tenth")(
      "backend", value(o.backend, "B"), (joined(kBackends) + " between the ranks").c_str())(
      "device", value(o.device, "D"), joined(kDevices).c_str())(
      "devices", value(o.devices, "LIST"),
      "of mode dp: cpu:N, cuda, cuda:I,J,... [all CUDA devices, else cpu:2]")(
      "threads", value(o.threads, "N"), "threads of each rank; 0: its share of the cores")(
      "loader-threads", value(o.loader_threads, "N"), "threads of each rank that prepare batches")(
      "runs-dir", value(o.runs_dir, "DIR"), "where the run folder is made")(
      "comment", value(o.comment, "TEXT"), "goes into the name of the run folder")(
      "tensorboard",
      po::value(&o.tensorboard)
          ->default_value(train::has_tensorboard())
          ->implicit_value(true)
          ->zero_tokens(),
      "events for TensorBoard in the run folder")("no-tensorboard", po::bool_switch(),
                                                  "no such events")(
      "store", value(o.store, "S"),
      "what the ranks meet in; own: hpcboot's, where each proves that it is of this launch; tcp: "
      "LibTorch's TCPStore, for comparison")("start-up-timeout", value(start_up, "SECONDS"),
                                             "how long to wait for all ranks")(
      "collective-timeout", value(collective, "SECONDS"),
      "after which a silent rank counts as lost");
  options.add(optimization_options(o.optimization))
      .add(parallel_options(o))
      .add(checkpoint_options(o));
  return options;
}

void read_config(const std::string& file, const po::options_description& options,
                 po::variables_map& values) {
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file)) {
    throw Error(ErrorCode::unreadable_file, "the configuration file " + file + " cannot be read",
                "lines such as: epochs = 5", "correct the path given as --config");
  }
  try {
    po::store(po::parse_config_file(in, options), values);
  } catch (const po::error& error) {
    throw UsageError(file + ": " + error.what());
  }
}

}  // namespace

int train(const Arguments& arguments) {
  train::catch_stop_signals();
  TrainOptions o;
  std::int64_t start_up = o.start_up_timeout.count();
  std::int64_t collective = o.collective_timeout.count();
  const po::options_description config = config_options(o, start_up, collective);
  po::options_description all;
  all.add(config);
  po::options_description general("General");
  general.add_options()("config", po::value<std::string>()->value_name("FILE"),
                        "read options from a file")("help,h", "print this and exit")(
      "version", "print the version and exit");
  all.add(general);

  po::variables_map values;
  parse_command_line(arguments, all, {}, values);
  if (values.count("help") != 0) {
    std::ostringstream help;
    help << "Usage: trainer [OPTIONS]            train a model on images\n"
            "       trainer digits DIR           draw images of digits\n"
            "       trainer convert SRC DST      write data in another format\n"
            "       trainer inspect DATA         show what is in a data file\n\n"
            "Started by mpirun, srun or torchrun every process is one rank of the training:\n"
            "  build/bin/trainer --model mnistnet --image-size 28\n"
            "  build/bin/trainer --mode dp --devices cpu:2 --model mnistnet --image-size 28\n"
            "  mpirun -np 2 build/bin/trainer --model mnistnet --image-size 28\n"
            "Each run leaves a folder in runs/; build/bin/runtable compares them.\n\n"
         << all;
    out() << Encoded::as_is(help.str());
    return flushed(0);
  }
  const bool typed_tensorboard =
      !values["tensorboard"].defaulted() && !values["no-tensorboard"].as<bool>();
  if (values.count("config") != 0) read_config(values["config"].as<std::string>(), config, values);
  po::notify(values);
  if (values["no-tensorboard"].as<bool>() && !typed_tensorboard) o.tensorboard = false;
  require_at_least("start-up-timeout", static_cast<double>(start_up), 1);
  require_at_least("collective-timeout", static_cast<double>(collective), 1);
  require_at_most("start-up-timeout", start_up, kLongestTimeout);
  require_at_most("collective-timeout", collective, kLongestTimeout);
  o.start_up_timeout = std::chrono::seconds(start_up);
  o.collective_timeout = std::chrono::seconds(collective);
  check(o);
  const Env env = Env::from_process();
  add_launchers(read_user_launchers(env));
  return train::run_training(o, env);
}

}  // namespace hpcboot::app

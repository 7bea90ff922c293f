#include "datasets/convert.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>

#include "app/convert_model.hpp"
#include "app/options.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "hpcboot/launcher_files.hpp"
#include "hpcboot/resolve.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "hpcboot/torch/process_group.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {

namespace {

void show_progress(std::int64_t done, std::int64_t total) {
  constexpr std::int64_t kCells = 30;
  const auto filled = static_cast<std::size_t>(kCells * done / total);
  const std::string bar = std::string(filled, '#') + std::string(kCells - filled, '.');
  err() << "\rconverting [" << bar << "] " << done << "/" << total << " images";
  if (done == total) err() << "\n";
  err().flush();
}

struct Options {
  std::vector<std::string> places;
  data::ConvertOptions how;
  int shards = 0;
};

/// @return what was written
std::string convert_here(const Options& o) {
  const std::string& source = o.places[0];
  const std::string& target = o.places[1];
  if (o.shards > 0) return split_model(source, target, o.shards, o.how.replace);
  if (is_sharded_model(source)) return merge_model(source, target, o.how.replace);
  data::ConvertOptions how = o.how;
  if (isatty(STDERR_FILENO) == 1) how.progress = show_progress;
  return std::to_string(data::convert(source, target, how)) + " images in " + target;
}

/// Rank 0 converts. The others wait for its exit code, so that whatever a job script runs after
/// this finds the data.
int convert_once(const Options& o) {
  const Env env = Env::from_process();
  add_launchers(read_user_launchers(env));
  const Resolution me = resolve(env, Facts::of_this_process(env));
  const auto convert_and_tell = [&] {
    out() << convert_here(o) << "\n";
    out().flush();
  };
  if (me.placement.world_size == 1) {
    convert_and_tell();
    return 0;
  }
  ProcessGroupOptions options;
  options.collective_timeout = std::chrono::hours(24);  // the loss of rank 0 is noticed at once
  ProcessGroup group = make_process_group(me, env, options);
  int code = 0;
  std::exception_ptr failure;
  if (me.placement.rank == 0) {
    try {
      convert_and_tell();
    } catch (const Error& error) {
      code = error.exit_code();
      failure = std::current_exception();
    } catch (const std::exception&) {
      code = 1;
      failure = std::current_exception();
    }
  }
  code = std::stoi(broadcast_text(group, std::to_string(code)));
  group.shutdown();
  if (failure) std::rethrow_exception(failure);
  return code;
}

options::Command command_for(Options& o) {
  using options::into;
  options::Command command{"trainer",
                           "convert",
                           "write a data set in another format, or a model in one file or several",
                           {"trainer convert SRC DST [OPTIONS]"},
                           {{"trainer convert data/mnist set.h5", "to HDF5"},
                            {"trainer convert set.h5 set.safetensors", "to safetensors"},
                            {"trainer convert FOLDER model.safetensors",
                             "a model or checkpoint of several files to one"},
                            {"trainer convert model.safetensors FOLDER --shards 4",
                             "a model to four files and their index"}}};
  command.details = {
      "Writes both splits of SRC to DST, in the format that the name of DST selects. "
      "Under a launcher, rank 0 writes while the others wait. SRC is " +
          data::known_places() + ".",
      "A model of several files is a folder with model.safetensors.index.json, such as a "
      "checkpoint "
      "of --sharded-checkpoints, or one of Hugging Face's libraries. One file has the model's "
      "parameters and buffers, without the state of an optimizer."};
  command.groups = {
      {"Options",
       {{"chunk", into(o.how.storage.chunk, "N"),
         "HDF5: images per chunk; 0: contiguous, or 64 KiB with --compress"},
        {"compress", into(o.how.storage.compress, "LEVEL"),
         "HDF5: gzip level 1 to 9; 0: no compression"},
        {"shards", into(o.shards, "N"),
         "write the model SRC to N files of about equal size in the folder DST; 0: do not"},
        {"force", options::flag(), "replace DST if it exists"}}}};
  command.operands = {{"place", options::list("SRC DST", options::Completes::file), -1}};
  command.exit_codes = {{"0", "ok"},
                        {"2", "the command line is wrong"},
                        {"27, 40, 41", "SRC cannot be read, is not a data set, or is damaged"},
                        {"30", "this build lacks the format of SRC or DST"},
                        {"42", "DST cannot be written, or its name fits no format"},
                        {"43", "the format of DST cannot hold the images with the chosen options"}};
  return command;
}

options::Command convert_command() {
  Options unused;  // only described, never parsed
  return command_for(unused);
}

int convert(const Arguments& arguments) {
  Options o;
  const auto parsed = parse(command_for(o), arguments);
  if (!parsed) return 0;
  auto& how = o.how;
  const po::variables_map& values = parsed->values;
  if (values.count("place") != 0) o.places = values["place"].as<std::vector<std::string>>();
  const auto& places = o.places;
  if (places.size() != 2) throw UsageError("convert needs SRC and DST, such as data/mnist set.h5");
  if (how.storage.chunk < 0) throw UsageError("--chunk must be at least 0");
  if (how.storage.compress < 0 || how.storage.compress > 9) {
    throw UsageError("--compress must be 0 to 9");
  }
  how.replace = values.count("force") != 0;
  if (o.shards < 0 || o.shards > 99'999) throw UsageError("--shards must be 1 to 99999");
  return convert_once(o);
}

}  // namespace

const Verb kConvert{convert_command, convert};

}  // namespace hpcboot::app

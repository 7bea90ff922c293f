#include "app/convert_command.hpp"

#include <vector>

#include "app/options.hpp"
#include "datasets/places.hpp"

namespace hpcboot::app {
namespace {

options::Command command_for(ConvertRequest& o) {
  using options::into;
  options::Command command{
      "trainer",
      "convert",
      "write a data set in another format, or a model in one file or several",
      {"trainer convert SRC DST [OPTIONS]"},
      {{"trainer convert data/mnist set.h5", "to HDF5"},
       {"trainer convert set.h5 set.safetensors", "to safetensors"},
       {"trainer convert FOLDER model.safetensors",
        "a model or checkpoint of several files to one"},
       {"trainer convert best.safetensors model.safetensors", "the model of a checkpoint"},
       {"trainer convert model.safetensors FOLDER --shards 4",
        "a model to four files and their index"}}};
  command.details = {
      "Writes both splits of SRC to DST, in the format that the name of DST selects. "
      "Under a launcher, rank 0 writes while the others wait. SRC is " +
          data::known_places() + ".",
      "A model is a folder with model.safetensors.index.json, such as a checkpoint of "
      "--sharded-checkpoints or one of Hugging Face's libraries; a checkpoint of one file; or, "
      "with --shards, any safetensors file. DST gets its parameters and buffers as safetensors, "
      "without the state of an optimizer. Only a run's model.safetensors also says how to build "
      "the model and to scale images."};
  command.groups = {
      {"Options",
       {{"chunk", into(o.chunk, "N"),
         "HDF5: images per chunk; 0: contiguous, or 64 KiB with --compress"},
        {"compress", into(o.compress, "LEVEL"), "HDF5: gzip level 1 to 9; 0: no compression"},
        {"shards", into(o.shards, "N"),
         "write the model SRC to N files of about equal size in the folder DST; 0: do not"},
        {"force", options::flag(), "replace DST if it exists"}}}};
  command.operands = {{"place", options::list("SRC DST", options::Completes::file), -1}};
  command.exit_codes = {{"0", "ok"},
                        {"2", "the command line is wrong"},
                        {"27, 28, 40, 41", "SRC cannot be read, is not a data set, or is damaged"},
                        {"30", "this build lacks the format of SRC or DST"},
                        {"42", "DST cannot be written, or its name fits no format"},
                        {"43", "the format of DST cannot hold SRC with the chosen options"}};
  return command;
}

}  // namespace

options::Command convert_command() {
  ConvertRequest unused;  // only described, never parsed
  return command_for(unused);
}

std::optional<ConvertRequest> parse_convert(const Arguments& arguments) {
  ConvertRequest o;
  const auto parsed = parse(command_for(o), arguments);
  if (!parsed) return std::nullopt;
  const po::variables_map& values = parsed->values;
  std::vector<std::string> places;
  if (values.count("place") != 0) places = values["place"].as<std::vector<std::string>>();
  if (places.size() != 2) throw UsageError("convert needs SRC and DST, such as data/mnist set.h5");
  if (o.chunk < 0) throw UsageError("--chunk must be at least 0");
  if (o.compress < 0 || o.compress > 9) throw UsageError("--compress must be 0 to 9");
  if (o.shards < 0 || o.shards > 99'999) throw UsageError("--shards must be 1 to 99999");
  o.source = places[0];
  o.target = places[1];
  o.replace = values.count("force") != 0;
  return o;
}

}  // namespace hpcboot::app

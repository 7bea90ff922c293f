#include "datasets/inspect.hpp"

#include <unistd.h>

#include "app/options.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {

namespace {

struct Options {
  std::string place;
  std::int64_t images = 3;
};

options::Command command_for(Options& o) {
  options::Command command{"trainer",
                           "inspect",
                           "show what is in a data set or a file of arrays",
                           {"trainer inspect DATA [OPTIONS]"},
                           {{"trainer inspect data/mnist", "names, types, shapes, first images"},
                            {"trainer inspect runs/RUN/model.safetensors", "a model's parameters"},
                            {"trainer inspect --json set.h5", "for programs"}}};
  command.details = {
      "Prints names, types, shapes, chunks, compression, and the first images. A "
      "FILE.pt must hold a plain dict, not an OrderedDict such as state_dict(). "
      "DATA is " +
      data::known_places() + "."};
  command.groups = {{"Options",
                     {{"images", options::into(o.images, "N"), "draw the first N of each split"},
                      {"json", options::flag(), "print one JSON object"}}}};
  command.operands = {{"place", options::into(o.place, "DATA", options::Completes::file), 1}};
  command.exit_codes = {
      {"0", "ok"},
      {"2", "the command line is wrong"},
      {"27, 40, 41", "DATA cannot be read, is missing or of unknown format, or is damaged"},
      {"30", "this build lacks the format of DATA"}};
  return command;
}

options::Command inspect_command() {
  Options unused;  // only described, never parsed
  return command_for(unused);
}

int inspect(const Arguments& arguments) {
  Options o;
  const auto parsed = parse(command_for(o), arguments);
  if (!parsed) return 0;
  const auto& [place, images] = o;
  if (place.empty()) throw UsageError("inspect needs the data to show, such as set.h5");
  if (images < 0) throw UsageError("--images must be at least 0");
  const data::Inspection found = data::inspect(place, images);
  if (parsed->values.count("json") != 0) {
    out() << json_text(data::to_json(found), 2) << "\n";
  } else {
    out() << data::to_text(found, terminal_columns(STDOUT_FILENO, 100));
  }
  return 0;
}

}  // namespace

const Verb kInspect{inspect_command, inspect};

}  // namespace hpcboot::app

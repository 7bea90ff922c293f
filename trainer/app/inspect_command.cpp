#include "app/inspect_command.hpp"

#include "app/options.hpp"
#include "datasets/places.hpp"

namespace hpcboot::app {
namespace {

options::Command command_for(InspectRequest& o) {
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
      data::known_places() + "; or the folder of a model in several files."};
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

}  // namespace

options::Command inspect_command() {
  InspectRequest unused;  // only described, never parsed
  return command_for(unused);
}

std::optional<InspectRequest> parse_inspect(const Arguments& arguments) {
  InspectRequest o;
  const auto parsed = parse(command_for(o), arguments);
  if (!parsed) return std::nullopt;
  if (o.place.empty()) throw UsageError("inspect needs the data to show, such as set.h5");
  if (o.images < 0) throw UsageError("--images must be at least 0");
  o.json = parsed->values.count("json") != 0;
  return o;
}

}  // namespace hpcboot::app

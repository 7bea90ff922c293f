#include "datasets/inspect.hpp"

#include <unistd.h>

#include <sstream>

#include "app/options.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {

namespace po = boost::program_options;

int inspect(const Arguments& arguments) {
  std::string place;
  std::int64_t images = 3;
  po::options_description options("Options");
  options.add_options()("images", po::value(&images)->default_value(images)->value_name("N"),
                        "how many of each half are drawn")("json", "one JSON object, for programs")(
      "help,h", "print this and exit");
  po::options_description all;
  all.add(options).add_options()("place", po::value(&place));
  po::positional_options_description positional;
  positional.add("place", 1);
  po::variables_map values;
  parse_command_line(arguments, all, positional, values);
  if (values.count("help") != 0) {
    std::ostringstream help;
    help << "Usage: trainer inspect DATA [OPTIONS]\n\n"
            "Shows what is in a data set or in any file of arrays, a model's too: names, types,\n"
            "shapes, chunks, compression, and the first images. A FILE.pt has to hold a plain "
            "dict,\n"
            "no OrderedDict such as state_dict().\nDATA is "
         << data::known_places() << ".\n\n"
         << options;
    out() << Encoded::as_is(help.str());
    return 0;
  }
  po::notify(values);
  if (place.empty()) throw UsageError("inspect takes the data to look at, such as set.h5");
  if (images < 0) throw UsageError("--images has to be at least 0");
  const data::Inspection found = data::inspect(place, images);
  if (values.count("json") != 0) {
    out() << json_text(data::to_json(found), 2) << "\n";
  } else {
    out() << data::to_text(found, terminal_columns(STDOUT_FILENO, 100));
  }
  return 0;
}

}  // namespace hpcboot::app

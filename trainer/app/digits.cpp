#include "datasets/digits.hpp"

#include <unistd.h>

#include <cstdio>
#include <sstream>

#include "app/options.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {

namespace po = boost::program_options;

int digits(const Arguments& arguments) {
  data::DigitsOptions how;
  std::string folder;
  po::options_description options("Options");
  options.add_options()("train", po::value(&how.train)->default_value(how.train)->value_name("N"),
                        "images to learn from")(
      "test", po::value(&how.test)->default_value(how.test)->value_name("N"),
      "images to validate with")("seed",
                                 po::value(&how.seed)->default_value(how.seed)->value_name("N"),
                                 "equal seeds give equal files")("help,h", "print this and exit");
  po::options_description all;
  all.add(options).add_options()("dir", po::value(&folder));
  po::positional_options_description positional;
  positional.add("dir", 1);
  po::variables_map values;
  parse_command_line(arguments, all, positional, values);
  if (values.count("help") != 0) {
    std::ostringstream help;
    help << "Usage: trainer digits DIR [OPTIONS]\n\n"
            "Draws a data set of handwritten-like digits in MNIST's file format into DIR, for "
            "machines without\n"
            "internet. The real MNIST: bash setup/get-mnist\n\n"
         << options;
    out() << Encoded::as_is(help.str());
    return 0;
  }
  po::notify(values);
  if (folder.empty()) throw UsageError("digits takes the folder to write to, such as data/mnist");
  if (how.train < 1 || how.test < 1) throw UsageError("--train and --test have to be at least 1");
  if (isatty(STDERR_FILENO) == 1) {
    how.progress = [](std::int64_t done, std::int64_t total) {
      err() << "\rdrawing digits: " << 100 * done / total << " %";
      if (done == total) err() << "\n";
      err().flush();
    };
  }
  data::write_digits(folder, how);
  out() << how.train << " + " << how.test << " images in " << folder << "\n";
  return 0;
}

}  // namespace hpcboot::app

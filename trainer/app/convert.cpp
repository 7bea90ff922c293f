#include "datasets/convert.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <sstream>

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

namespace po = boost::program_options;

namespace {

void show_progress(std::int64_t done, std::int64_t total) {
  constexpr std::int64_t kCells = 30;
  const auto filled = static_cast<std::size_t>(kCells * done / total);
  const std::string bar = std::string(filled, '#') + std::string(kCells - filled, '.');
  err() << "\rconverting [" << bar << "] " << done << "/" << total << " images";
  if (done == total) err() << "\n";
  err().flush();
}

void convert_here(const std::string& source, const std::string& target,
                  data::ConvertOptions options) {
  if (isatty(STDERR_FILENO) == 1) options.progress = show_progress;
  const std::int64_t images = data::convert(source, target, options);
  out() << images << " images in " << target << "\n";
  out().flush();
}

/// Rank 0 converts. The others wait for its exit code, so that whatever a job script runs after
/// this finds the data.
int convert_once(const std::string& source, const std::string& target,
                 const data::ConvertOptions& options) {
  const Env env = Env::from_process();
  add_launchers(read_user_launchers(env));
  const Resolution me = resolve(env, Facts::of_this_process(env));
  if (me.placement.world_size == 1) {
    convert_here(source, target, options);
    return 0;
  }
  ProcessGroupOptions how;
  how.collective_timeout = std::chrono::hours(24);  // a loss of rank 0 is noticed at once
  ProcessGroup group = make_process_group(me, env, how);
  int code = 0;
  std::exception_ptr failure;
  if (me.placement.rank == 0) {
    try {
      convert_here(source, target, options);
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

}  // namespace

int convert(const Arguments& arguments) {
  std::vector<std::string> places;
  data::ConvertOptions how;
  po::options_description options("Options");
  options.add_options()("chunk", po::value(&how.storage.chunk)->default_value(0)->value_name("N"),
                        "images a chunk (HDF5); 0: one piece, or 64 KiB with --compress")(
      "compress", po::value(&how.storage.compress)->default_value(0)->value_name("LEVEL"),
      "gzip level 1 to 9 (HDF5); 0: not compressed")("force", "replace what is there")(
      "help,h", "print this and exit");
  po::options_description all;
  all.add(options).add_options()("place", po::value(&places));
  po::positional_options_description positional;
  positional.add("place", -1);
  po::variables_map values;
  parse_command_line(arguments, all, positional, values);
  if (values.count("help") != 0) {
    std::ostringstream help;
    help << "Usage: trainer convert SRC DST [OPTIONS]\n\n"
            "Writes the data set SRC, both halves, to DST in the format that its name says.\n"
            "SRC is "
         << data::known_places() << ".\nUnder a launcher rank 0 writes while the others wait.\n\n"
         << options;
    out() << Encoded::as_is(help.str());
    return 0;
  }
  po::notify(values);
  if (places.size() != 2) throw UsageError("convert takes SRC and DST, such as data/mnist set.h5");
  if (how.storage.chunk < 0) throw UsageError("--chunk has to be at least 0");
  if (how.storage.compress < 0 || how.storage.compress > 9) {
    throw UsageError("--compress takes 0 to 9");
  }
  how.replace = values.count("force") != 0;
  return convert_once(places[0], places[1], how);
}

}  // namespace hpcboot::app

// runtable: the runtime table of finished runs. Data to stdout, words to stderr.

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "hpcboot/error.hpp"
#include "record/runtime_table.hpp"
#include "record/table_format.hpp"
#include "text/terminal.hpp"

namespace {

namespace po = boost::program_options;
namespace record = hpcboot::record;
using hpcboot::err;

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr const char* kHelp =
    R"(runtable: compares finished runs: runtime, images/s, speed-up and efficiency
usage: runtable [DIR...] [--format FORMAT]

DIR is a folder of runs, one run folder or a run.json; default: runs.
The speed-up of a run is the runtime of its baseline over its own: the single-device run (mode
single) of equal model, image size, samples, epochs and precision. Of several, one on the same kind
of device comes first, then one of the same site, then the newest. Without one it shows "–".
The runtime is that of rank 0's process, from its start to its end. The launch before it is in
run.json (totals.launch_seconds). A mark before a figure has a footnote: "*" for a run beside
other programs, "†" for an efficiency above 100% by more than noise.

)";
constexpr const char* kExitCodes =
    R"(
exit codes: 0 the table is printed (also where a folder holds no run yet), 1 every run there was had
to be skipped, or the table could not be written, 2 usage, 27 a DIR cannot be read.
)";

struct Arguments {
  std::vector<std::filesystem::path> places;
  record::TableFormat format{};
};

/// The arguments, or nothing when --help or --version was answered. @throws po::error
std::optional<Arguments> parse_arguments(int argc, char** argv) {
  std::vector<std::string> places;
  std::string format_name;
  po::options_description visible("options");
  visible.add_options()("format", po::value(&format_name)->default_value("table"),
                        record::table_format_names().c_str());
  visible.add_options()("help", "print this and exit");
  visible.add_options()("version", "print the version and exit");
  po::options_description all;
  all.add(visible).add_options()("dir", po::value(&places));
  po::variables_map values;
  // No guessing: --form is not --format, so that a later option cannot change a script's meaning.
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::store(po::command_line_parser(argc, argv)
                .options(all)
                .positional(po::positional_options_description().add("dir", -1))
                .style(style)
                .run(),
            values);
  po::notify(values);
  if (values.count("help") != 0) {
    std::ostringstream help;
    help << kHelp << visible << kExitCodes;
    hpcboot::out() << hpcboot::Encoded::as_is(help.str());
    return std::nullopt;
  }
  if (values.count("version") != 0) {
    hpcboot::out() << "runtable " HPCBOOT_VERSION "\n";
    return std::nullopt;
  }
  const std::optional<record::TableFormat> format = record::table_format(format_name);
  if (!format) {
    throw po::error(fmt::format("unknown format '{}'; known are {}", format_name,
                                record::table_format_names()));
  }
  if (places.empty()) places.emplace_back("runs");
  return Arguments{{places.begin(), places.end()}, *format};
}

int print_table(const Arguments& arguments) {
  const record::RuntimeTable table = record::read_runtime_table(arguments.places);
  for (const std::string& line : table.skipped) err() << "runtable: skipped " << line << "\n";
  if (table.rows.empty()) {
    if (!table.skipped.empty()) {
      err() << "runtable: no finished run is left to show\n";
      return kFailed;
    }
    err() << "runtable: no runs there yet; the trainer makes them\n";
  }
  hpcboot::out() << record::format_rows(table.rows, arguments.format);
  return kOk;
}

}  // namespace

int main(int argc, char** argv) {
  int status = kOk;
  try {
    if (const auto arguments = parse_arguments(argc, argv)) status = print_table(*arguments);
  } catch (const po::error& problem) {
    err() << "runtable: " << problem.what() << "\nTry 'runtable --help'.\n";
    return kUsage;
  } catch (const hpcboot::Error& problem) {
    hpcboot::print_error("runtable", problem);
    return problem.exit_code();
  } catch (const std::exception& problem) {
    err() << "runtable: " << problem.what() << "\n";
    return kFailed;
  }
  if (!hpcboot::out().is_good()) {
    err() << "runtable: the table could not be written to stdout\n";
    return kFailed;
  }
  return status;
}

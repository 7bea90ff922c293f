// runtable: the runtime table of finished runs, and plots of them. Data goes to stdout, messages to
// stderr.

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/named_runs.hpp"
#include "app/runtable_diff.hpp"
#include "app/runtable_export.hpp"
#include "app/runtable_plot.hpp"
#include "app/runtable_report.hpp"
#include "app/runtable_watch.hpp"
#include "hpcboot/error.hpp"
#include "options/completion.hpp"
#include "options/help.hpp"
#include "options/man_page.hpp"
#include "options/wrong_value.hpp"
#include "record/runtime_table.hpp"
#include "record/table_format.hpp"
#include "text/style.hpp"
#include "text/terminal.hpp"

namespace {

namespace options = hpcboot::options;
namespace record = hpcboot::record;
using hpcboot::err;

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

options::Command command() {
  options::Command command{
      "runtable",
      "",
      "compare finished runs: runtime, samples/s, speed-up and efficiency",
      {"runtable [OPTIONS] [DIR…]", "runtable VERB [OPTIONS] [DIR…]"},
      {{"runtable", "the runs in runs/"},
       {"runtable --format md runs old_runs >runs.md", "of two folders, as Markdown"},
       {"runtable plot strong-scaling -o scaling.svg", "speed-up and efficiency as a picture"}}};
  command.details = {
      "DIR is a folder of runs, one run folder or a run.json [runs]. The speed-up of a run is the "
      "runtime of its baseline divided by its own. The baseline is a single-device run (mode "
      "single, or ddp if there is none) with the same model, image size, samples, epochs and "
      "precision, preferably one on the same kind of device, then one of the same site, then the "
      "newest. Without a baseline it is \"–\".",
      "The runtime is that of rank 0's process, from its start to its end. The launch before it is "
      "in run.json (totals.launch_seconds). \"*\" marks a run on hosts that other programs kept "
      "busy, \"†\" an efficiency above 100% by more than noise explains."};
  command.groups = {
      {"Options",
       {{"format", options::choice(record::table_formats(), "table"), "format of the table"},
        {"completion", options::choice(options::shells()),
         "print the completion script for a shell"},
        {"manual", options::flag(), "print the manual page"}}}};
  command.operands = {{"dir", options::list("DIR", options::Completes::folder), -1}};
  command.exit_codes = {{"0", "the table is printed; also if a folder has no run yet"},
                        {"1", "every run had to be skipped, or the table cannot be written"},
                        {"2", "the command line is wrong"},
                        {"27", "a DIR cannot be read"}};
  command.more = "runs/README.md of the project";
  return command;
}

struct Verb {
  options::Command command;
  int (*run)(const std::vector<std::string>& arguments);
};

std::vector<Verb> verbs() {
  namespace app = hpcboot::app;
  return {{app::plot_command(), app::plot},
          {app::report_command(), app::report},
          {app::diff_command(), app::diff},
          {app::watch_command(), app::watch},
          {app::export_command(), app::export_runs}};
}

options::Program program() {
  std::vector<options::Command> commands;
  for (const Verb& verb : verbs()) commands.push_back(verb.command);
  return {command(),
          HPCBOOT_VERSION,
          commands,
          {{"NO_COLOR", "if set, no colours on terminals"}},
          {{"runs/RUN/run.json", "the trainer's record of a run"}}};
}

struct Arguments {
  std::vector<std::filesystem::path> places;
  record::TableFormat format{};
};

/// The arguments, or nothing if help, the version, completion or the manual page was printed.
/// @throws options::UsageError
std::optional<Arguments> parse_arguments(const std::vector<std::string>& words) {
  auto parsed = options::parse(command(), HPCBOOT_VERSION, words);
  if (!parsed) return std::nullopt;
  options::finish(command(), parsed->values);
  const auto& values = parsed->values;
  if (values.count("completion") != 0) {
    hpcboot::out() << options::shell_completion(program(), values["completion"].as<std::string>());
    return std::nullopt;
  }
  if (values.count("manual") != 0) {
    hpcboot::out() << options::man_page(program());
    return std::nullopt;
  }
  return Arguments{hpcboot::app::places_of(values),
                   *record::table_format(values["format"].as<std::string>())};
}

int print_table(const Arguments& arguments) {
  const record::RuntimeTable table = record::read_runtime_table(arguments.places);
  for (const std::string& line : table.skipped) err() << "runtable: skipped: " << line << "\n";
  if (table.rows.empty()) {
    if (!table.skipped.empty()) {
      err() << "runtable: no finished run to show\n";
      return kFailed;
    }
    err() << "runtable: no runs yet; the trainer creates them\n";
  }
  hpcboot::out() << record::format_rows(table.rows, arguments.format,
                                        hpcboot::look_of(STDOUT_FILENO));
  return kOk;
}

int run(std::vector<std::string> words) {
  const std::string verb = words.empty() ? "" : words.front();
  if (verb == "--help" || verb == "-h") {
    hpcboot::out() << options::help_text(program(), options::help_width(),
                                         hpcboot::has_colour(STDOUT_FILENO));
    return kOk;
  }
  for (const Verb& one : verbs()) {
    if (one.command.verb != verb) continue;
    words.erase(words.begin());
    return one.run(words);
  }
  if (const std::string wrong = options::wrong_verb(program(), verb, true);
      !wrong.empty() && !std::filesystem::exists(verb))
    throw options::UsageError(wrong);
  const auto arguments = parse_arguments(words);
  return arguments ? print_table(*arguments) : kOk;
}

}  // namespace

int main(int argc, char** argv) {
  int status = kOk;
  try {
    status = run({argv + 1, argv + argc});
  } catch (const options::UsageError& problem) {
    err() << "runtable: " << problem.what() << "\n";
    return kUsage;
  } catch (const hpcboot::Error& problem) {
    hpcboot::print_error("runtable", problem);
    return problem.exit_code();
  } catch (const std::exception& problem) {
    err() << "runtable: " << problem.what() << "\n";
    return kFailed;
  }
  if (!hpcboot::out().is_good()) {
    err() << "runtable: standard output cannot be written\n";
    return kFailed;
  }
  return status;
}

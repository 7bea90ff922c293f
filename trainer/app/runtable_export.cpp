#include "app/runtable_export.hpp"

#include <filesystem>

#include "app/named_runs.hpp"
#include "core/counted.hpp"
#include "export/export_formats.hpp"
#include "export/run_values.hpp"
#include "hpcboot/error.hpp"
#include "record/read_runs.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of_formats() {
  std::vector<std::string> names;
  for (const exports::ExportFormat& format : exports::export_formats())
    names.emplace_back(format.name);
  return names;
}

const exports::ExportFormat& format_of(const std::string& name) {
  for (const exports::ExportFormat& format : exports::export_formats()) {
    if (format.name == name) return format;
  }
  throw options::UsageError("--to is '" + name + "'; expected " +
                            options::one_of(names_of_formats()));
}

}  // namespace

options::Command export_command() {
  options::Command command{
      "runtable",
      "export",
      "write finished runs for spreadsheets, MLflow, W&B or TensorBoard",
      {"runtable export --to FORMAT [OPTIONS] [DIR…]"},
      {{"runtable export --to csv >runs.csv", "a row for each run in runs/"},
       {"runtable export --to mlflow -o mlruns --name digits", "an experiment of MLflow"},
       {"runtable export --to wandb-offline", "then: wandb sync wandb/offline-run-*"}}};
  std::string formats;
  for (const exports::ExportFormat& format : exports::export_formats()) {
    const std::string name = format.name;
    formats += (formats.empty() ? "  " : "\n  ") + name + std::string(20 - name.size(), ' ') +
               format.about;
  }
  command.details = {
      "DIR is a folder of runs, one run folder or a run.json [runs]. Runs that an "
      "earlier export has written stay as they are; those that went on since are named. Nothing is "
      "sent anywhere.",
      formats};
  command.operands = {{"dir", options::list("DIR", options::Completes::folder), -1}};
  command.groups = {
      {"Options",
       {{"to", options::choice(names_of_formats()), "format to write"},
        {"output,o", options::output("PATH"),
         "file for csv, else a folder; without it, csv goes to standard output, the others to "
         "mlruns, wandb and hparams"},
        {"name", options::text_or("NAME", "hpcboot"), "MLflow's experiment, W&B's project"}}}};
  command.exit_codes = {{"0", "the runs are written"},
                        {"1",
                         "there is no finished run, a run went on since it was written, or "
                         "standard output cannot be written"},
                        {"2", "the command line is wrong"},
                        {"27", "a DIR cannot be read"},
                        {"42", "the output cannot be written"}};
  command.more = "runs/README.md of the project";
  return command;
}

int export_runs(const std::vector<std::string>& arguments) {
  const options::Command command = export_command();
  auto parsed = options::parse(command, HPCBOOT_VERSION, arguments);
  if (!parsed) return 0;
  options::finish(command, parsed->values);
  const auto& values = parsed->values;
  if (values.count("to") == 0)
    throw options::UsageError("export needs --to; expected " + options::one_of(names_of_formats()));
  const exports::ExportFormat& format = format_of(values["to"].as<std::string>());
  if (format.name == std::string("csv") && !values["name"].defaulted())
    throw options::UsageError("--name is for MLflow and W&B");
  const fs::path output =
      values.count("output") != 0 ? fs::path(values["output"].as<std::string>()) : format.output;

  const auto exporter = format.make(output, values["name"].as<std::string>());
  std::int64_t added = 0;
  std::int64_t known = 0;
  std::vector<exports::Exported> outdated;
  std::vector<std::string> unreadable;
  record::SkippedRuns skipped =
      record::read_runs(places_of(values), record::Runs::finished,
                        [&](const fs::path& folder, const record::RunRecord& run) {
                          try {
                            exports::require_curves(folder);
                          } catch (const Error& problem) {
                            unreadable.push_back(problem.found());
                            return;
                          }
                          using When = exports::Exported::When;
                          const exports::Exported one = exporter->add(folder, run);
                          if (one.when == When::before_it_went_on) outdated.push_back(one);
                          ++(one.when == When::now ? added : known);
                        });
  skipped.lines.insert(skipped.lines.end(), unreadable.begin(), unreadable.end());
  for (const std::string& line : skipped.lines) err() << "runtable: skipped: " << line << "\n";
  if (added + known == 0) {
    err() << "runtable: export: there is no finished run\n";
    return 1;
  }
  out() << terminal_lines(exporter->finish());
  if (output.empty()) return 0;
  err() << "runtable: " << counted(added, "run") << " written to " << output.string();
  if (known > 0) err() << ", " << known << " already there";
  err() << "\n";
  for (const exports::Exported& one : outdated) {
    err() << "runtable: export: the run in '" << one.folder.string()
          << "' went on after it was written; remove that folder, and export the run again\n";
  }
  if (std::string next = format.next; !next.empty())
    err() << "next: " << next.replace(next.find("DIR"), 3, bash_quote(output.string())) << "\n";
  return outdated.empty() ? 0 : 1;
}

}  // namespace hpcboot::app

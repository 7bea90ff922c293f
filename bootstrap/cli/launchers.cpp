#include "hpcboot/launch_source.hpp"

#include <unistd.h>

#include <algorithm>

#include "core/nearest_name.hpp"
#include "hpcboot/launcher_files.hpp"
#include "hpcboot/scheduler.hpp"
#include "options.hpp"
#include "text/table.hpp"

namespace hpcboot::tool {
namespace {

constexpr VariableKind kKinds[] = {VariableKind::identity,  VariableKind::size,
                                   VariableKind::companion, VariableKind::setting,
                                   VariableKind::handle,    VariableKind::secret};

std::string shortened(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  const std::size_t space = text.rfind(' ', longest - 2);
  return std::string(text.substr(0, space == std::string_view::npos ? longest - 2 : space)) + " …";
}

std::string origin_of(std::string_view file) {
  constexpr std::size_t kLongest = 16;
  if (file.empty()) return "built in";
  const std::string name(file.substr(file.rfind('/') + 1));
  return name.size() <= kLongest ? name : name.substr(0, kLongest - 1) + "…";
}

bool is_launcher(std::string_view name) {
  const auto& all = launch_sources();
  return std::any_of(all.begin(), all.end(), [&](const auto* s) { return s->name == name; });
}

using Row = std::vector<std::string>;

std::vector<std::string> names_of_all() {
  std::vector<std::string> names;
  for (const LaunchSource* source : launch_sources()) names.emplace_back(source->name);
  for (const Scheduler* scheduler : schedulers()) {
    if (!is_launcher(scheduler->name)) names.emplace_back(scheduler->name);
  }
  return names;
}

std::vector<Row> rows_of_all() {
  std::vector<Row> rows = {{"name", "level", "set by", "from"}};
  for (const LaunchSource* source : launch_sources()) {
    rows.push_back({std::string(source->name), std::string(name_of(source->level)),
                    std::string(source->set_by), origin_of(source->file)});
  }
  for (const Scheduler* scheduler : schedulers()) {
    if (is_launcher(scheduler->name)) continue;
    rows.push_back({std::string(scheduler->name), "scheduler", "", origin_of(scheduler->file)});
  }
  return rows;
}

// The column "set by" gets what is left of 80 columns.
void print_table() {
  std::vector<Row> rows = rows_of_all();
  std::size_t left = 80;
  for (const std::size_t column : {0U, 1U, 3U}) {
    const auto longest = std::max_element(
        rows.begin(), rows.end(),
        [&](const Row& a, const Row& b) { return a[column].size() < b[column].size(); });
    left -= (*longest)[column].size() + 2;
  }
  TextTable table({Align::left, Align::left, Align::left, Align::left});
  for (Row& row : rows) {
    row[2] = shortened(row[2], left);
    table.add(row);
  }
  out() << table.text(look_of(STDOUT_FILENO));
}

std::string note_of(const LaunchVariable& variable) {
  if (variable.use == VariableUse::required) return "needed";
  return variable.use == VariableUse::used ? "used" : "";
}

void print_variables(const VariableList& variables) {
  TextTable table({Align::left, Align::left, Align::left});
  for (const VariableKind kind : kKinds) {
    for (const LaunchVariable& variable : variables) {
      if (variable.kind != kind) continue;
      table.add({std::string(name_of(kind)), std::string(variable.name), note_of(variable)});
    }
  }
  out() << "\nvariables:\n" << table.text(look_of(STDOUT_FILENO));
}

void print_fields(const std::vector<std::pair<const char*, std::string_view>>& fields) {
  TextTable table({Align::left, Align::left});
  for (const auto& [name, value] : fields) table.add({name + std::string(":"), std::string(value)});
  out() << table.text(look_of(STDOUT_FILENO));
}

void print_launcher(const LaunchSource& source) {
  print_fields({{"name", source.name},
                {"level", name_of(source.level)},
                {"why here", source.why_here},
                {"set by", source.set_by},
                {"documented", source.documented},
                {"cannot know", source.cannot_know},
                {"from", source.file.empty() ? "built in" : source.file}});
  print_variables(source.variables);
}

void print_scheduler(const Scheduler& scheduler) {
  print_fields({{"name", scheduler.name},
                {"level", "scheduler: it allocates, but places no processes"},
                {"starts by", scheduler.start_command},
                {"documented", scheduler.documented},
                {"from", scheduler.file.empty() ? "built in" : scheduler.file}});
  print_variables(scheduler.variables);
}

[[noreturn]] void fail_unknown(const std::string& name) {
  const std::string nearest = nearest_name(name, names_of_all());
  throw UsageError("unknown launcher '" + name + "'; " +
                   (nearest.empty() ? "" : "did you mean " + nearest + "? ") +
                   "`hpcboot launchers` lists all");
}

void print_one(const std::string& name) {
  const auto has_name = [&](const auto* entry) { return entry->name == name; };
  const auto& all = launch_sources();
  const auto launcher = std::find_if(all.begin(), all.end(), has_name);
  if (launcher != all.end()) return print_launcher(**launcher);
  const Scheduler* scheduler = find_scheduler(name);
  if (scheduler == nullptr) fail_unknown(name);
  print_scheduler(*scheduler);
}

// The user's other files are not read: one of them may be this one.
int check_file(const std::string& file) {
  const DescribedLauncher described = read_launcher_file(file);
  add_launchers({described});
  if (described.launcher) {
    out() << "ok: " << file << " describes the launcher " << described.launcher->name
          << " (level: " << name_of(described.launcher->level) << ")\n";
  }
  if (described.scheduler)
    out() << "ok: " << file << " describes the scheduler " << described.scheduler->name << "\n";
  return 0;
}

options::Command launchers_command() {
  options::Command command{
      "hpcboot",
      "launchers",
      "list the known launchers, or check a file that describes one",
      {"hpcboot launchers [NAME]", "hpcboot launchers --check FILE"},
      {{"hpcboot launchers", "all, innermost first"},
       {"hpcboot launchers slurm", "the variables of one, and its limits"},
       {"hpcboot launchers --check mine.toml", "before you install a description"}}};
  command.details = {
      "Descriptions of your own launchers are files NAME.toml in ~/.config/hpcboot/launchers and "
      "in the folders of HPCBOOT_LAUNCHER_PATH (separated by colons). Folders and files must "
      "belong to you or root, and nobody else may have write permission. bootstrap/README.md lists "
      "their keys.",
      "With NAME, each variable has a kind: identity (the number of this process), size (of the "
      "launch), companion (other properties of the launch or the job, such as hosts), setting "
      "(chosen by the user, kept for the next launch), handle (how the process reaches its "
      "launcher) or secret. hpcboot requires variables marked \"needed\", reads those marked "
      "\"used\" if they are set, and does not read the others."};
  command.groups = {{"Options",
                     {{"check", options::text("FILE", options::Completes::file),
                       "check this description of a launcher and report what is wrong"}}}};
  command.operands = {{"name", options::text("NAME").suggest(names_of_all()), 1}};
  command.exit_codes = {{"0", "ok"},
                        {"2", "the launcher is unknown, or the command line is wrong"},
                        {"27, 28", "a file cannot be read, or is not a description"}};
  return command;
}

int launchers(const Call& call) {
  if (call.values.count("check") != 0) {
    if (call.values.count("name") != 0)
      throw UsageError("launchers takes a NAME or --check, not both");
    return check_file(call.values["check"].as<std::string>());
  }
  add_launchers(read_user_launchers(Env::from_process()));
  if (call.values.count("name") != 0) {
    print_one(call.values["name"].as<std::string>());
  } else {
    print_table();
  }
  return 0;
}

}  // namespace

const Verb kLaunchers{launchers_command, launchers};

}  // namespace hpcboot::tool

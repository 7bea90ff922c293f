#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "core/contains.hpp"
#include "rules.hpp"

// Values that are rejected, and settings that override one another.
namespace hpcboot::lint {
namespace {

// Numbers separated by colons, at least `least` and at most `most`; the last may be a fraction.
bool is_clock(std::string_view text, int least, int most, bool fraction = false) {
  int fields = 1;
  bool digits = false;
  for (const char c : text) {
    if (c == ':') {
      if (!digits) return false;
      ++fields;
      digits = false;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      digits = true;
    } else if (!(fraction && c == '.' && digits)) {
      return false;
    }
  }
  return digits && fields >= least && fields <= most;
}

bool is_upper(std::string text, const char* word) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  return text == word;
}

// Formats that sbatch 22.05 accepted in tests: 30, 30:00, 1:30:00, 1-, 1-12, 1-12:30, 1-12:30:00.
bool is_slurm_time(const std::string& text) {
  if (text == "-1" || is_upper(text, "INFINITE") || is_upper(text, "UNLIMITED")) return true;
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos) return is_clock(text, 1, 3);
  const std::string_view clock = std::string_view(text).substr(dash + 1);
  return is_clock(text.substr(0, dash), 1, 1) && (clock.empty() || is_clock(clock, 1, 3));
}

// Placeholders and variables have rules of their own.
bool is_unresolved(const std::string& value) {
  return value.empty() || value.find_first_of("<{$@") != std::string::npos;
}

// A setting of a script: the name of the option or resource as the user writes it, and its value.
struct Setting {
  Scheduler scheduler;
  std::string name;
  std::string value;
  std::size_t at;
};

std::vector<Setting> settings_of(const Script& script) {
  // Options of which a scheduler keeps only one value.
  static constexpr std::array<std::string_view, 10> kPbs = {"A", "N", "P", "S", "e",
                                                            "j", "o", "p", "q", "r"};
  static constexpr std::array<std::string_view, 9> kSge = {"N", "P",  "S", "e", "j",
                                                           "o", "pe", "r", "t"};
  static constexpr std::array<std::string_view, 7> kLsf = {"J", "P", "W", "e", "n", "o", "q"};
  std::vector<Setting> settings;
  for (const Directive& directive : script.directives) {
    if (!directive.is_read) continue;
    for (const Option& option : directive.options) {
      // sbatch combines --mail-type options; for all others the last one wins (tested with 22.05).
      const bool single = (directive.scheduler == Scheduler::slurm && option.name != "mail-type") ||
                          (directive.scheduler == Scheduler::pbs && contains(kPbs, option.name)) ||
                          (directive.scheduler == Scheduler::sge && contains(kSge, option.name)) ||
                          (directive.scheduler == Scheduler::lsf && contains(kLsf, option.name));
      if (!single) continue;
      const bool is_long = directive.scheduler == Scheduler::slurm && option.name.size() > 1;
      settings.push_back(
          {directive.scheduler, (is_long ? "--" : "-") + option.name, option.value, option.at});
    }
  }
  for (const PbsResource& resource : pbs_resources(script)) {
    if (!resource.name.empty())
      settings.push_back({Scheduler::pbs, "-l " + resource.name, resource.value, resource.at});
  }
  return settings;
}

}  // namespace

void check_times(const Subject& subject, Report& report) {
  const Script& script = subject.script;
  const auto add = [&](std::size_t at, const std::string& value, const std::string& forms) {
    report.add(at, "\"" + value.substr(0, 60) + "\" is not a valid time",
               "the scheduler rejects the job", "write " + forms);
  };
  for (const Directive& directive : script.directives) {
    if (!directive.is_read) continue;
    for (const Option& option : directive.options) {
      const std::string& value = option.value;
      if (is_unresolved(value) || value[0] == '=') continue;
      if (directive.scheduler == Scheduler::slurm &&
          (option.name == "time" || option.name == "time-min") && !is_slurm_time(value)) {
        add(option.value_at, value, "minutes, hours:minutes:seconds or days-hours:minutes:seconds");
      }
      if (directive.scheduler == Scheduler::lsf && option.name == "W" &&
          !is_clock(value.substr(0, value.find('/')), 1, 2)) {
        add(option.value_at, value, "minutes or hours:minutes");
      }
      if (directive.scheduler == Scheduler::sge && option.name == "l") {
        for (const char* name : {"h_rt=", "s_rt="}) {
          const std::size_t found = value.find(name);
          if (found == std::string::npos) continue;
          const std::string time =
              value.substr(found + 5, value.find_first_of(", ", found) - found - 5);
          if (!is_unresolved(time) && !is_upper(time, "INFINITY") && !is_clock(time, 1, 3))
            add(option.value_at + found, time, "hours:minutes:seconds or seconds");
        }
      }
    }
  }
  for (const PbsResource& resource : pbs_resources(script)) {
    // Torque also accepts days: 1:00:00:00.
    if (resource.name == "walltime" && !is_unresolved(resource.value) &&
        !is_clock(resource.value, 1, 4, true)) {
      add(resource.at, resource.value, "hours:minutes:seconds or seconds");
    }
  }
}

void check_overridden(const Subject& subject, Report& report) {
  // Each component of a heterogeneous job has its own options.
  if (subject.job.several_parts) return;
  std::map<std::pair<Scheduler, std::string>, Setting> before;
  for (const Setting& setting : settings_of(subject.script)) {
    const auto key = std::make_pair(setting.scheduler, setting.name);
    const auto found = before.find(key);
    if (found != before.end() && found->second.value != setting.value) {
      report.add(setting.at,
                 setting.name + " is set to \"" + found->second.value.substr(0, 40) +
                     "\" on line " + std::to_string(subject.script.line_of(found->second.at)) +
                     " and to \"" + setting.value.substr(0, 40) + "\" here",
                 "one of the two is silently dropped", "keep the one you mean");
    }
    before.insert_or_assign(key, setting);
  }
}

void check_select(const Subject& subject, Report& report) {
  const auto resources = pbs_resources(subject.script);
  const bool has_select =
      std::any_of(resources.begin(), resources.end(),
                  [](const PbsResource& resource) { return resource.name == "select"; });
  if (!has_select) return;
  // Host-level resources (flag h), see pbs_resources(7).
  static constexpr std::array<std::string_view, 11> kOfChunks = {
      "arch",  "host",       "mem", "mpiprocs", "ncpus", "ngpus",
      "nodes", "ompthreads", "ppn", "vmem",     "vnode"};
  for (const PbsResource& resource : resources) {
    if (!contains(kOfChunks, resource.name)) continue;
    report.add(resource.at, "-l " + resource.name + " together with -l select",
               "qsub rejects a job that requests both chunks and job-wide " + resource.name,
               resource.name == "nodes"
                   ? "remove it; the number before the first : of select is the "
                     "number of chunks"
                   : "move it into the chunk: select=1:" + resource.name + "=" +
                         resource.value.substr(0, 20));
  }
}

}  // namespace hpcboot::lint

#include "hpcboot/doctor.hpp"

#include <unistd.h>

#include <algorithm>

#include "json/bounded_json.hpp"
#include "options.hpp"
#include "text/table.hpp"

namespace hpcboot::tool {
namespace {

void print_json(const std::vector<Finding>& findings) {
  auto list = Json::array();
  for (const Finding& f : findings) {
    list.push_back({{"name", f.name},
                    {"status", name_of(f.status)},
                    {"message", f.message},
                    {"remedy", f.remedy.empty() ? Json(nullptr) : Json(f.remedy)}});
  }
  out() << json_text(list, 2) << "\n";
}

Style style_of(FindingStatus status) {
  switch (status) {
    case FindingStatus::ok:
      return Style::green;
    case FindingStatus::note:
      return Style::blue;
    case FindingStatus::warning:
      return Style::yellow;
    case FindingStatus::problem:
      return Style::red;
  }
  return Style::plain;
}

void print_text(const std::vector<Finding>& findings) {
  TextTable table({Align::left, Align::left, Align::left});
  for (const Finding& f : findings) {
    table.add({std::string(name_of(f.status)), f.name, f.message}, {style_of(f.status)});
    if (!f.remedy.empty()) table.add({"", "", "do: " + f.remedy});
  }
  out() << table.text(look_of(STDOUT_FILENO));
  const auto number = [&](FindingStatus status) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const Finding& f) { return f.status == status; });
  };
  out() << encoded_format("\nproblems: {}, warnings: {}, notes: {}, ok: {}\n",
                          number(FindingStatus::problem), number(FindingStatus::warning),
                          number(FindingStatus::note), number(FindingStatus::ok));
}

options::Command doctor_command() {
  options::Command command{
      "hpcboot",
      "doctor",
      "find what keeps programs from starting, with remedies",
      {"[srun|mpirun …] hpcboot doctor [OPTIONS]"},
      {{"hpcboot doctor", "on a login node or a laptop"},
       {"srun hpcboot doctor", "in a job: every process examines itself"},
       {"hpcboot doctor --env-file job.env", "an environment recorded elsewhere"}}};
  command.details = {
      "Examines the launcher with its MPI, PMIx or torchrun, the key-value store, network "
      "interfaces, host name, master and its port, threads, devices, folders, clock and limits, "
      "and reports known problems of this launcher. Each finding is marked ok, note, warning or "
      "problem, "
      "with a remedy if there is one. With --env-file only that environment is examined."};
  command.groups = {{"Options",
                     {{"json", options::flag(),
                       "print a JSON array of objects: name, status, message, remedy (null: none)"},
                      {"runs-dir", options::text_or("DIR", "runs", options::Completes::folder),
                       "folder that runs are written to"}}},
                    environment_options()};
  command.exit_codes = {
      {"0", "no problem"}, {"1", "a problem was found"}, {"2", "the command line is wrong"}};
  command.more = "hpcboot check tries the launch of all ranks";
  return command;
}

int doctor(const Call& call) {
  Situation situation = situation_as_asked(call.values);
  if (call.values.count("env-file") == 0) {
    situation.system = look_up_system(situation, call.values["runs-dir"].as<std::string>());
    situation.system.libtorch = HPCBOOT_LIBTORCH_VERSION;
  }
  const std::vector<Finding> findings = diagnose(situation);
  if (call.values.count("json") != 0) {
    print_json(findings);
  } else {
    print_text(findings);
  }
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.status == FindingStatus::problem; })
             ? 1
             : 0;
}

}  // namespace

const Verb kDoctor{doctor_command, doctor, true};

}  // namespace hpcboot::tool

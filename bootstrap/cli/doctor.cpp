#include "hpcboot/doctor.hpp"

#include <algorithm>

#include "json/bounded_json.hpp"
#include "options.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;

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

void print_text(const std::vector<Finding>& findings) {
  std::size_t width = 0;
  for (const Finding& f : findings) width = std::max(width, f.name.size());
  for (const Finding& f : findings) {
    out() << encoded_format("{:<8} {:<{}}  {}\n", name_of(f.status), f.name, width, f.message);
    if (!f.remedy.empty()) {
      out() << encoded_format("{:<8} {:<{}}  do: {}\n", "", "", width, f.remedy);
    }
  }
  const auto number = [&](FindingStatus status) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const Finding& f) { return f.status == status; });
  };
  out() << encoded_format("\nproblems: {}, warnings: {}, notes: {}, ok: {}\n",
                          number(FindingStatus::problem), number(FindingStatus::warning),
                          number(FindingStatus::note), number(FindingStatus::ok));
}

int doctor(const Arguments& arguments) {
  po::options_description options("Options");
  options.add_options()("json", "a list of objects: name, status, message, remedy (null: none)")(
      "runs-dir", po::value<std::string>()->value_name("DIR")->default_value("runs"),
      "the folder that runs are to be written to");
  options.add(environment_options());
  const auto values = parse(
      arguments,
      "Usage: [srun|mpirun …] hpcboot doctor [--json] [--runs-dir DIR] [--env-file F]\n\n"
      "Looks for what keeps distributed programs from starting: the launcher and its MPI, PMIx or\n"
      "torchrun, the exchange, interfaces, host name, master and its port, threads, devices, "
      "folders,\n"
      "clock, limits. What this launcher is known to break is named.\n"
      "Each finding is ok, note, warning or problem, with what to do. Exit code 1 where there is "
      "a\n"
      "problem. Under a launcher every process looks at itself. With --env-file only what that\n"
      "environment says is looked at, nothing of this machine.\n",
      options);
  if (!values) return 0;
  Situation situation = situation_as_asked(*values);
  if (values->count("env-file") == 0) {
    situation.system = look_up_system(situation, (*values)["runs-dir"].as<std::string>());
    situation.system.libtorch = HPCBOOT_LIBTORCH_VERSION;
  }
  const std::vector<Finding> findings = diagnose(situation);
  if (values->count("json") != 0) {
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

const Verb kDoctor{"doctor", "look for what keeps programs from starting, with remedies", doctor,
                   true};

}  // namespace hpcboot::tool

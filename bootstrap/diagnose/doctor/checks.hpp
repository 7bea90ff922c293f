#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hpcboot/doctor.hpp"

// The checks of `hpcboot doctor`: each adds its findings, or nothing if the facts for it are
// unknown.
namespace hpcboot::doctor {

class Findings {
 public:
  void ok(std::string name, std::string message) {
    add(std::move(name), FindingStatus::ok, std::move(message), "");
  }
  void note(std::string name, std::string message, std::string remedy = "") {
    add(std::move(name), FindingStatus::note, std::move(message), std::move(remedy));
  }
  void warning(std::string name, std::string message, std::string remedy) {
    add(std::move(name), FindingStatus::warning, std::move(message), std::move(remedy));
  }
  void problem(std::string name, std::string message, std::string remedy) {
    add(std::move(name), FindingStatus::problem, std::move(message), std::move(remedy));
  }

  std::vector<Finding> take() { return std::move(all_); }

 private:
  void add(std::string name, FindingStatus status, std::string message, std::string remedy) {
    all_.push_back({std::move(name), status, std::move(message), std::move(remedy)});
  }

  std::vector<Finding> all_;
};

// launcher.cpp
void check_launcher(const Situation& s, Findings& findings);
void check_other_sources(const Situation& s, Findings& findings);
void check_tasks(const Situation& s, Findings& findings);
// mpi.cpp
void check_mpi(const Situation& s, Findings& findings);
// root.cpp
void check_root(const Situation& s, Findings& findings);
// key_value_store.cpp
void check_kvs(const Situation& s, Findings& findings);
// pmix.cpp
void check_pmix(const Situation& s, Findings& findings);
// torchrun.cpp
void check_torchrun(const Situation& s, Findings& findings);
// network.cpp
void check_interface(const Situation& s, Findings& findings);
void check_interface_variables(const Situation& s, Findings& findings);
void check_own_name(const Situation& s, Findings& findings);
void check_master(const Situation& s, Findings& findings);
void check_master_port(const Situation& s, Findings& findings);
// resources.cpp
void check_threads(const Situation& s, Findings& findings);
void check_devices(const Situation& s, Findings& findings);
void check_limits(const Situation& s, Findings& findings);
void check_libtorch(const Situation& s, Findings& findings);
// storage.cpp
void check_work_folder(const Situation& s, Findings& findings);
void check_runs_folder(const Situation& s, Findings& findings);
void check_clock(const Situation& s, Findings& findings);

// Whether the launch, or else the allocation, spans more than one host.
bool spans_hosts(const Situation& s);

}  // namespace hpcboot::doctor

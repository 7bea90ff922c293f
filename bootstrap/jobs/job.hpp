#pragma once

#include <string>
#include <vector>

#include "site_profile.hpp"

namespace hpcboot::jobscripts {

/// What a script does.
struct Job {
  std::string name;
  std::string summary;    ///< one line, for --list and the head of the script
  bool one_rank = false;  ///< a single process, on one device
  bool one_node = false;
  bool all_devices = false;  ///< also of one rank
};

/// The jobs that a site can run, in the order of the documentation: those for which it has a
/// scheduler and a launcher.
std::vector<Job> jobs_of(const SiteProfile& site);

/// The names of the jobs of all sites.
std::vector<std::string> job_names();

/// @throws Error{malformed_value} naming the site's jobs where `name` is not among them
Job job_of(const SiteProfile& site, const std::string& name);

}  // namespace hpcboot::jobscripts

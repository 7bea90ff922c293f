#pragma once

#include <string>
#include <vector>

#include "site_profile.hpp"

namespace hpcboot::jobscripts {

/// A kind of job script.
struct Job {
  std::string name;
  std::string summary;    ///< one line, for --list and the script header
  bool one_rank = false;  ///< a single process, on one device
  bool one_node = false;
  bool all_devices = false;  ///< uses all devices of the node, even with one rank
};

/// The jobs that the site's scheduler and launcher can run, in the order of the documentation.
std::vector<Job> jobs_of(const SiteProfile& site);

/// The names of the jobs of all sites.
std::vector<std::string> job_names();

/// @throws Error{malformed_value} listing the site's jobs if `name` is not one of them
Job job_of(const SiteProfile& site, const std::string& name);

}  // namespace hpcboot::jobscripts

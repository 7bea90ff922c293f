#pragma once

#include <optional>
#include <string>
#include <vector>

#include "site_profile.hpp"
#include "template_renderer.hpp"

namespace hpcboot::jobscripts {

/// The options of one script. Unset options come from the site profile.
struct ScriptRequest {
  std::string job;
  std::optional<int> nodes;           ///< default: 2 for a multi-node job, else 1
  std::optional<int> gpus_per_node;   ///< default: all; 0: none
  std::optional<int> ranks_per_node;  ///< default: one per GPU, 2 without GPUs
  std::optional<std::string> time;    ///< HH:MM:SS
  std::string account;                ///< empty: a comment tells the user how to set it
  std::string mail;
  std::string launcher;  ///< empty: the site's
  std::string program;   ///< started instead of the trainer; empty: the trainer
  std::string task;      ///< of the trainer; empty: its default
  /// A complete command line, started instead of `program`; empty: none.
  std::vector<std::string> command{};
  std::string run_options{};  ///< more options of `hpcboot run`, as bash words
  std::vector<std::pair<std::string, std::string>> variables{};  ///< of `hpcboot run`: name, value
  std::string name{};                                            ///< job name; empty: hpcboot_JOB
  std::string programs;   ///< folder of an installed hpcboot; empty: build/bin
  std::string script;     ///< the file name of the script, as its user writes it
  std::string arguments;  ///< of hpcboot, to render this script again
};

/// Options that have no effect on the script, or less than expected; one sentence each.
/// @throws Error{malformed_value} for an unknown job or an invalid walltime
std::vector<std::string> notes_on(const SiteProfile& site, const ScriptRequest& request);

/// The script; for Kubernetes, the manifest.
/// @throws Error{malformed_value} if the request does not fit the job or the site
std::string render_job_script(const TemplateRenderer& templates, const SiteProfile& site,
                              const ScriptRequest& request);

}  // namespace hpcboot::jobscripts

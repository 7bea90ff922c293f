#pragma once

#include <optional>
#include <string>
#include <vector>

#include "site_profile.hpp"
#include "template_renderer.hpp"

namespace hpcboot::jobscripts {

/// What is asked of one script. What is left open, the site's profile says.
struct ScriptRequest {
  std::string job;
  std::optional<int> nodes;           ///< by default 2 for a job of several nodes
  std::optional<int> gpus_per_node;   ///< by default all; 0: none
  std::optional<int> ranks_per_node;  ///< by default one for each GPU, 2 without GPUs
  std::optional<std::string> time;    ///< HH:MM:SS
  std::string account;                ///< empty: left to the user, by a comment
  std::string mail;
  std::string launcher;  ///< empty: the site's
  std::string program;   ///< what is started in place of the trainer; empty: the trainer
  /// A program and its arguments, all that is started, in place of `program`; empty: none.
  std::vector<std::string> command{};
  std::string run_options{};  ///< more options of `hpcboot run`, in bash's words
  std::string name{};         ///< of the job; empty: hpcboot_JOB
  std::string programs;       ///< the folder of an installed hpcboot; empty: build/bin
  std::string script;         ///< the file that the script is, as its user would name it
  std::string arguments;      ///< of hpcboot, which give this script
};

/// What is asked for, and no line of the script comes of, or less than one would think; a sentence
/// each.
/// @throws Error{malformed_value} for an unknown job or a walltime that is none
std::vector<std::string> notes_on(const SiteProfile& site, const ScriptRequest& request);

/// The script, or for Kubernetes the manifest.
/// @throws Error{malformed_value} where the request fits neither the job nor the site
std::string render_job_script(const TemplateRenderer& templates, const SiteProfile& site,
                              const ScriptRequest& request);

}  // namespace hpcboot::jobscripts

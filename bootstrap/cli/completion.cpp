#include "options/completion.hpp"

#include "options.hpp"

namespace hpcboot::tool {
namespace {

options::Command completion_command() {
  options::Command command{
      "hpcboot",
      "completion",
      "print the completion script for a shell",
      {"hpcboot completion bash|zsh|fish"},
      {{"source <(hpcboot completion bash)", "bash, this session only"},
       {"mkdir -p ~/.zfunc && hpcboot completion zsh >~/.zfunc/_hpcboot", "with ~/.zfunc in fpath"},
       {"hpcboot completion fish | source", "fish, this session only"}}};
  command.details = {
      "The shell then completes verbs, options and their values: sites, jobs, launchers, formats. "
      "Installing hpcboot puts these scripts where the shells look for them."};
  command.groups = {{"Options",
                     {{"list", options::choice({"sites", "jobs"}),
                       "print the values that the scripts offer, one per line"}}}};
  command.operands = {{"shell", options::choice(options::shells()), 1}};
  command.exit_codes = {{"0", "ok"}, {"2", "the command line is wrong"}};
  return command;
}

int completion(const Call& call) {
  if (call.values.count("list") != 0) {
    const bool are_sites = call.values["list"].as<std::string>() == "sites";
    for (const std::string& word : are_sites ? known_sites() : remembered_jobs())
      out() << word << "\n";
    return 0;
  }
  if (call.values.count("shell") == 0)
    throw UsageError("completion needs a shell; expected " + options::one_of(options::shells()));
  out() << options::shell_completion(program(), call.values["shell"].as<std::string>());
  return 0;
}

}  // namespace

const Verb kCompletion{completion_command, completion};

}  // namespace hpcboot::tool

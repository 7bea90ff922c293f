#include "options.hpp"

#include <algorithm>
#include <cctype>

#include "core/schedulers/read_file.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::tool {
namespace {

std::string read_env_file(const std::string& path) {
  FileText file = read_whole(path, FileKind::any);
  if (file.text) return *std::move(file.text);
  throw Error(ErrorCode::unreadable_file,
              "the environment file " + path + " cannot be read: " + file.reason,
              "the output of `printenv` or `env -0`", "correct the path given as --env-file");
}

}  // namespace

options::Group environment_options() {
  using options::Completes;
  using options::text;
  return {"Another environment",
          {{"env-file", text("F", Completes::file),
            "resolve this dump of `printenv` or `env -0`; nothing is taken from this machine"},
           {"nodefile", text("F", Completes::file),
            "read the hosts from this file instead of the one that the environment names: in the "
            "scheduler's format (PBS_NODEFILE, PE_HOSTFILE …), or outside a job a hostfile of Open "
            "MPI or MPICH"},
           {"hostname", text("H"), "host on which the environment was recorded"}}};
}

Env env_as_asked(const po::variables_map& options) {
  if (options.count("env-file") == 0) return Env::from_process();
  const auto path = options["env-file"].as<std::string>();
  const std::string text = read_env_file(path);
  Env env = Env::parse(text, path);
  const bool is_blank = std::all_of(
      text.begin(), text.end(), [](unsigned char c) { return c == '\0' || std::isspace(c) != 0; });
  if (env.variables().empty() && !is_blank) {
    // Its contents are not shown: they may be secret.
    throw Error(ErrorCode::malformed_file,
                "the environment file " + path + " contains no NAME=VALUE",
                "the output of `printenv` or `env -0`, not of `export -p` or `set`",
                "record the environment again, with one of these");
  }
  return env;
}

namespace {

struct Asked {
  Env env;
  Facts facts;
  ResolveOptions how;
};

// With --env-file nothing is taken from this machine.
Asked what_is_asked(Env env, const po::variables_map& options) {
  const bool foreign = options.count("env-file") != 0;
  Asked asked;
  asked.env = std::move(env);
  if (!foreign) asked.facts = Facts::of_this_process(asked.env);
  if (options.count("hostname") != 0) asked.facts.hostname = options["hostname"].as<std::string>();
  asked.how.allocation.read_files = !foreign;
  if (options.count("nodefile") != 0)
    asked.how.allocation.nodefile = options["nodefile"].as<std::string>();
  return asked;
}

}  // namespace

Resolution resolve_as_asked(const Env& env, const po::variables_map& options) {
  const Asked asked = what_is_asked(env, options);
  return resolve(asked.env, asked.facts, asked.how);
}

Situation situation_as_asked(const po::variables_map& options) {
  const Asked asked = what_is_asked(env_as_asked(options), options);
  return situation_of(asked.env, asked.facts, asked.how);
}

}  // namespace hpcboot::tool

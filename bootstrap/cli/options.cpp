#include "options.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "core/schedulers/read_file.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/version.hpp"

namespace hpcboot::tool {
namespace {

namespace po = boost::program_options;

std::string read_env_file(const std::string& path) {
  FileText file = read_whole(path, FileKind::any);
  if (file.text) return *std::move(file.text);
  throw Error(ErrorCode::unreadable_file,
              "the environment file " + path + " cannot be read: " + file.reason,
              "the output of `printenv` or `env -0`", "correct the path given as --env-file");
}

}  // namespace

std::optional<po::variables_map> parse(const Arguments& arguments, const std::string& synopsis,
                                       po::options_description options,
                                       const po::options_description& hidden,
                                       const po::positional_options_description& positional) {
  options.add_options()("help,h", "print this and exit")("version", "print the version and exit");
  po::options_description all;
  all.add(options).add(hidden);
  po::variables_map values;
  try {
    // Without allow_guessing an abbreviation would change its meaning with the next option added.
    const int style =
        po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::store(
        po::command_line_parser(arguments).options(all).positional(positional).style(style).run(),
        values);
    if (values.count("help") != 0) {
      std::ostringstream help;
      help << synopsis << "\n" << options;
      out() << Encoded::as_is(help.str());
      return std::nullopt;
    }
    if (values.count("version") != 0) {
      out() << "hpcboot " << version() << "\n";
      return std::nullopt;
    }
    po::notify(values);
  } catch (const po::error& error) {
    throw UsageError(std::string(error.what()) + "; --help lists the options");
  }
  return values;
}

po::options_description environment_options() {
  po::options_description options("Another environment");
  options.add_options()(
      "env-file", po::value<std::string>()->value_name("F"),
      "resolve this dump of `printenv` or `env -0`; nothing is taken from this machine")(
      "nodefile", po::value<std::string>()->value_name("F"),
      "read hosts from this file, not from the one that the environment names: of the scheduler's "
      "form (PBS_NODEFILE, PE_HOSTFILE …), outside a job a hostfile of Open MPI or MPICH")(
      "hostname", po::value<std::string>()->value_name("H"),
      "the host that the environment was taken on");
  return options;
}

Env env_as_asked(const po::variables_map& options) {
  if (options.count("env-file") == 0) return Env::from_process();
  const auto path = options["env-file"].as<std::string>();
  const std::string text = read_env_file(path);
  Env env = Env::parse(text, path);
  const bool is_blank = std::all_of(
      text.begin(), text.end(), [](unsigned char c) { return c == '\0' || std::isspace(c) != 0; });
  if (env.variables().empty() && !is_blank) {
    // What it holds instead is not shown: it may be a secret.
    throw Error(ErrorCode::malformed_file,
                "nothing in the environment file " + path + " is of the form NAME=VALUE",
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

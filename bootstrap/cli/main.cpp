#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <new>

#include "hpcboot/error.hpp"
#include "hpcboot/launcher_files.hpp"
#include "hpcboot/version.hpp"
#include "text/format.hpp"
#include "verbs.hpp"

namespace {

using namespace hpcboot::tool;

constexpr const Verb* kVerbs[] = {
    &kShow,   &kEnv,      &kExec,   &kRun,        &kCheck,  &kHosts,    &kCapture,
    &kReplay, &kSanitize, &kDoctor, &kLaunchers,  &kLint,   &kScript,   &kSite,
    &kJobs,   &kLogs,     &kCancel, &kCompletion, &kManual, &kRunAgent, &kRunRank};

// A file that stops every other verb is no reason to be told nothing.
bool asks_for_help(const Arguments& arguments) {
  return !arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h");
}

int run(int argc, char** argv) {
  if (argc < 2) {
    print_help(hpcboot::err());
    return 2;
  }
  const std::string name = argv[1];
  if (name == "--help" || name == "-h" || name == "help") {
    print_help(hpcboot::out());
    return 0;
  }
  if (name == "--version") {
    hpcboot::out() << "hpcboot " << hpcboot::version() << "\n";
    return 0;
  }
  const Arguments arguments(argv + 2, argv + argc);
  for (const Verb* verb : kVerbs) {
    if (name != verb->name) continue;
    if (verb->asks_launchers && !asks_for_help(arguments))
      hpcboot::add_launchers(hpcboot::read_user_launchers(hpcboot::Env::from_process()));
    return verb->run(arguments);
  }
  throw UsageError("there is no verb '" + name + "'; `hpcboot --help` lists them");
}

}  // namespace

namespace hpcboot::tool {

std::vector<const Verb*> verbs() {
  std::vector<const Verb*> shown;
  std::copy_if(std::begin(kVerbs), std::end(kVerbs), std::back_inserter(shown),
               [](const Verb* verb) { return !verb->is_internal; });
  return shown;
}

void print_help(Terminal& out) {
  out << "hpcboot: who am I, how many are we, where is rank 0, which device is mine?\n\n"
         "Usage: hpcboot VERB [OPTIONS]\n\nVerbs:\n";
  for (const Verb* verb : verbs()) {
    out << encoded_format("  {:<12}{}\n", verb->name, verb->summary);
  }
  out << "\n  hpcboot VERB --help tells more of each.\n\n"
         "Examples:\n"
         "  mpirun -np 2 hpcboot show --json        what each rank would be told\n"
         "  hpcboot show --explain                  and why: every launcher tried\n"
         "  eval \"$(hpcboot env)\"                   the variables that torch.distributed reads\n"
         "  hpcboot hosts expand 'n[01-03],gpu7'    a Slurm host list, one name a line\n"
         "  printenv > job.env                      on the cluster, then anywhere else:\n"
         "  hpcboot show --env-file job.env         the same answer\n"
         "  mpirun -np 2 hpcboot capture job        all ranks, without secrets; then anywhere:\n"
         "  hpcboot replay job                      who each rank is, and who disagrees\n"
         "  hpcboot doctor                          what is wrong here, and what to do\n"
         "  hpcboot launchers                       which launchers are known, and what each sets\n"
         "  hpcboot lint job.sh                     what is wrong with a job script\n"
         "  $(hpcboot sanitize) mpirun -np 2 CMD    a launch within another one\n"
         "  hpcboot script --site cc --job ddp      a job script, ready to submit\n"
         "  hpcboot run --submit -- python train.py a job, submitted; then:\n"
         "  hpcboot jobs; hpcboot logs -f           where it is, and what it writes\n\n"
         "Exit codes: 0 ok, 1 failed check, 2 usage, 20 and up by kind of error (see README).\n";
}

}  // namespace hpcboot::tool

int main(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    // A full disk or a closed pipe shows only when the buffer is written out.
    if (!hpcboot::out().is_good()) {
      hpcboot::err() << "hpcboot: standard output cannot be written\n";
      return 1;
    }
    return code;
  } catch (const hpcboot::Error& error) {
    hpcboot::print_error("hpcboot", error);
    return error.exit_code();
  } catch (const UsageError& error) {
    hpcboot::err() << "hpcboot: " << error.what() << "\n";
    return 2;
  } catch (const std::bad_alloc&) {
    hpcboot::err() << "hpcboot: out of memory\n";
    return 1;
  } catch (const std::exception& error) {
    hpcboot::err() << "hpcboot: " << error.what() << "\n";
    return 1;
  }
}

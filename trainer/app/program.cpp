#include "app/options.hpp"
#include "app/train_command.hpp"
#include "options/completion.hpp"
#include "options/man_page.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {
namespace {

options::Command completion_command() {
  options::Command command{"trainer",
                           "completion",
                           "print the completion script for a shell",
                           {"trainer completion bash|zsh|fish"},
                           {{"source <(trainer completion bash)", "bash, this session only"},
                            {"trainer completion fish | source", "fish, this session only"}}};
  command.operands = {{"shell", options::choice(options::shells()), 1}};
  command.exit_codes = {{"0", "ok"}, {"2", "the command line is wrong"}};
  return command;
}

int completion(const Arguments& arguments) {
  const auto parsed = parse(completion_command(), arguments);
  if (!parsed) return 0;
  if (parsed->values.count("shell") == 0)
    throw UsageError("completion needs a shell; expected " + options::one_of(options::shells()));
  out() << options::shell_completion(program(), parsed->values["shell"].as<std::string>());
  return 0;
}

options::Command manual_command() {
  options::Command command{
      "trainer",
      "manual",
      "print the manual page of this program",
      {"trainer manual | man -l -"},
      {{"trainer manual | man -l -", "read it"}, {"trainer manual >trainer.1", "keep it"}}};
  command.exit_codes = {{"0", "ok"}};
  return command;
}

int manual(const Arguments& arguments) {
  if (parse(manual_command(), arguments)) out() << options::man_page(program());
  return 0;
}

}  // namespace

const Verb kCompletion{completion_command, completion};
const Verb kManual{manual_command, manual};

const std::vector<const Verb*>& verbs() {
  static const std::vector<const Verb*> all = {&kDigits, &kPictures, &kConvert,    &kInspect,
                                               &kBench,  &kEstimate, &kCompletion, &kManual};
  return all;
}

options::Program program() {
  options::Program all{train_command(), HPCBOOT_VERSION, {}, {}, {}};
  for (const Verb* verb : verbs()) all.verbs.push_back(verb->command());
  all.environment = {
      {"HPCBOOT_…", "placement, endpoint and interface: see hpcboot(1)"},
      {"OMP_NUM_THREADS",
       "threads of each rank, if --threads is 0 [its share of the cores, or of a "
       "CPU quota]"},
      {"OMP_WAIT_POLICY, GOMP_SPINCOUNT, KMP_BLOCKTIME",
       "how OpenMP threads wait for work [they spin briefly]"},
      {"OPENBLAS_CORETYPE",
       "processor whose instructions OpenBLAS uses [SkylakeX or Haswell, if this "
       "one has their vector instructions]"},
      {"NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME", "interface of the backend [the chosen one]"},
      {"NO_COLOR", "if set, no colours on terminals"}};
  all.files = {{"runs/", "a folder for each run: run.json, logs, metrics.csv, checkpoints, model"},
               {"data/mnist/", "the default data set, in MNIST's format"}};
  return all;
}

}  // namespace hpcboot::app

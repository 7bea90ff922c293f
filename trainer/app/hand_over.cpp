#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "app/bench_command.hpp"
#include "app/convert_command.hpp"
#include "app/inspect_command.hpp"
#include "app/options.hpp"
#include "app/train_command.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/error.hpp"
#include "loop/blas_kernels.hpp"
#include "loop/spinning.hpp"
#include "loop/stop_request.hpp"
#include "process/become.hpp"

namespace hpcboot::app {
namespace {

namespace fs = std::filesystem;

/// Beside the folder of this program, in the build as in an installation.
fs::path libtorch_part() {
  std::error_code none;
  const fs::path self = fs::read_symlink("/proc/self/exe", none);
  return self.parent_path().parent_path() / "libexec" / "hpcboot" / "trainer";
}

/// Starts the part with LibTorch in place of this program.
[[noreturn]] void hand_over(const std::string& verb, const Arguments& arguments) {
  const Env env = Env::from_process();
  std::map<std::string, std::string> variables(env.variables().begin(), env.variables().end());
  for (const auto& [name, value] : train::spinning_limits(env)) variables[name] = value;
  for (const auto& [name, value] : train::blas_kernels(env, train::vector_instructions())) {
    variables[name] = value;
  }
  const std::string program = libtorch_part().string();
  std::vector<std::string> words{"trainer"};
  if (!verb.empty()) words.push_back(verb);
  words.insert(words.end(), arguments.begin(), arguments.end());
  const int reason = become(variables, words, program.c_str());
  throw Error(ErrorCode::backend_unavailable,
              "'" + program + "', the part of the trainer with LibTorch: " + std::strerror(reason),
              "that file beside the folder of this program",
              "build or install hpcboot again, or copy the folder libexec with bin");
}

int convert(const Arguments& arguments) {
  if (parse_convert(arguments)) hand_over("convert", arguments);
  return 0;
}

int inspect(const Arguments& arguments) {
  if (parse_inspect(arguments)) hand_over("inspect", arguments);
  return 0;
}

int bench(const Arguments& arguments) {
  if (parse_bench(arguments)) hand_over("bench", arguments);
  return 0;
}

}  // namespace

int hand_over_training(const Arguments& arguments) {
  if (!parse_training(arguments, ConfigFile::later)) return flushed(0);
  train::block_stop_signals();
  hand_over("", arguments);
}

const Verb kConvert{convert_command, convert};
const Verb kInspect{inspect_command, inspect};
const Verb kBench{bench_command, bench};

}  // namespace hpcboot::app

#include <csignal>

#include "app/libtorch_verbs.hpp"
#include "app/train_command.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/launcher_files.hpp"
#include "loop/run_training.hpp"
#include "loop/stop_request.hpp"

namespace hpcboot::app {

int train(const Arguments& arguments) {
  train::catch_stop_signals();
  // The reader of the output may leave before the run ends, as `head` does, and `tee` at Ctrl-C.
  std::signal(SIGPIPE, SIG_IGN);
  const auto options = parse_training(arguments, ConfigFile::now);
  if (!options) return flushed(0);
  const Env env = Env::from_process();
  add_launchers(read_user_launchers(env));
  return train::run_training(*options, env);
}

}  // namespace hpcboot::app

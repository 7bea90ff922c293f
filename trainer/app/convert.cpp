#include "datasets/convert.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>

#include "app/convert_command.hpp"
#include "app/convert_model.hpp"
#include "app/libtorch_verbs.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "hpcboot/launcher_files.hpp"
#include "hpcboot/resolve.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "hpcboot/torch/process_group.hpp"
#include "text/display_width.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {

namespace {

void show_progress(std::int64_t done, std::int64_t total) {
  constexpr std::int64_t kCells = 30;
  const auto filled = static_cast<std::size_t>(kCells * done / total);
  const std::string bar = std::string(filled, '#') + std::string(kCells - filled, '.');
  const std::string line =
      "converting [" + bar + "] " + std::to_string(done) + "/" + std::to_string(total) + " samples";
  err() << "\r" << cut_to_width(line, static_cast<std::size_t>(redrawn_columns(STDERR_FILENO)));
  if (done == total) err() << "\n";
  err().flush();
}

/// @return what was written
std::string convert_here(const ConvertRequest& o) {
  if (is_of_model(o)) return convert_model(o);
  data::ConvertOptions how;
  how.storage = {o.chunk, o.compress};
  how.replace = o.replace;
  if (isatty(STDERR_FILENO) == 1) how.progress = show_progress;
  const char* const samples = data::are_sequences(o.source) ? "pairs of sequences" : "images";
  return std::to_string(data::convert(o.source, o.target, how)) + " " + samples + " in " + o.target;
}

/// Rank 0 converts. The others wait for its exit code, so that whatever a job script runs after
/// this finds the data.
int convert_once(const ConvertRequest& o) {
  const Env env = Env::from_process();
  add_launchers(read_user_launchers(env));
  const Resolution me = resolve(env, Facts::of_this_process(env));
  const auto convert_and_tell = [&] {
    out() << convert_here(o) << "\n";
    out().flush();
  };
  if (me.placement.world_size == 1) {
    convert_and_tell();
    return 0;
  }
  ProcessGroupOptions options;
  options.collective_timeout = std::chrono::hours(24);  // the loss of rank 0 is noticed at once
  ProcessGroup group = make_process_group(me, env, options);
  int code = 0;
  std::exception_ptr failure;
  if (me.placement.rank == 0) {
    try {
      convert_and_tell();
    } catch (const Error& error) {
      code = error.exit_code();
      failure = std::current_exception();
    } catch (const std::exception&) {
      code = 1;
      failure = std::current_exception();
    }
  }
  code = std::stoi(broadcast_text(group, std::to_string(code)));
  group.shutdown();
  if (failure) std::rethrow_exception(failure);
  return code;
}

}  // namespace

int convert(const Arguments& arguments) {
  const auto request = parse_convert(arguments);
  return request ? convert_once(*request) : 0;
}

}  // namespace hpcboot::app

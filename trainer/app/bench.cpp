#include <torch/cuda.h>
#include <torch/utils.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "app/bench_command.hpp"
#include "app/libtorch_verbs.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/launcher_files.hpp"
#include "hpcboot/resolve.hpp"
#include "hpcboot/torch/process_group.hpp"
#include "loop/devices.hpp"
#include "loop/threads.hpp"
#include "machine/bench_text.hpp"
#include "machine/benches.hpp"
#include "plots/draw.hpp"
#include "record/output_error.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {
namespace {

/// Connects the ranks if the bench is one of all ranks together.
std::optional<ProcessGroup> group_for(const BenchRequest& request, const Resolution& me,
                                      const Env& env, const train::TrainOptions& options,
                                      torch::Device device) {
  if (request.kind != "allreduce") return std::nullopt;
  if (me.placement.world_size < 2) {
    throw UsageError(
        "allreduce needs at least two ranks: start it by a launcher, such as mpirun -np 2 trainer "
        "bench allreduce");
  }
  ProcessGroupOptions how;
  how.backend = train::backend_of(options, device, has_nccl());
  return make_process_group(me, env, how);
}

/// Before minutes of measurements. @throws Error{unwritable_output}
void require_folder(const std::filesystem::path& picture) {
  if (!picture.has_parent_path()) return;
  std::error_code error;
  if (!std::filesystem::is_directory(picture.parent_path(), error))
    throw record::output_error("create", picture, ENOENT);
}

void print(const BenchRequest& request, const machine::BenchResult& result) {
  if (request.format == "csv") {
    out() << machine::bench_csv(result);
  } else if (request.format == "json") {
    out() << json_text(machine::bench_json(result), 2) << "\n";
  } else {
    out() << machine::bench_table(result, look_of(STDOUT_FILENO));
  }
  if (!request.plot.empty()) plots::draw(machine::bench_plot(result), request.plot);
}

}  // namespace

int bench(const Arguments& arguments) {
  const auto request = parse_bench(arguments);
  if (!request) return 0;
  require_folder(request->plot);
  const Env env = Env::from_process();
  add_launchers(read_user_launchers(env));
  const Resolution me = resolve(env, Facts::of_this_process(env));
  train::TrainOptions options;
  options.device = request->device;
  options.backend = request->backend;
  const torch::Device device = train::devices_of(options, "single", me).front();
  const c10::DeviceGuard current(device);
  torch::set_num_threads(train::default_threads(env, me.placement.local_size));
  train::Communicator ranks(me, group_for(*request, me, env, options, device));
  const machine::Bench bench{device, machine::name_of_device(device),
                             machine::Stopwatch(device, request->seconds), ranks};
  const machine::BenchResult result = machine::run_bench(request->kind, bench);
  // Every rank measures the other kinds for itself; the first one's figures are shown.
  if (ranks.is_first()) print(*request, result);
  ranks.finish();
  return 0;
}

}  // namespace hpcboot::app

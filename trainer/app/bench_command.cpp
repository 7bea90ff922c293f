#include "app/bench_command.hpp"

#include <algorithm>
#include <filesystem>

#include "app/options.hpp"
#include "machine/bench_kinds.hpp"

namespace hpcboot::app {
namespace {

constexpr double kLongest = 60;  // seconds for an operation

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> names;
  for (const machine::BenchKind& kind : machine::bench_kinds()) names.push_back(kind.name);
  return names;
}

options::Command command_for(BenchRequest& o) {
  options::Command command{
      "trainer",
      "bench",
      "measure what this machine computes, copies, sums and loads",
      {"trainer bench KIND [OPTIONS]"},
      {{"trainer bench matmul", "TFLOP/s by size and type"},
       {"mpirun -np 2 trainer bench allreduce", "GB/s between ranks"},
       {"trainer bench layernorm --plot layernorm.svg", "a table, and a picture"}}};
  std::string kinds;
  for (const machine::BenchKind& kind : machine::bench_kinds())
    kinds += (kinds.empty() ? "  " : "\n  ") + kind.name + std::string(13 - kind.name.size(), ' ') +
             kind.about;
  command.details = {
      "Times are medians; the spread is that between the shortest and the longest. For known GPUs, "
      "figures are compared with the data sheet. All ranks of a launch measure at the same time, "
      "and "
      "rank 0 shows its figures: for all kinds but allreduce, start one process.",
      kinds};
  command.operands = {{"kind", options::choice_into(o.kind, names_of_kinds()), 1}};
  command.groups = {
      {"Options",
       {{"device", options::choice_into(o.device, {"auto", "cpu", "cuda"}), "where to measure"},
        {"backend", options::choice_into(o.backend, {"auto", "gloo", "nccl"}),
         "what connects the ranks; auto: nccl between GPUs"},
        {"seconds", options::into(o.seconds, "S"), "measure each operation for about S seconds"},
        {"format", options::choice_into(o.format, {"table", "csv", "json"}),
         "format of the result"},
        {"plot", options::into(o.plot, "FILE", options::Completes::file),
         "also draw a picture, .svg or .png"}}}};
  command.exit_codes = {{"0", "ok"},
                        {"1", "standard output cannot be written"},
                        {"2", "the command line is wrong"},
                        {"30", "the device, the backend or gnuplot is missing"},
                        {"42", "the picture cannot be written"},
                        {"20 to 44", "allreduce: the ranks do not meet, as for training"}};
  return command;
}

}  // namespace

options::Command bench_command() {
  BenchRequest unused;  // only described, never parsed
  return command_for(unused);
}

std::optional<BenchRequest> parse_bench(const Arguments& arguments) {
  BenchRequest o;
  if (!parse(command_for(o), arguments)) return std::nullopt;
  const std::vector<std::string> kinds = names_of_kinds();
  if (std::find(kinds.begin(), kinds.end(), o.kind) == kinds.end())
    throw UsageError("bench needs a KIND; expected " + options::one_of(kinds));
  if (!(o.seconds > 0 && o.seconds <= kLongest))
    throw UsageError("--seconds must be above 0 and at most 60");
  const std::filesystem::path plot = o.plot;
  if (!o.plot.empty() && plot.extension() != ".svg" && plot.extension() != ".png")
    throw UsageError("--plot '" + o.plot + "' must end with .svg or .png");
  return o;
}

}  // namespace hpcboot::app

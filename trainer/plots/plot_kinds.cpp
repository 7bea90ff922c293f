#include "plots/plots.hpp"

namespace hpcboot::plots {

const std::vector<PlotKind>& plot_kinds() {
  using record::Runs;
  static const std::vector<PlotKind> kinds{
      {"runtime", "runtime and samples per second by layout", Runs::finished, runtime_plot},
      {"strong-scaling", "speed-up and efficiency of the same work on more devices", Runs::finished,
       strong_scaling_plot},
      {"weak-scaling", "efficiency of more devices with as many samples each", Runs::finished,
       weak_scaling_plot},
      {"curves", "loss and measures by epoch, of up to 8 lines", Runs::finished, curves_plot},
      {"steps", "what a step consists of", Runs::finished, steps_plot},
      {"monitor", "load, memory, temperature and network by rank, of one run", Runs::all,
       monitor_plot},
      {"correlation", "how far these change together, of one run", Runs::all, correlation_plot}};
  return kinds;
}

}  // namespace hpcboot::plots

#include "plots/plots.hpp"

namespace hpcboot::plots {

const std::vector<PlotKind>& plot_kinds() {
  static const std::vector<PlotKind> kinds{
      {"runtime", "runtime and images/s by layout", runtime_plot},
      {"strong-scaling", "speed-up and efficiency of the same work on more devices",
       strong_scaling_plot},
      {"weak-scaling", "efficiency of more devices with as many samples each", weak_scaling_plot},
      {"curves", "loss and accuracy by epoch", curves_plot},
      {"steps", "what a step consists of", steps_plot},
      {"monitor", "load, memory, temperature and network of one run, by rank", monitor_plot},
      {"correlation", "how far the values of the monitor change together", correlation_plot}};
  return kinds;
}

}  // namespace hpcboot::plots

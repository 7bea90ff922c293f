#include "estimate/stages.hpp"

#include <algorithm>
#include <cstddef>

namespace hpcboot::estimate {

Amounts& Amounts::operator+=(const Amounts& other) {
  parameters += other.parameters;
  kept += other.kept;
  kept_bytes += other.kept_bytes;
  working += other.working;
  flop += other.flop;
  return *this;
}

double Model::parameters() const {
  double sum = 0;
  for (const Layer& layer : layers) sum += layer.each.parameters + layer.divided.parameters;
  return sum;
}

Amounts on_one_rank(const Layer& layer, std::int64_t tensor) {
  const auto share = 1 / static_cast<double>(tensor);
  Amounts amounts = layer.each;
  const Amounts& divided = layer.divided;
  amounts += {divided.parameters * share, divided.kept * share, divided.kept_bytes * share,
              divided.working * share, divided.flop * share};
  return amounts;
}

std::vector<std::vector<Part>> stages_of(const Model& model, const Layout& layout) {
  std::vector<Part> parts;
  double flop = 0;
  for (const Layer& layer : model.layers) {
    parts.push_back({on_one_rank(layer, layout.tensor), layer.output, layer.sums});
    flop += parts.back().amounts.flop;
  }
  const auto count = static_cast<std::size_t>(layout.pipeline);
  if (count > 1) parts.back().amounts.parameters += model.tied / static_cast<double>(layout.tensor);
  std::vector<std::vector<Part>> stages(count);
  double before = 0;
  std::size_t stage = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // In the stage that contains the layer's middle, unless layers would not suffice for the rest.
    const double middle = before + parts[i].amounts.flop / 2;
    const auto wanted =
        flop > 0 ? static_cast<std::size_t>(middle / flop * static_cast<double>(count)) : 0;
    const std::size_t left = parts.size() - i;
    if (stage + 1 < count && !stages[stage].empty() &&
        (wanted > stage || left <= count - 1 - stage)) {
      ++stage;
    }
    stages[stage].push_back(parts[i]);
    before += parts[i].amounts.flop;
  }
  return stages;
}

double ring_bytes(std::int64_t ranks, double bytes) {
  const auto n = static_cast<double>(ranks);
  return bytes * (n - 1) / n;
}

}  // namespace hpcboot::estimate

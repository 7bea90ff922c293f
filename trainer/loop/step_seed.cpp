#include "loop/step_seed.hpp"

#include <ATen/Context.h>

#include <mutex>

#include "datasets/random.hpp"

namespace hpcboot::train {
namespace {

void seed_generator(torch::Device device, std::uint64_t seed) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
}

}  // namespace

void seed_step(std::uint64_t seed, std::int64_t step, int rank,
               const std::vector<torch::Device>& devices) {
  const std::uint64_t of_step = data::Random(seed, static_cast<std::uint64_t>(step)).next();
  data::Random of_rank(of_step, static_cast<std::uint64_t>(rank));
  seed_generator(at::kCPU, of_rank.next());
  for (const torch::Device& device : devices) {
    if (!device.is_cpu()) seed_generator(device, of_rank.next());
  }
}

}  // namespace hpcboot::train

// The time of a training step with data in files, compared with the same data in memory. The
// formats take turns, round after round, so that other load slows all of them alike.
//   build/bench/data_formats [ROUNDS]
#include <fmt/format.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "datasets/batch_loader.hpp"
#include "datasets/convert.hpp"
#include "datasets/digits.hpp"
#include "datasets/image_samples.hpp"
#include "hpcboot/torch/distributed_sampler.hpp"
#include "models/model.hpp"

namespace {

using namespace hpcboot;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

struct Training {
  const char* model;
  std::int64_t image_size;
  std::int64_t batch;
  std::int64_t steps;  ///< per round
};
constexpr Training kTrainings[] = {{"mnistnet", 28, 64, 30}, {"resnet50", 128, 16, 2}};

struct Stored {
  const char* name;
  std::string place;
  std::vector<double> step_seconds{};
  std::vector<double> wait_seconds{};
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// One round: the first steps of a shuffled epoch, in the trainer's order. The first batch is not
/// timed, as no step before it can hide its loading.
void run(const Training& task, models::Model& model, torch::optim::Adam& optimizer, int round,
         Stored& stored, const std::shared_ptr<const data::Dataset>& set) {
  const DistributedSampler sampler(set->count(), 1, 0, {true, 1234});
  auto indices = sampler.indices(static_cast<std::uint64_t>(round));
  indices.resize(static_cast<std::size_t>(task.batch * (task.steps + 1)));
  data::ImageOptions options;
  options.size = task.image_size;
  const data::ImageSamples samples(set, options);
  data::BatchLoader loader(samples, std::move(indices), task.batch);
  data::Batch batch;
  loader.next(batch);
  auto begin = Clock::now();
  while (loader.next(batch)) {
    const auto images = torch::from_blob(batch.parts[0].bytes.data(), batch.parts[0].shape);
    const auto labels =
        torch::from_blob(batch.parts[1].bytes.data(), batch.parts[1].shape, torch::kInt64);
    optimizer.zero_grad();
    torch::cross_entropy_loss(model.forward(images), labels).backward();
    optimizer.step();
    const auto end = Clock::now();
    stored.step_seconds.push_back(std::chrono::duration<double>(end - begin).count());
    stored.wait_seconds.push_back(loader.wait_seconds());
    begin = end;
  }
}

void compare(const Training& task, std::vector<Stored> all, int rounds) {
  torch::manual_seed(1234);
  const auto model = models::make_model(task.model);
  torch::optim::Adam optimizer(model->parameters(), 1e-4);
  std::vector<std::shared_ptr<const data::Dataset>> sets;
  for (const Stored& stored : all)
    sets.push_back(data::open_dataset(stored.place, data::Split::train));
  for (int round = 0; round < rounds; ++round) {
    // A different format comes first in each round.
    for (std::size_t turn = 0; turn < all.size(); ++turn) {
      const std::size_t i = (turn + static_cast<std::size_t>(round)) % all.size();
      run(task, *model, optimizer, round, all[i], sets[i]);
    }
  }
  const double memory = median(all.front().step_seconds);
  for (const Stored& stored : all) {
    const double step = median(stored.step_seconds);
    fmt::print("{:<10}{:>4}  {:<22}{:>10.2f}{:>12.3f}{:>10.3f}{:>7}\n", task.model, task.image_size,
               stored.name, 1e3 * step, 1e3 * median(stored.wait_seconds), step / memory,
               stored.step_seconds.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 8;
  const fs::path folder = fs::temp_directory_path() / fmt::format("hpcboot_bench_{}", ::getpid());
  data::DigitsOptions digits;
  digits.train = 20000;
  digits.test = 100;
  data::write_digits(folder / "mnist", digits);
  std::vector<Stored> all = {{"MNIST (memory)", (folder / "mnist").string()},
                             {"HDF5", (folder / "plain.h5").string()},
                             {"HDF5, chunks of 64", (folder / "chunked.h5").string()},
                             {"HDF5, gzip 4", (folder / "gzip.h5").string()},
                             {"safetensors", (folder / "set.safetensors").string()}};
  data::ConvertOptions storage[5];
  storage[2].storage.chunk = 64;
  storage[3].storage.compress = 4;
  for (std::size_t i = 1; i < all.size(); ++i)
    data::convert(all[0].place, all[i].place, storage[i]);
  fmt::print("{:<10}{:>4}  {:<22}{:>10}{:>12}{:>10}{:>7}\n", "model", "px", "data", "ms/step",
             "waiting ms", "ratio", "steps");
  for (const Training& task : kTrainings) compare(task, all, rounds);
  fs::remove_all(folder);
  return 0;
}

// Colour pictures into 10 or 100 classes, of CIFAR's files or of any other data set of images.
#include "tasks/image_classification.hpp"

namespace hpcboot::tasks {
namespace {

/// Means and standard deviations of the training pixels of CIFAR-10 and CIFAR-100.
data::Normalization cifar_normalization(std::int64_t classes) {
  if (classes <= 10) return {{0.4914F, 0.4822F, 0.4465F}, {0.2470F, 0.2435F, 0.2616F}};
  return {{0.5071F, 0.4865F, 0.4409F}, {0.2673F, 0.2564F, 0.2762F}};
}

}  // namespace

std::unique_ptr<Task> make_cifar(const train::TrainOptions& options, torch::Device device) {
  return std::make_unique<ImageClassification>(options, cifar_normalization, device);
}

}  // namespace hpcboot::tasks

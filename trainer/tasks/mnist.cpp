// Digits into ten classes, of MNIST's files or of any other data set of images.
#include "tasks/image_classification.hpp"

namespace hpcboot::tasks {

std::unique_ptr<Task> make_mnist(const train::TrainOptions& options, torch::Device device) {
  return std::make_unique<ImageClassification>(
      options, [](std::int64_t /*classes*/) { return data::mnist_normalization(); }, device);
}

}  // namespace hpcboot::tasks

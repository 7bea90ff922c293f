#pragma once

#include "datasets/image_samples.hpp"
#include "tasks/task.hpp"

namespace hpcboot::tasks {

/// Images into classes: cross entropy, and the accuracy.
class ImageClassification : public Task {
 public:
  /// @param normalization for images of this many classes
  /// @throws Error: what opening the data throws; malformed_data if the splits do not match
  ImageClassification(const train::TrainOptions& options,
                      data::Normalization (*normalization)(std::int64_t classes),
                      torch::Device device);

  std::string warning() const override { return warning_; }
  std::shared_ptr<models::Model> make_model() const override;
  Example prepare(std::vector<torch::Tensor> parts) const override;
  torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& target) const override;
  torch::Tensor tally(const torch::Tensor& output, const torch::Tensor& target) const override;
  std::vector<record::Measure> measures(const torch::Tensor& tally) const override;
  std::map<std::string, std::string> metadata() const override;

 private:
  struct Data;
  ImageClassification(const train::TrainOptions& options, Data data);

  std::string model_;
  bool checkpointed_;
  std::int64_t channels_;
  std::int64_t classes_;
  data::ImageOptions images_;
  std::string warning_;
};

/// Applies the conversion of data::ImageTransform on the device of the pixels.
/// @param pixels N x C x H x W, bytes from 0 to 255 or floats from 0 to 1
torch::Tensor images_of(const torch::Tensor& pixels, std::int64_t image_size,
                        const data::Normalization& normalization);

}  // namespace hpcboot::tasks

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/idx.hpp"

namespace hpcboot::data {

/// How a pixel is stored: a byte from 0 to 255, or a float from 0 to 1.
enum class PixelType { u8, f32 };

/// What every image of a data set has in common.
struct ImageShape {
  std::int64_t channels = 1;
  std::int64_t rows = 0;
  std::int64_t cols = 0;

  std::int64_t pixels() const noexcept { return channels * rows * cols; }
  friend bool operator==(const ImageShape& a, const ImageShape& b) noexcept {
    return a.channels == b.channels && a.rows == b.rows && a.cols == b.cols;
  }
};

/// "1x28x28": channels, rows, columns.
std::string to_string(const ImageShape& shape);

/// The number of classes unless a data set has more, as CIFAR-100 does.
constexpr std::int64_t kClasses = 10;
constexpr std::int64_t kMaxClasses = 100;
/// The largest image that is accepted, in pixels per side and in channels.
constexpr std::int64_t kMaxSide = 4096;
constexpr std::int64_t kMaxChannels = 16;

/// One split of a data set, for training or for validation: images of one shape and type, each with
/// its label, read by index. The implementation hides where the images come from: memory, a file, a
/// generator.
class Dataset {
 public:
  virtual ~Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  std::int64_t count() const noexcept { return count_; }
  const ImageShape& shape() const noexcept { return shape_; }
  PixelType pixel_type() const noexcept { return type_; }
  /// Labels are 0 to classes() - 1.
  std::int64_t classes() const noexcept { return classes_; }
  /// Bytes of one image: channels x rows x cols pixels without gaps.
  std::size_t image_bytes() const noexcept;

  /// Of all images, if they are in memory; null if they are computed.
  virtual const std::vector<std::uint8_t>* labels() const { return nullptr; }

  /// Reads the images at these indices into `pixels` (number x image_bytes()) and their labels into
  /// `labels`, in the order of `indices`, which may repeat. Several threads may call it at once.
  /// @throws std::out_of_range if an index is out of range; Error{malformed_data, unreadable_file}
  ///   if a file turns out to be damaged
  void read(const std::int64_t* indices, std::int64_t number, std::uint8_t* pixels,
            std::uint8_t* labels) const;

 protected:
  Dataset(std::int64_t count, const ImageShape& shape, PixelType type,
          std::int64_t classes = kClasses)
      : count_(count), shape_(shape), type_(type), classes_(classes) {}

 private:
  /// As read(), with valid indices.
  virtual void read_checked(const std::int64_t* indices, std::int64_t number, std::uint8_t* pixels,
                            std::uint8_t* labels) const = 0;

  std::int64_t count_;
  ImageShape shape_;
  PixelType type_;
  std::int64_t classes_;
};

/// Images of bytes that are already in memory, such as those of MNIST's files.
class MemoryDataset : public Dataset {
 public:
  explicit MemoryDataset(ImageSet set);
  /// @param pixels those of one image for each label
  MemoryDataset(const ImageShape& shape, std::int64_t classes, std::vector<std::uint8_t> pixels,
                std::vector<std::uint8_t> labels);

  const std::vector<std::uint8_t>* labels() const override { return &labels_; }

 private:
  void read_checked(const std::int64_t* indices, std::int64_t number, std::uint8_t* pixels,
                    std::uint8_t* labels) const override;

  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> labels_;
};

}  // namespace hpcboot::data

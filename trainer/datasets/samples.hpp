#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "record/safetensors.hpp"

namespace hpcboot::data {

/// One of the tensors of a batch, such as its images or its labels, in host memory.
struct BatchPart {
  record::DType type = record::DType::f32;
  std::vector<std::int64_t> shape;  ///< the first is the number of samples
  std::vector<std::uint8_t> bytes;  ///< the elements, contiguous

  /// Sets type and shape, and makes room for the elements, in memory that is kept from batch to
  /// batch. @return their memory
  template <typename Element>
  Element* resize(record::DType of_type, std::vector<std::int64_t> to) {
    type = of_type;
    shape = std::move(to);
    std::size_t elements = 1;
    for (const std::int64_t size : shape) elements *= static_cast<std::size_t>(size);
    bytes.resize(elements * record::size_of(type));
    return reinterpret_cast<Element*>(bytes.data());
  }
  template <typename Element>
  const Element* data() const {
    return reinterpret_cast<const Element*>(bytes.data());
  }
};

/// The samples of a step.
struct Batch {
  std::vector<BatchPart> parts;
  std::int64_t size = 0;  ///< samples
};

/// Which samples make up a batch.
struct BatchOrder {
  const std::int64_t* indices = nullptr;
  std::int64_t size = 0;
  int epoch = 1;  ///< from 1: random changes of a sample differ from epoch to epoch
};

/// One split of what a task trains on: samples, read by index and put together to batches.
class Samples {
 public:
  virtual ~Samples() = default;
  Samples(const Samples&) = delete;
  Samples& operator=(const Samples&) = delete;

  std::int64_t count() const noexcept { return count_; }

  /// Fills the parts of `batch`, reusing their memory, in the order of the indices, which may
  /// repeat. Several threads may call it at once.
  /// @throws std::out_of_range if an index is out of range; Error{malformed_data, unreadable_file}
  virtual void fill(const BatchOrder& order, Batch& batch) const = 0;

  /// What a sample is: "images of 1x28x28". Runs whose samples differ do not compare.
  virtual std::string kind() const = 0;

  /// A checksum of some samples, as they are stored: a resumed run must have the same. It is equal
  /// wherever the data are, and whatever machine computes it.
  virtual std::string checksum() const = 0;

  /// The same of all labels, which tell of most changes in the other samples; empty if there are
  /// none, or if they are computed.
  virtual std::string checksum_of_labels() const { return ""; }

 protected:
  explicit Samples(std::int64_t count) : count_(count) {}

 private:
  std::int64_t count_;
};

/// Up to eight indices that are spread over `count` samples: those of a checksum.
std::vector<std::int64_t> spread_indices(std::int64_t count);

/// CRC-32 of these bytes, continued from `sum`.
std::uint32_t checksum_of(const std::vector<std::uint8_t>& bytes, std::uint32_t sum = 0);
/// "1234abcd".
std::string checksum_text(std::uint32_t sum);

}  // namespace hpcboot::data

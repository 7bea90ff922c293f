#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "datasets/array_file.hpp"

namespace hpcboot::data {

/// A sequence of vectors.
struct SequenceShape {
  std::int64_t length = 0;
  std::int64_t width = 0;

  std::int64_t values() const noexcept { return length * width; }
};

/// "20x512": length, width.
std::string to_string(const SequenceShape& shape);

/// The longest sequence, the widest vector and the most numbers in a sequence that are accepted.
constexpr std::int64_t kMaxLength = 1 << 16;
constexpr std::int64_t kMaxWidth = 1 << 16;
constexpr std::int64_t kMaxValues = 1 << 26;

/// One side of pairs of sequences: what a model reads, or what it is to write.
struct SequenceSide {
  SequenceShape shape;
  record::DType type = record::DType::f32;  ///< f16, bf16, f32 or f64

  std::size_t bytes() const {
    return static_cast<std::size_t>(shape.values()) * record::size_of(type);
  }
};

/// One split of a set of pairs of sequences, read by index: a source, and the target that a model
/// makes of it. All sources have one shape, and all targets.
class SequenceSet {
 public:
  virtual ~SequenceSet() = default;
  SequenceSet(const SequenceSet&) = delete;
  SequenceSet& operator=(const SequenceSet&) = delete;

  std::int64_t count() const noexcept { return count_; }
  const SequenceSide& source() const noexcept { return source_; }
  const SequenceSide& target() const noexcept { return target_; }

  /// Reads the pairs at these indices, one after the other. Several threads may call it at once.
  /// @throws std::out_of_range if an index is out of range; Error{malformed_data, unreadable_file}
  void read(const std::int64_t* indices, std::int64_t number, std::uint8_t* sources,
            std::uint8_t* targets) const;

 protected:
  SequenceSet(std::int64_t count, const SequenceSide& source, const SequenceSide& target)
      : count_(count), source_(source), target_(target) {}

 private:
  /// As read(), with valid indices.
  virtual void read_checked(const std::int64_t* indices, std::int64_t number, std::uint8_t* sources,
                            std::uint8_t* targets) const = 0;

  std::int64_t count_;
  SequenceSide source_;
  SequenceSide target_;
};

/// Whether a file contains sequences rather than images.
bool has_sequences(const ArrayFile& file);

/// One split of the pairs in a file, which are read on demand.
/// @param limit keep only the first pairs; 0: all
/// @throws Error{missing_data} if an array is missing; Error{malformed_data} if one has the wrong
///   type or shape, or they do not match
std::unique_ptr<SequenceSet> open_sequence_split(const std::shared_ptr<const ArrayFile>& file,
                                                 Split split, std::int64_t limit);

}  // namespace hpcboot::data

#include "datasets/sequence_set.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "datasets/array_rows.hpp"

namespace hpcboot::data {
namespace {

using record::DType;

constexpr const char* kSequenceArrays =
    "the arrays train/source, train/target, test/source and test/target";

SequenceSide side_of(const ArrayFile& file, const ArrayInfo& array) {
  constexpr DType kTypes[] = {DType::f16, DType::bf16, DType::f32, DType::f64};
  if (!array.readable ||
      std::find(std::begin(kTypes), std::end(kTypes), array.type) == std::end(kTypes)) {
    throw file.wrong_type(array, "floating-point numbers", "float32");
  }
  const auto within = [](std::int64_t value, std::int64_t most) {
    return value >= 1 && value <= most;
  };
  if (array.shape.size() != 3 || array.shape[0] < 1 || !within(array.shape[1], kMaxLength) ||
      !within(array.shape[2], kMaxWidth) || array.shape[1] * array.shape[2] > kMaxValues) {
    throw file.malformed(array, "the shape " + shape_text(array.shape),
                         "number x length x width: 1 sequence or more of up to " +
                             std::to_string(kMaxLength) + " vectors of up to " +
                             std::to_string(kMaxWidth) + " numbers, " + std::to_string(kMaxValues) +
                             " in all");
  }
  return {{array.shape[1], array.shape[2]}, array.type};
}

class ArraySequences : public SequenceSet {
 public:
  ArraySequences(std::shared_ptr<const ArrayFile> file, const ArrayInfo& sources,
                 const ArrayInfo& targets, std::int64_t count)
      : SequenceSet(count, side_of(*file, sources), side_of(*file, targets)),
        file_(std::move(file)),
        sources_(sources),
        targets_(targets) {}

 private:
  void read_checked(const std::int64_t* indices, std::int64_t number, std::uint8_t* sources,
                    std::uint8_t* targets) const override {
    read_rows(*file_, sources_, "source", indices, number, sources);
    read_rows(*file_, targets_, "target", indices, number, targets);
  }

  std::shared_ptr<const ArrayFile> file_;
  const ArrayInfo& sources_;  // of file_
  const ArrayInfo& targets_;
};

}  // namespace

std::string to_string(const SequenceShape& shape) {
  return std::to_string(shape.length) + "x" + std::to_string(shape.width);
}

void SequenceSet::read(const std::int64_t* indices, std::int64_t number, std::uint8_t* sources,
                       std::uint8_t* targets) const {
  const auto* const stray = std::find_if(
      indices, indices + number, [&](std::int64_t index) { return index < 0 || index >= count_; });
  if (stray != indices + number) {
    throw std::out_of_range("pair " + std::to_string(*stray) + " of a set of " +
                            std::to_string(count_));
  }
  read_checked(indices, number, sources, targets);
}

bool has_sequences(const ArrayFile& file) {
  return std::any_of(file.arrays().begin(), file.arrays().end(), [](const ArrayInfo& array) {
    return array.name == source_array_name(Split::train);
  });
}

std::unique_ptr<SequenceSet> open_sequence_split(const std::shared_ptr<const ArrayFile>& file,
                                                 Split split, std::int64_t limit) {
  const ArrayInfo& sources = find_array(*file, source_array_name(split), kSequenceArrays);
  const ArrayInfo& targets = find_array(*file, target_array_name(split), kSequenceArrays);
  const std::int64_t all = sources.shape.empty() ? 0 : sources.shape[0];
  const std::int64_t count = limit > 0 ? std::min(all, limit) : all;
  auto set = std::make_unique<ArraySequences>(file, sources, targets, count);
  file->require_room(sources, count, set->source().shape.values(), "sequences");
  file->require_room(targets, count, set->target().shape.values(), "sequences");
  if (targets.shape[0] != all) {
    throw file->malformed(targets, std::to_string(targets.shape[0]) + " sequences",
                          std::to_string(all) + ", one for each of '" + sources.name + "'");
  }
  if (set->source().shape.width != set->target().shape.width) {
    throw file->malformed(targets, "vectors of " + std::to_string(targets.shape[2]) + " numbers",
                          std::to_string(sources.shape[2]) + ", as in '" + sources.name + "'");
  }
  return set;
}

}  // namespace hpcboot::data

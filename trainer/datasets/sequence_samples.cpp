#include "datasets/sequence_samples.hpp"

#include <utility>
#include <vector>

namespace hpcboot::data {
namespace {

std::uint8_t* resize(BatchPart& part, const SequenceSide& side, std::int64_t number) {
  return part.resize<std::uint8_t>(side.type, {number, side.shape.length, side.shape.width});
}

}  // namespace

SequenceSamples::SequenceSamples(std::unique_ptr<const SequenceSet> set)
    : Samples(set->count()), set_(std::move(set)) {}

void SequenceSamples::fill(const BatchOrder& order, Batch& batch) const {
  batch.size = order.size;
  batch.parts.resize(2);
  std::uint8_t* const sources = resize(batch.parts[0], set_->source(), order.size);
  std::uint8_t* const targets = resize(batch.parts[1], set_->target(), order.size);
  set_->read(order.indices, order.size, sources, targets);
}

std::string SequenceSamples::kind() const {
  return "sequences of " + to_string(set_->source().shape) + " to " +
         to_string(set_->target().shape);
}

std::string SequenceSamples::checksum() const {
  const std::vector<std::int64_t> indices = spread_indices(count());
  Batch batch;
  fill({indices.data(), static_cast<std::int64_t>(indices.size())}, batch);
  return checksum_text(checksum_of(batch.parts[1].bytes, checksum_of(batch.parts[0].bytes)));
}

}  // namespace hpcboot::data

#pragma once

#include <memory>

#include "datasets/samples.hpp"
#include "datasets/sequence_set.hpp"

namespace hpcboot::data {

/// Pairs of sequences. The parts of a batch of N, as they are stored:
///   0  N x length x width: the sources
///   1  N x length x width: the targets
class SequenceSamples : public Samples {
 public:
  explicit SequenceSamples(std::unique_ptr<const SequenceSet> set);

  const SequenceSet& set() const { return *set_; }
  void fill(const BatchOrder& order, Batch& batch) const override;
  std::string kind() const override;
  std::string checksum() const override;

 private:
  std::unique_ptr<const SequenceSet> set_;
};

}  // namespace hpcboot::data

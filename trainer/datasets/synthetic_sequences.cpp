#include "datasets/synthetic_sequences.hpp"

#include <algorithm>
#include <vector>

#include "datasets/random.hpp"
#include "datasets/synthetic.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::data {
namespace {

constexpr std::uint64_t kSeed = 4321;
// Pair i of a split is drawn from stream base + i; the mixing is drawn from stream 0.
constexpr std::uint64_t kStreamsOfSplit = std::uint64_t{1} << 40;
constexpr std::int64_t kMaxPairs = std::int64_t{1} << 40;
constexpr std::int64_t kTrainPerTest = 6;  // as for images
constexpr std::size_t kSigns = 8;
// All numbers are multiples of 2^-10 below 4: sums are exact, on every machine.
constexpr float kScale = 0.375F;          // the variance of eight signs becomes 1.1
constexpr float kNoise = 1.0F / 1024.0F;  // of a byte: within 1/8

float sign_of(std::uint64_t bits, std::size_t place) {
  return (bits >> place & 1) != 0 ? 1.0F : -1.0F;
}

class SyntheticSequences : public SequenceSet {
 public:
  SyntheticSequences(std::int64_t count, const SequenceShape& source, const SequenceShape& target,
                     Split split)
      : SequenceSet(count, {source, record::DType::f32}, {target, record::DType::f32}),
        first_stream_(kStreamsOfSplit * (split == Split::train ? 1 : 2)) {
    Random random(kSeed, 0);
    for (std::size_t i = 0; i < 2 * kSigns * static_cast<std::size_t>(source.width); ++i)
      mixing_.push_back(sign_of(random.next(), 0));
  }

 private:
  void read_checked(const std::int64_t* indices, std::int64_t number, std::uint8_t* sources,
                    std::uint8_t* targets) const override {
    auto* source_values = reinterpret_cast<float*>(sources);
    auto* target_values = reinterpret_cast<float*>(targets);
    const std::size_t target_mixing = mixing_.size() / 2;
    for (std::int64_t i = 0; i < number; ++i) {
      Random random(kSeed, first_stream_ + static_cast<std::uint64_t>(indices[i]));
      const std::uint64_t signs = random.next();
      source_values = draw(source().shape, signs, 1, 0, random, source_values);
      target_values = draw(target().shape, signs, 2, target_mixing, random, target_values);
    }
  }

  /// Vector t is the sum of the rows of the mixing, each with its sign, which differ with t.
  /// @return the end of what was written
  float* draw(const SequenceShape& shape, std::uint64_t signs, std::uint64_t side,
              std::size_t mixing, Random& random, float* out) const {
    const auto width = static_cast<std::size_t>(shape.width);
    for (std::int64_t t = 0; t < shape.length; ++t, out += width) {
      const std::uint64_t turned =
          signs ^ Random(kSeed, side).next() * static_cast<std::uint64_t>(2 * t + 1) >> 32;
      for (std::size_t at = 0; at < width; at += 8) {
        const std::uint64_t bits = random.next();
        for (std::size_t e = at; e < std::min(width, at + 8); ++e) {
          out[e] = kNoise * (static_cast<float>(bits >> 8 * (e - at) & 0xff) - 128.0F);
        }
      }
      for (std::size_t k = 0; k < kSigns; ++k) {
        const float sign = kScale * sign_of(turned, k);
        const float* const row = mixing_.data() + mixing + k * width;
        for (std::size_t e = 0; e < width; ++e) out[e] += sign * row[e];
      }
    }
    return out;
  }

  std::uint64_t first_stream_;
  std::vector<float> mixing_;  ///< signs: kSigns x width of sources, then of targets
};

}  // namespace

std::unique_ptr<SequenceSet> open_synthetic_sequences(const std::string& text, Split split,
                                                      std::int64_t limit) {
  const auto [number, source, target, width] =
      parse_sizes(std::string_view(text).substr(kSequencesPrefix.size()));
  const auto within = [](std::int64_t value, std::int64_t most) {
    return value >= 1 && value <= most;
  };
  if (!within(number, kMaxPairs) || !within(source, kMaxLength) || !within(target, kMaxLength) ||
      !within(width, kMaxWidth) || std::max(source, target) * width > kMaxValues) {
    throw Error(ErrorCode::missing_data, "the data set '" + text + "'",
                "sequences:NxSxTxE: a number of pairs, the lengths of sources and targets, up to " +
                    std::to_string(kMaxLength) + ", and the width of their vectors, up to " +
                    std::to_string(kMaxWidth) + "; a sequence has up to " +
                    std::to_string(kMaxValues) + " numbers",
                "use, for example, sequences:2048x1x20x512");
  }
  std::int64_t count =
      split == Split::train ? number : std::max<std::int64_t>(1, number / kTrainPerTest);
  if (limit > 0) count = std::min(count, limit);
  return std::make_unique<SyntheticSequences>(count, SequenceShape{source, width},
                                              SequenceShape{target, width}, split);
}

}  // namespace hpcboot::data

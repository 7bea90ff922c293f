#pragma once

#include <cstdint>

namespace hpcboot::data {

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014) with
/// distributions of its own: unlike those of <random>, they give the same numbers everywhere.
class Random {
 public:
  /// Streams of one seed are independent: one for each image, whichever thread draws it.
  Random(std::uint64_t seed, std::uint64_t stream) noexcept
      : state_(mix(mix(seed + kStep) ^ (stream + 1) * kStep)) {}

  std::uint64_t next() noexcept { return mix(state_ += kStep); }

  /// A number from 0 to n - 1.
  std::uint64_t below(std::uint64_t n) noexcept { return next() % n; }

  /// Uniform in [low, high).
  float uniform(float low, float high) noexcept {
    return low + (high - low) * (static_cast<float>(next() >> 40) * kTwoToMinus24);
  }

  /// Approximately normal, with mean 0 and standard deviation 1: the sum of four uniform 16-bit
  /// numbers. It needs no logarithm, which a library may round differently on another machine.
  float normal() noexcept {
    const std::uint64_t bits = next();
    const std::uint64_t sum =
        (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    return (static_cast<float>(sum) - 2.0F * 65535.0F) * kNormalScale;
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
  static constexpr float kTwoToMinus24 = 1.0F / 16777216.0F;
  static constexpr float kNormalScale = 1.7320508F / 65536.0F;  // variance of the sum: 4/12 x 2^32

  static constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  std::uint64_t state_;
};

}  // namespace hpcboot::data

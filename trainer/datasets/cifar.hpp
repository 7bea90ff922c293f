#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "hpcboot/encode.hpp"

// What all files of CIFAR-10 and CIFAR-100 have in common, as described at
// https://www.cs.toronto.edu/~kriz/cifar.html.
namespace hpcboot::data {

constexpr ImageShape kCifarShape{3, 32, 32};
/// Bytes of an image: the red plane, the green and the blue, each row by row.
constexpr std::size_t kCifarImage = 3072;
/// Of CIFAR-100; a coarse class has five fine ones.
constexpr std::int64_t kCoarseClasses = 20;

/// What to do about a damaged or missing file of a set.
inline std::string cifar_remedy(const std::filesystem::path& folder, std::int64_t classes,
                                bool is_binary) {
  return "download it again (bash setup/get-cifar --force" +
         std::string(classes > kClasses ? " --classes 100" : "") +
         (is_binary ? "" : " --format python") + " --dir " + bash_quote(folder.string()) +
         ", in hpcboot's sources), or draw a new set with `trainer pictures NEW_FOLDER`";
}

/// Images with their labels, in memory.
struct CifarImages {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;  ///< of CIFAR-100 the fine ones
};

}  // namespace hpcboot::data

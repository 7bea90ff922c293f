#pragma once

#include <string>
#include <string_view>

// How sets of each format are named; without LibTorch, for command lines.
namespace hpcboot::data::places {

inline constexpr std::string_view kMnist = "FOLDER with MNIST's files";
inline constexpr std::string_view kCifar = "FOLDER with CIFAR's files";
inline constexpr std::string_view kHdf5 = "FILE.h5";
inline constexpr std::string_view kSafetensors = "FILE.safetensors";
inline constexpr std::string_view kPt = "FILE.pt";
inline constexpr std::string_view kSynthetic = "synthetic:NxCxHxW";
inline constexpr std::string_view kSequences = "sequences:NxSxTxE";

}  // namespace hpcboot::data::places

namespace hpcboot::data {

/// For --help: "FOLDER with MNIST's files, FOLDER with CIFAR's files, FILE.pt, … or
/// synthetic:NxCxHxW".
std::string known_places();

}  // namespace hpcboot::data

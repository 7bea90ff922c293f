#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hpcboot {

// "1 rank", "3 ranks".
inline std::string counted(std::int64_t number, std::string_view thing) {
  return std::to_string(number) + " " + std::string(thing) + (number == 1 ? "" : "s");
}

}  // namespace hpcboot

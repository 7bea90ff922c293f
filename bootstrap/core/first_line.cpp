#include "core/first_line.hpp"

#include <fstream>

namespace hpcboot {

std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace hpcboot

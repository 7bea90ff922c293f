#include "oom_kills.hpp"

#include <fstream>
#include <string>

namespace hpcboot::run {

std::int64_t oom_kills() {
  std::ifstream file("/proc/vmstat");
  std::string name;
  std::int64_t value = 0;
  while (file >> name >> value) {
    if (name == "oom_kill") return value;
  }
  return 0;
}

}  // namespace hpcboot::run

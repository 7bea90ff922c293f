#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/verbs.hpp"

namespace hpcboot::app {

struct ConvertRequest {
  std::string source, target;
  std::int64_t chunk = 0;  ///< images; 0: the format's choice
  int compress = 0;        ///< gzip level; 0: none
  int shards = 0;          ///< files of a model; 0: one, or a data set
  bool replace = false;
};

options::Command convert_command();

/// @return nothing if the arguments ask for help, which is printed. @throws UsageError
std::optional<ConvertRequest> parse_convert(const Arguments& arguments);

}  // namespace hpcboot::app

#include "hpcboot/error.hpp"
#include "read_description.hpp"

// For a build without toml++. A description is never skipped silently: it is an error.
namespace hpcboot {

DescriptionText read_description(std::string_view, const std::string& file) {
  throw Error(ErrorCode::backend_unavailable,
              "this build cannot read " + file + ", which describes a launcher",
              "a build with toml++",
              "install libtomlplusplus-dev and rebuild, or move the file away");
}

}  // namespace hpcboot

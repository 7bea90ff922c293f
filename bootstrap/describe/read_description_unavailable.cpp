#include "hpcboot/error.hpp"
#include "read_description.hpp"

// For a build without toml++. A file is not passed over: it stops the program.
namespace hpcboot {

DescriptionText read_description(std::string_view, const std::string& file) {
  throw Error(ErrorCode::backend_unavailable,
              "this build cannot read " + file + ", which describes a launcher",
              "toml++ when hpcboot is built",
              "install libtomlplusplus-dev and build again, or move the file away");
}

}  // namespace hpcboot

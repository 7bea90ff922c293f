#include "hpcboot/version.hpp"

namespace hpcboot {

std::string_view version() noexcept {
  return HPCBOOT_VERSION;
}

}  // namespace hpcboot

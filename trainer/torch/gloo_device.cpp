#include "gloo_device.hpp"

#include "hpcboot/error.hpp"
#include "texts.hpp"

namespace hpcboot {

compat::GlooDevice make_gloo_device(const std::optional<std::string>& interface, bool on_one_host) {
  try {
    if (interface) return compat::gloo_device_of_interface(*interface);
    // Gloo's default, the address of this host's name, fails if that name does not resolve.
    return on_one_host ? compat::gloo_device_of_host("127.0.0.1") : compat::default_gloo_device();
  } catch (const std::exception& cause) {
    throw Error(ErrorCode::no_usable_interface,
                "Gloo cannot use " +
                    (interface ? "the interface '" + *interface + "'"
                               : std::string("the address of this host's name")) +
                    " (" + first_line(cause.what()) + ")",
                "a network interface that is up and has an address",
                "set HPCBOOT_INTERFACE to one, see `hpcboot show`");
  }
}

}  // namespace hpcboot

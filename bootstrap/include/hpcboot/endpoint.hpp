#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpcboot/env.hpp"
#include "hpcboot/facts.hpp"

namespace hpcboot {

/// The interface for traffic between ranks: the one named by HPCBOOT_INTERFACE, else the best of
/// those that are up and that GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME allow, if the user set
/// them. Order of preference: Slingshot (hsn*) and InfiniBand; the route to the known addresses of
/// other hosts; the default route; links that reach other hosts by themselves before veth and
/// similar; IPv4 before IPv6; speed; name. Never loopback or link-local addresses; bridges of
/// containers and virtual machines, tunnels and dummies only if such a route uses them. Link types
/// come from `facts`; if missing there, they are inferred from the interface name.
/// @param hosts the hosts of the other ranks, as far as known: only addresses are used, names are
///        not resolved. MASTER_ADDR is used, too.
/// @return nullopt if no interface fits, or if facts.interfaces is unknown.
/// @throws Error{no_usable_interface} if the interface named by HPCBOOT_INTERFACE does not exist.
std::optional<Interface> choose_interface(const Env& env, const Facts& facts,
                                          const std::vector<std::string>& hosts = {});

/// A port that every rank derives from the identity of this launch, in the range 20000..32767. This
/// is below Linux's ephemeral range (ip_local_port_range, 32768..60999), so that no client socket
/// takes it; another server still may.
/// @param identity the job, step, restart and array ids, concatenated.
std::uint16_t derive_port(std::string_view identity);

/// The accelerator of this rank, among those that it may use.
struct DeviceChoice {
  std::optional<int> device;  ///< its index as seen by this process; empty if unknown
  /// The name of each usable device in the mask: "0", "GPU-…", "MIG-…", "0.1"; without a mask,
  /// numbers from 0.
  std::vector<std::string> visible;
  /// The index of this rank's device in `visible`: `device`, unless shows_first_only.
  std::size_t own = 0;
  /// The mask contains several MIG instances, of which CUDA shows a process only the first:
  /// `device` is 0.
  bool shows_first_only = false;
  std::string variable;  ///< the mask variable; empty for device files
  /// For the user: a mask that shows fewer devices than it lists, or none; ranks that share
  /// devices; a device order that could not be applied.
  std::string note;
};

/// The device for a local rank: 0 if one device is visible, else by HPCBOOT_DEVICE_ORDER or the
/// order of the site, else local_rank modulo the number of visible devices. Visible devices come
/// from CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES or ZE_AFFINITY_MASK, each
/// interpreted as by its runtime, else from facts.device_count. HIP's mask is relative to ROCR's.
///
/// HPCBOOT_DEVICE_ORDER: "linear"; "reverse", the last device for local rank 0; a list such as
/// "3,2,1,0"; "numa", one of the devices nearest to the CPUs that this process may run on, by
/// facts.device_distance.
/// @throws Error{malformed_value} for any other value, or a list with a device that is not visible
DeviceChoice choose_device(const Env& env, const Facts& facts, int local_rank,
                           std::optional<int> local_size);

/// The masks that restrict a program to its own device, with the device names of the launcher's
/// masks: {"CUDA_VISIBLE_DEVICES", "GPU-…"}. Empty if at most one device is visible.
std::vector<std::pair<std::string, std::string>> own_device_masks(const Env& env,
                                                                  const DeviceChoice& choice);

/// Do two host names denote the same host? Compares the first label without case, so that "n1" and
/// "n1.cluster" match; addresses match only if equal.
bool same_host(std::string_view a, std::string_view b);

/// Is `host` an IPv4 or IPv6 address, not a name?
bool is_numeric_address(std::string_view host);

/// "localhost", ::1 or an address in 127.0.0.0/8: differs on every node.
bool is_loopback(std::string_view address);

}  // namespace hpcboot

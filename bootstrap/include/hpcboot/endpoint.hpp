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

/// The interface that traffic between ranks should use: the one named by HPCBOOT_INTERFACE, else
/// the best of those that are up, and that GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME allow if the
/// user has set them. In this order: Slingshot (hsn*) and InfiniBand; the route to the addresses
/// that are known of other hosts; the default route; links that lead to other hosts by themselves
/// before veth and the like; IPv4 before IPv6; speed; name. Never loopback or link-local addresses,
/// and bridges of containers and virtual machines, tunnels or dummies only if such a route leads
/// over them. facts tell what the kernel knows; names stand in where facts do not have it.
/// @param hosts of the other ranks, as far as known: addresses count, names are not resolved.
///        MASTER_ADDR counts too.
/// @return nullopt if nothing fits, or if facts.interfaces is not known.
/// @throws Error{no_usable_interface} if HPCBOOT_INTERFACE names one that is not there.
std::optional<Interface> choose_interface(const Env& env, const Facts& facts,
                                          const std::vector<std::string>& hosts = {});

/// A port that every rank derives alike from what identifies this launch. It lies in 20000..32767,
/// below Linux's ephemeral range (ip_local_port_range, 32768..60999), so that no client socket
/// takes it; another server still may.
/// @param identity job, step, restart and array ids joined.
std::uint16_t derive_port(std::string_view identity);

/// Which accelerator is this rank's, of those that it may use.
struct DeviceChoice {
  std::optional<int> device;  ///< its number as this process counts; empty where none is known
  /// What the mask calls each device that may be used: "0", "GPU-…", "MIG-…", "0.1"; numbers from 0
  /// without a mask.
  std::vector<std::string> visible;
  /// The place of this rank's own in `visible`: `device`, unless shows_first_only.
  std::size_t own = 0;
  /// The mask holds several MIG instances, of which CUDA shows a process the first: `device` is 0.
  bool shows_first_only = false;
  std::string variable;  ///< the mask that gave them; empty for device files
  /// For people: a mask that shows less than it lists, or nothing; ranks that share devices; an
  /// order that could not be kept.
  std::string note;
};

/// The device for a local rank: 0 if one is visible, else by HPCBOOT_DEVICE_ORDER or the order of
/// the site, else local_rank modulo the number visible. What is visible comes from
/// CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES or ZE_AFFINITY_MASK, each read
/// as its runtime reads it, else from facts.device_count. HIP's mask counts within ROCR's.
///
/// HPCBOOT_DEVICE_ORDER: "linear"; "reverse", the last for local rank 0; a list such as "3,2,1,0";
/// "numa", one of those nearest to the CPUs that this process may run on, by facts.device_distance.
/// @throws Error{malformed_value} for any other, or a list with a device that is not visible
DeviceChoice choose_device(const Env& env, const Facts& facts, int local_rank,
                           std::optional<int> local_size);

/// The masks that leave a program its own device only, by the names that the launcher's masks use:
/// {"CUDA_VISIBLE_DEVICES", "GPU-…"}. Empty where there is nothing to narrow: none or one visible.
std::vector<std::pair<std::string, std::string>> own_device_masks(const Env& env,
                                                                  const DeviceChoice& choice);

/// Do two host names mean one host? Compared by first label without case, so that "n1" and
/// "n1.cluster" do; addresses only when they are one.
bool same_host(std::string_view a, std::string_view b);

/// An IPv4 or IPv6 address, not a name?
bool is_numeric_address(std::string_view host);

/// "localhost", ::1 or an address of 127.0.0.0/8: another host on every node.
bool is_loopback(std::string_view address);

}  // namespace hpcboot

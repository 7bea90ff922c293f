#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/env.hpp"

namespace hpcboot {

/// One address of one network interface of this host.
struct Interface {
  std::string name;     ///< as the kernel says it: "eth0", "ib0", "hsn0"
  std::string address;  ///< numeric, IPv4 or IPv6, without scope
  bool ipv6 = false;
  bool up = true;      ///< switched on, and with a carrier if its kind has one
  int speed_mbps = 0;  ///< from sysfs; 0 if the driver does not say
  /// What made it, as rtnetlink says it (IFLA_INFO_KIND): "bridge", "veth", "tun", "vlan"; empty
  /// for what no such software made: hardware, as a rule.
  std::optional<std::string> kind = std::nullopt;
  /// Does it stand for a device on a bus (PCI, virtio, USB)? Looked up only if `kind` is empty.
  std::optional<bool> has_device = std::nullopt;
  std::optional<bool> infiniband = std::nullopt;  ///< is its link layer InfiniBand (IPoIB)?
  /// The kinds of the links that are ports of this bridge or bond, each once.
  std::optional<std::vector<std::string>> port_kinds = std::nullopt;
};

/// One route of the kernel's main table.
struct Route {
  std::string destination;  ///< numeric address of the network: "10.0.0.0", "::"
  int prefix_length = 0;    ///< 0 for the default route
  std::string interface;    ///< the name of the link that it leads over
  std::int64_t metric = 0;  ///< of two routes to one network the kernel takes the lower
};

/// More routes than these are neither gathered nor read from a capture.
constexpr std::size_t kMaxRoutes = 4096;

/// A process above this one. Its environment is the one that its program started with.
struct Ancestor {
  std::string name;    ///< as the kernel has it: the first 15 characters of the program's name
  int process_id = 0;  ///< 0 if unknown, as in a capture
  /// The launchers, by name, whose variables it had already, with the values that this process has.
  /// Empty if its environment is unknown: it is another user's, or above one that is.
  std::optional<std::vector<std::string>> held;
  bool is_slurm_task = false;  ///< SLURM_TASK_PID is its id, as in Facts::is_slurm_task
  /// Those of which it had variables with other values: of another launch, or changed since by a
  /// script.
  std::vector<std::string> changed = {};

  /// Is it known to have had the variables of `launcher` (true), or not to (false), or neither?
  std::optional<bool> holds(std::string_view launcher) const;

  /// Is it known to have had no variable of `launcher` (true), or some (false), or neither?
  std::optional<bool> lacks(std::string_view launcher) const;
};

/// The processes above this one, the parent first, at most 32, from /proc. Environments are read up
/// to the first that belongs to another user or cannot be read.
/// @param env whose launchers' variables are looked for in them
/// @param hostname for SLURM_TASK_PID, which counts processes of the host SLURMD_NODENAME
std::vector<Ancestor> ancestors_of_this_process(const Env& env,
                                                const std::optional<std::string>& hostname);
/// As gethostname() says it, short or fully qualified; empty if the kernel has none.
std::string own_hostname();

/// What is true of this process and host but does not stand in its environment. Every member is
/// optional: with a foreign environment (`--env-file`) nothing is known, and unknown never refuses.
struct Facts {
  std::optional<std::string> hostname;  ///< as own_hostname() says it
  std::optional<std::vector<Interface>> interfaces;
  std::optional<std::vector<Route>> routes;  ///< IPv4 and IPv6, over links that are up
  std::optional<bool>
      pmi_fd_is_open_socket;        ///< is the number in PMI_FD an open socket of this process?
  std::optional<int> device_count;  ///< accelerators visible as device files, before any mask
  /// NUMA distance (10 is local) of each accelerator in the order of PCI addresses from the CPUs
  /// that this process may run on; looked up only where HPCBOOT_DEVICE_ORDER or the site asks.
  std::optional<std::vector<int>> device_distance;
  std::optional<int> user_id;
  std::optional<std::string> apinfo;  ///< the bytes of the file that PALS_APINFO names
  /// Is SLURM_TASK_PID this very process, on the host that SLURMD_NODENAME names? Then srun started
  /// it, and what other launchers have set was inherited. False says nothing: a task's children and
  /// containers have other process ids.
  std::optional<bool> is_slurm_task;
  /// The processes above this one, the parent first, at most 32. Looked up only if several
  /// launchers are present: they prove which of these started the other.
  std::optional<std::vector<Ancestor>> ancestors;

  /// Looks at this process and host. Reads /sys, /dev, /proc, the kernel's tables of links and
  /// routes (rtnetlink) and the file of PALS_APINFO; opens no connection.
  /// @param env for PMI_FD, whose descriptor is looked at, SLURM_TASK_PID, PALS_APINFO,
  ///        HPCBOOT_DEVICE_ORDER, and the launchers that are present.
  static Facts of_this_process(const Env& env);
};

}  // namespace hpcboot

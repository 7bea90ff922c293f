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
  std::string name;     ///< as reported by the kernel: "eth0", "ib0", "hsn0"
  std::string address;  ///< numeric, IPv4 or IPv6, without scope
  bool ipv6 = false;
  bool up = true;      ///< administratively up, and with a carrier if its kind has one
  int speed_mbps = 0;  ///< from sysfs; 0 if the driver does not report it
  /// The kind of virtual link, as reported by rtnetlink (IFLA_INFO_KIND): "bridge", "veth", "tun",
  /// "vlan"; empty if there is none, as for most hardware.
  std::optional<std::string> kind = std::nullopt;
  /// Is it backed by a device on a bus (PCI, virtio, USB)? Determined only if `kind` is empty.
  std::optional<bool> has_device = std::nullopt;
  std::optional<bool> infiniband = std::nullopt;  ///< is its link layer InfiniBand (IPoIB)?
  /// The kinds of the links that are ports of this bridge or bond, each once.
  std::optional<std::vector<std::string>> port_kinds = std::nullopt;
};

/// One route of the kernel's main table.
struct Route {
  std::string destination;  ///< numeric address of the network: "10.0.0.0", "::"
  int prefix_length = 0;    ///< 0 for the default route
  std::string interface;    ///< the name of the outgoing link
  std::int64_t metric = 0;  ///< the kernel prefers the route with the lower metric
};

/// The maximum number of routes, both gathered and read from a capture.
constexpr std::size_t kMaxRoutes = 4096;

/// An ancestor process of this one. Its environment is the one that its program was started with.
struct Ancestor {
  std::string name;    ///< as reported by the kernel: the first 15 characters of the program's name
  int process_id = 0;  ///< 0 if unknown, as in a capture
  /// The names of the launchers whose variables it already had, with the same values as this
  /// process. Empty if its environment is unknown: it or a process below it belongs to another
  /// user.
  std::optional<std::vector<std::string>> held;
  bool is_slurm_task = false;  ///< its process id is SLURM_TASK_PID, as in Facts::is_slurm_task
  /// The launchers whose variables it had with other values: from another launch, or changed by a
  /// script since.
  std::vector<std::string> changed = {};

  /// Did it have the variables of `launcher`? nullopt if unknown.
  std::optional<bool> holds(std::string_view launcher) const;

  /// Did it have no variable of `launcher` at all? nullopt if unknown.
  std::optional<bool> lacks(std::string_view launcher) const;
};

/// The ancestors of this process, the parent first, at most 32, from /proc. Environments are read
/// up to the first process that belongs to another user or cannot be read.
/// @param env the environment of this process, with whose launchers they are compared
/// @param hostname for SLURM_TASK_PID, which is a process id on the host SLURMD_NODENAME
std::vector<Ancestor> ancestors_of_this_process(const Env& env,
                                                const std::optional<std::string>& hostname);
/// The host name as returned by gethostname(), short or fully qualified; empty if there is none.
std::string own_hostname();

/// Facts about this process and host that are not in its environment. Every member is optional: for
/// an environment from elsewhere (`--env-file`) nothing is known, and an unknown fact never causes
/// a refusal.
struct Facts {
  std::optional<std::string> hostname;  ///< as returned by own_hostname()
  std::optional<std::vector<Interface>> interfaces;
  std::optional<std::vector<Route>> routes;  ///< IPv4 and IPv6, over links that are up
  std::optional<bool>
      pmi_fd_is_open_socket;        ///< is the number in PMI_FD an open socket of this process?
  std::optional<int> device_count;  ///< accelerators visible as device files, before any mask
  /// NUMA distance (10 is local) of each accelerator, in the order of PCI addresses, from the CPUs
  /// that this process may run on; determined only if HPCBOOT_DEVICE_ORDER or the site requires it.
  std::optional<std::vector<int>> device_distance;
  std::optional<int> user_id;
  std::optional<std::string> apinfo;  ///< the content of the file that PALS_APINFO names
  /// Is SLURM_TASK_PID this process, on the host that SLURMD_NODENAME names? If so, srun started
  /// it, and the variables of other launchers were inherited. False is inconclusive: a task's
  /// children and containers have other process ids.
  std::optional<bool> is_slurm_task;
  /// The ancestors of this process, the parent first, at most 32. Determined only if several
  /// launchers are present: they prove which launcher started the other.
  std::optional<std::vector<Ancestor>> ancestors;

  /// Examines this process and host. Reads /sys, /dev, /proc, the kernel's tables of links and
  /// routes (rtnetlink) and the file that PALS_APINFO names; opens no connection.
  /// @param env for PMI_FD, whose descriptor is examined, SLURM_TASK_PID, PALS_APINFO,
  ///        HPCBOOT_DEVICE_ORDER, and the launchers that are present.
  static Facts of_this_process(const Env& env);
};

}  // namespace hpcboot

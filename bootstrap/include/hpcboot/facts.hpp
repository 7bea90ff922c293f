#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"

namespace hpcboot {

/// One address of one network interface of this host.
struct Interface {
  std::string name;     ///< as the kernel says it: "eth0", "ib0", "hsn0"
  std::string address;  ///< numeric, IPv4 or IPv6, without scope
  bool ipv6 = false;
  bool up = true;
  int speed_mbps = 0;  ///< from sysfs; 0 where the driver does not say
};

/// What is true of this process and host but does not stand in its environment. Every member is
/// optional: with a foreign environment (`--env-file`) nothing is known, and unknown never refuses.
struct Facts {
  std::optional<std::string> hostname;  ///< as gethostname() says it, short or fully qualified
  std::optional<std::vector<Interface>> interfaces;
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

  /// Looks at this process and host. Reads /sys, /dev, /proc and the file of PALS_APINFO, opens no
  /// connection.
  /// @param env for PMI_FD, whose descriptor is looked at, SLURM_TASK_PID, PALS_APINFO and
  ///        HPCBOOT_DEVICE_ORDER.
  static Facts of_this_process(const Env& env);
};

}  // namespace hpcboot

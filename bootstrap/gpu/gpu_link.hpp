#pragma once

#include <optional>
#include <string>

// How two GPUs of a host are joined.
namespace hpcboot::gpu {

/// From the fastest to the slowest; `nvidia-smi topo -m` calls those of PCIe PIX, PXB, PHB, NODE
/// and SYS.
enum class LinkKind {
  same_gpu,
  nvlink,
  same_board,      ///< PCIe, two GPUs of one board
  one_switch,      ///< PCIe
  switches,        ///< PCIe, several switches, without a host bridge
  host_bridge,     ///< PCIe
  one_numa_node,   ///< between PCIe host bridges of one NUMA node
  across_sockets,  ///< the link between CPUs, or between NUMA nodes
};

struct GpuLink {
  LinkKind kind = LinkKind::same_gpu;
  int nvlinks = 0;  ///< active ones of the first GPU
  /// Whether each GPU reads the other's memory. If not, bytes pass through the host's memory.
  bool has_peer_access = true;
};

/// @param a,b PCI addresses of GPUs of this host, "0000:65:00.0"
/// @return nothing if NVML is missing, or does not know both
std::optional<GpuLink> link_of_gpus(const std::string& a, const std::string& b);

/// Whether bytes pass more slowly over `a`, as far as the kinds tell.
bool is_slower(const GpuLink& a, const GpuLink& b);

/// "NVLink x18", "PCIe switch", "across sockets, no P2P".
std::string text_of(const GpuLink& link);

}  // namespace hpcboot::gpu

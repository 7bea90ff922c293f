#include "gpu/gpu_link.hpp"

#include "gpu/nvml.hpp"

namespace hpcboot::gpu {
namespace {

// Source of the functions and numbers: NVML API Reference Manual.
constexpr int kStatusOk = 0;
constexpr int kReading = 0;
constexpr int kOverNvlink = 2;
constexpr unsigned kMostNvlinks = 64;  // NVML knows fewer

struct Library {
  Library() {
    nvml.load(peer_status, "nvmlDeviceGetP2PStatus");
    nvml.load(common_ancestor, "nvmlDeviceGetTopologyCommonAncestor");
    nvml.load(nvlink_state, "nvmlDeviceGetNvLinkState");
  }

  bool can(Nvml::Device a, Nvml::Device b, int what) const {
    int status = -1;
    return peer_status(a, b, what, &status) == Nvml::kSuccess && status == kStatusOk;
  }

  int active_nvlinks(Nvml::Device device) const {
    int count = 0;
    for (unsigned link = 0; link < kMostNvlinks; ++link) {
      int is_active = 0;
      if (nvlink_state(device, link, &is_active) != Nvml::kSuccess) break;
      count += is_active == 1 ? 1 : 0;
    }
    return count;
  }

  Nvml nvml;
  int (*peer_status)(Nvml::Device, Nvml::Device, int, int*) = nullptr;
  int (*common_ancestor)(Nvml::Device, Nvml::Device, int*) = nullptr;
  int (*nvlink_state)(Nvml::Device, unsigned, int*) = nullptr;
};

std::optional<LinkKind> kind_of_level(int level) {
  switch (level) {
    case 0:
      return LinkKind::same_board;
    case 10:
      return LinkKind::one_switch;
    case 20:
      return LinkKind::switches;
    case 30:
      return LinkKind::host_bridge;
    case 40:
      return LinkKind::one_numa_node;
    case 50:
      return LinkKind::across_sockets;
    default:
      return std::nullopt;
  }
}

std::optional<GpuLink> link_of(const Library& library, Nvml::Device a, Nvml::Device b) {
  const bool has_peer_access = library.can(a, b, kReading) && library.can(b, a, kReading);
  if (library.can(a, b, kOverNvlink))
    return GpuLink{LinkKind::nvlink, library.active_nvlinks(a), has_peer_access};
  int level = 0;
  if (library.common_ancestor(a, b, &level) != Nvml::kSuccess) return std::nullopt;
  const auto kind = kind_of_level(level);
  if (!kind) return std::nullopt;
  return GpuLink{*kind, 0, has_peer_access};
}

std::string text_of_kind(const GpuLink& link) {
  switch (link.kind) {
    case LinkKind::same_gpu:
      return "same GPU";
    case LinkKind::nvlink:
      return link.nvlinks > 0 ? "NVLink x" + std::to_string(link.nvlinks) : "NVLink";
    case LinkKind::same_board:
      return "same board";
    case LinkKind::one_switch:
      return "PCIe switch";
    case LinkKind::switches:
      return "PCIe switches";
    case LinkKind::host_bridge:
      return "PCIe host bridge";
    case LinkKind::one_numa_node:
      return "one NUMA node";
    case LinkKind::across_sockets:
      return "across sockets";
  }
  return "";
}

}  // namespace

std::optional<GpuLink> link_of_gpus(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return std::nullopt;
  if (a == b) return GpuLink{};
  try {
    const Library library;
    Nvml::Device const first = library.nvml.device_at(a);
    Nvml::Device const second = library.nvml.device_at(b);
    if (first == nullptr || second == nullptr) return std::nullopt;
    return link_of(library, first, second);
  } catch (const Nvml::Unavailable&) {
    return std::nullopt;
  }
}

bool is_slower(const GpuLink& a, const GpuLink& b) {
  if (a.has_peer_access != b.has_peer_access) return !a.has_peer_access;
  if (a.kind != b.kind) return a.kind > b.kind;
  return a.nvlinks < b.nvlinks;
}

std::string text_of(const GpuLink& link) {
  return text_of_kind(link) + (link.has_peer_access ? "" : ", no P2P");
}

}  // namespace hpcboot::gpu

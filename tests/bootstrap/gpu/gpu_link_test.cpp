// What CUDA's driver and NVML say of GPUs, and of the links between them. Both are replaced:
// support/fake_driver.cpp.
#include "gpu/gpu_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/cuda_driver.hpp"

namespace hpcboot::gpu {
namespace {

TEST(CudaDriver, SaysWhichGpuIsWhich) {
  EXPECT_EQ(pci_address_of(0), "0000:65:00.0");
  EXPECT_EQ(pci_address_of(1), "0000:17:00.0");
  EXPECT_EQ(pci_address_of(7), std::nullopt);
  EXPECT_EQ(name_of_gpu(1), "NVIDIA H200");
  EXPECT_EQ(name_of_gpu(7), std::nullopt);
}

std::string link_between(const char* a, const char* b) {
  const auto link = link_of_gpus(a, b);
  return link ? text_of(*link) : "unknown";
}

TEST(GpuLink, IsWhatNvmlSays) {
  EXPECT_EQ(link_between("0000:65:00.0", "0000:17:00.0"), "NVLink x3");
  EXPECT_EQ(link_between("0000:65:00.0", "0000:20:00.0"), "PCIe switch");
  EXPECT_EQ(link_between("0000:65:00.0", "0000:30:00.0"), "PCIe switches");
  EXPECT_EQ(link_between("0000:65:00.0", "0000:40:00.0"), "PCIe host bridge");
  EXPECT_EQ(link_between("0000:65:00.0", "0000:50:00.0"), "one NUMA node");
  EXPECT_EQ(link_between("0000:65:00.0", "0000:60:00.0"), "across sockets, no P2P");
  EXPECT_EQ(link_between("0000:17:00.0", "0000:60:00.0"), "same board, no P2P");
}

TEST(GpuLink, ADriverThatKnowsNoLastLinkIsNotAskedForEver) {
  EXPECT_EQ(link_between("0000:40:00.0", "0000:50:00.0"), "NVLink x63");
}

TEST(GpuLink, OneGpuHasNoneWithItself) {
  EXPECT_EQ(link_between("0000:65:00.0", "0000:65:00.0"), "same GPU");
}

TEST(GpuLink, OfAGpuThatNvmlDoesNotKnowIsUnknown) {
  EXPECT_EQ(link_between("0000:65:00.0", "0000:99:00.0"), "unknown");
  EXPECT_EQ(link_between("", "0000:65:00.0"), "unknown");
  EXPECT_EQ(link_between("", ""), "unknown");
  // A level that this version does not know.
  EXPECT_EQ(link_between("0000:20:00.0", "0000:30:00.0"), "unknown");
}

TEST(GpuLink, TheSlowerKindIsTold) {
  const GpuLink nvlink{LinkKind::nvlink, 18, true};
  const GpuLink less{LinkKind::nvlink, 6, true};
  const GpuLink pcie{LinkKind::host_bridge, 0, true};
  const GpuLink through_host{LinkKind::one_switch, 0, false};
  EXPECT_TRUE(is_slower(less, nvlink));
  EXPECT_TRUE(is_slower(pcie, less));
  EXPECT_TRUE(is_slower(through_host, pcie));
  EXPECT_FALSE(is_slower(pcie, through_host));
  EXPECT_FALSE(is_slower(nvlink, nvlink));
}

}  // namespace
}  // namespace hpcboot::gpu

#include "hpcboot/export.hpp"

#include <gtest/gtest.h>

namespace hpcboot {
namespace {

// All lines except the mark, which export_mark_test.cpp tests.
std::string exports_of(const Resolution& r, const Env& env = Env()) {
  auto variables = torch_env(r, env);
  EXPECT_EQ(variables.back().first, "HPCBOOT_EXPORTED");
  variables.pop_back();
  return to_shell(variables);
}

TEST(Export, GivesWhatTorchReads) {
  Resolution r;
  r.launcher = "slurm";
  r.placement = {3, 4, 1, 2, 1, 2};
  r.master_addr = "n1";
  r.master_port = 20001;
  r.interface = "hsn0";
  EXPECT_EQ(exports_of(r),
            "export RANK=3\nexport WORLD_SIZE=4\nexport LOCAL_RANK=1\nexport LOCAL_WORLD_SIZE=2\n"
            "export GROUP_RANK=1\nexport GROUP_WORLD_SIZE=2\nexport MASTER_ADDR=n1\nexport "
            "MASTER_PORT=20001\n"
            "export NCCL_SOCKET_IFNAME='=hsn0'\nexport GLOO_SOCKET_IFNAME=hsn0\n");
}

TEST(Export, LeavesInterfacesThatTheUserChose) {
  Resolution r;
  r.launcher = "slurm";
  r.interface = "hsn0";
  const auto names = [&](const char* dump) {
    std::string all;
    for (const auto& [name, value] : torch_env(r, Env::parse(dump))) {
      if (name.find("IFNAME") != std::string::npos) all += name + "=" + value + " ";
    }
    return all;
  };
  EXPECT_EQ(names("NCCL_SOCKET_IFNAME=hsn\n"), "GLOO_SOCKET_IFNAME=hsn0 ");
  EXPECT_EQ(names("GLOO_SOCKET_IFNAME=hsn0\n"), "NCCL_SOCKET_IFNAME==hsn0 ");
  EXPECT_EQ(names("GLOO_SOCKET_IFNAME=hsn0\nNCCL_SOCKET_IFNAME=^docker\n"), "");
  EXPECT_EQ(names("NCCL_SOCKET_IFNAME=\n"), "NCCL_SOCKET_IFNAME==hsn0 GLOO_SOCKET_IFNAME=hsn0 ");
}

TEST(Export, LeavesOutWhatIsUnknown) {
  Resolution r;
  r.launcher = "openmpi";
  r.placement.world_size = 2;
  EXPECT_EQ(exports_of(r), "export RANK=0\nexport WORLD_SIZE=2\nexport LOCAL_RANK=0\n");
}

TEST(Export, NeverGivesARankWhereNoLauncherPlacedTheProcess) {
  Resolution r;
  r.launcher = "single";
  r.placement.local_size = 1;
  r.master_addr = "n1";
  r.master_port = 20001;
  r.interface = "eth0";
  EXPECT_EQ(exports_of(r), "export MASTER_ADDR=n1\nexport MASTER_PORT=20001\n");
}

}  // namespace
}  // namespace hpcboot

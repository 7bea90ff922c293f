#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hpcboot/endpoint.hpp"
#include "support/expect_error.hpp"

// Which device a rank uses: masks of all vendors, orders, and the masks for a program with one
// device.
namespace hpcboot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

struct Case {
  const char* dump;
  std::optional<int> device_files;
  int local_rank;
  std::optional<int> device;
};

DeviceChoice chosen(const char* dump, std::optional<int> device_files, int local_rank,
                    std::optional<int> local_size = std::nullopt) {
  Facts facts;
  facts.device_count = device_files;
  return choose_device(Env::parse(dump), facts, local_rank, local_size);
}

TEST(Device, FollowsTheMasks) {
  const Case cases[] = {
      {"", {}, 1, {}},                        // nothing known
      {"", 0, 1, {}},                         // none there
      {"", 4, 2, 2},                          // one each
      {"", 1, 3, 0},                          // one for all
      {"CUDA_VISIBLE_DEVICES=1\n", 4, 1, 0},  // srun --gpus-per-task=1: mace#435, jax#28194
      {"CUDA_VISIBLE_DEVICES=0,1\n", 4, 1, 1},
      {"CUDA_VISIBLE_DEVICES=0,1\n", {}, 3, 1},  // more ranks than devices: jax#29669
      {"CUDA_VISIBLE_DEVICES=\n", 4, 0, {}},     // an empty mask hides all
      {"CUDA_VISIBLE_DEVICES=-1\n", 4, 0, {}},
      {"CUDA_VISIBLE_DEVICES=NoDevFiles\n", 4, 0, {}},
      {"ROCR_VISIBLE_DEVICES=\n", {}, 0, {}},
      {"HIP_VISIBLE_DEVICES=-1\n", {}, 0, {}},
      {"ZE_AFFINITY_MASK=\n", {}, 0, {}},
      {"CUDA_VISIBLE_DEVICES=2,-1,3\n", 4, 1, 0},  // the list ends at -1
      {"CUDA_VISIBLE_DEVICES=0,x,1\n", {}, 2, 0},
      {"CUDA_VISIBLE_DEVICES=all\n", 4, 0, {}},
      {"CUDA_VISIBLE_DEVICES=0, 1\n", 4, 1, 1},
      {"CUDA_VISIBLE_DEVICES=GPU-aa,GPU-bb\n", {}, 1, 1},
      {"CUDA_VISIBLE_DEVICES=MIG-aa\n", {}, 1, 0},
      {"CUDA_VISIBLE_DEVICES=MIG-aa,MIG-bb\n", {}, 1, 0},  // CUDA shows the first MIG instance only
      {"ROCR_VISIBLE_DEVICES=0,1,2,3\nHIP_VISIBLE_DEVICES=0,1\n", {}, 3, 1},  // narrowed twice
      {"ROCR_VISIBLE_DEVICES=GPU-aa,GPU-bb\n", {}, 1, 1},
      {"ZE_AFFINITY_MASK=0.0,0.1\n", {}, 1, 1},
      {"ZE_AFFINITY_MASK=0.0,0.1,1.0,1.1\n", {}, 3, 3},
      // ezpz PR#187: "device 11 of 6" because tiles were taken for devices.
      {"ZE_AFFINITY_MASK=0.0,0.1,1.0,1.1\nZE_FLAT_DEVICE_HIERARCHY=COMPOSITE\n", {}, 3, 1},
      {"ZE_AFFINITY_MASK=0.0,0.1\nZE_FLAT_DEVICE_HIERARCHY=COMPOSITE\n", {}, 1, 0},
      {"CUDA_VISIBLE_DEVICES=0,1\nROCR_VISIBLE_DEVICES=0,1\nZE_AFFINITY_MASK=0,1\n",
       {},
       1,
       1},  // Slurm sets all
  };
  for (const Case& c : cases)
    EXPECT_EQ(chosen(c.dump, c.device_files, c.local_rank).device, c.device)
        << c.dump << c.local_rank;
}

// NVIDIA's CUDA Programming Guide, "CUDA_VISIBLE_DEVICES"; PyTorch's test of
// _parse_visible_devices; ROCr's amd_filter_device.cpp; ROCclr's rocdevice.cpp.
TEST(Device, NoMaskHasMoreThan4096Entries) {
  std::string mask = "CUDA_VISIBLE_DEVICES=0";
  for (int i = 1; i < 5000; ++i) mask += "," + std::to_string(i);
  EXPECT_EQ(chosen(mask.c_str(), 5000, 4095).device, 4095);
  EXPECT_EQ(chosen(mask.c_str(), 5000, 4096).device, 0);
}

TEST(Device, MasksAreReadAsTheRuntimesReadThem) {
  struct MaskCase {
    const char* dump;
    std::vector<std::string> visible;
    const char* note;  // a part of it; empty: no note
  };
  const MaskCase cases[] = {
      {"CUDA_VISIBLE_DEVICES=2,1\n", {"2", "1"}, ""},
      {"CUDA_VISIBLE_DEVICES=0,2,-1,1\n", {"0", "2"}, ""},
      {"CUDA_VISIBLE_DEVICES= 0 ,\t1\n", {"0", "1"}, ""},
      {"CUDA_VISIBLE_DEVICES=+1,+2,-3\n", {"1", "2"}, ""},
      {"CUDA_VISIBLE_DEVICES=1gpu2,2ampere\n", {"1", "2"}, ""},
      {"CUDA_VISIBLE_DEVICES=0,,1\n", {"0"}, "CUDA stops reading the list at ''"},
      {"CUDA_VISIBLE_DEVICES=0,1,\n", {"0", "1"}, "CUDA stops reading the list at ''"},
      {"CUDA_VISIBLE_DEVICES=0,x,1\n", {"0"}, "CUDA stops reading the list at 'x'"},
      {"CUDA_VISIBLE_DEVICES=+-1,0\n", {}, "CUDA stops reading the list at '+-1'"},
      {"CUDA_VISIBLE_DEVICES=0,1,0\n", {}, "'0' is listed twice"},
      {"CUDA_VISIBLE_DEVICES=1, 1\n", {}, "listed twice"},
      {"CUDA_VISIBLE_DEVICES=0,4,1\n", {"0"}, "ends before 4: there are only 4 devices"},
      {"CUDA_VISIBLE_DEVICES=GPU-a,GPU-b\n", {"GPU-a", "GPU-b"}, ""},
      {"CUDA_VISIBLE_DEVICES=GPU-a,1\n", {"GPU-a"}, "CUDA stops reading the list at '1'"},
      {"CUDA_VISIBLE_DEVICES=1,GPU-a\n", {"1"}, "CUDA stops reading the list at 'GPU-a'"},
      {"CUDA_VISIBLE_DEVICES=GPU-a,MIG-b\n", {"GPU-a"}, "CUDA stops reading the list at 'MIG-b'"},
      {"CUDA_VISIBLE_DEVICES=GPU-a,GPU-a\n", {}, "listed twice"},
      {"CUDA_VISIBLE_DEVICES=-1\n", {}, "'-1' hides every device"},
      {"CUDA_VISIBLE_DEVICES=\n", {}, "CUDA_VISIBLE_DEVICES='' hides every device"},
      {"CUDA_VISIBLE_DEVICES=NoDevFiles\n", {}, ""},  // Slurm: no device requested
      {"CUDA_VISIBLE_DEVICES=all\n", {}, "CUDA stops reading the list at 'all'"},
      {"ROCR_VISIBLE_DEVICES= 2, +3\n", {"2", "3"}, ""},
      {"ROCR_VISIBLE_DEVICES=2,3,2,1\n",
       {"2", "3"},
       "ROCr stops reading the list at '2', which is listed twice"},
      {"ROCR_VISIBLE_DEVICES=0,GPU-a,-1,1\n", {"0", "GPU-a"}, ""},
      {"ROCR_VISIBLE_DEVICES=0x,1\n", {}, "ROCr stops reading the list at '0x'"},
      {"ROCR_VISIBLE_DEVICES=\n", {}, "hides every device"},
      {"HIP_VISIBLE_DEVICES=1,0,1\n", {"1", "0"}, ""},  // counts once
      {"HIP_VISIBLE_DEVICES=0, 1\n", {"0"}, "HIP stops reading the list at ' 1'"},
      {"HIP_VISIBLE_DEVICES=+1\n", {}, "HIP stops reading the list at '+1'"},
      {"HIP_VISIBLE_DEVICES=-1\n", {}, "hides every device"},
      {"HIP_VISIBLE_DEVICES=\n", {"0", "1", "2", "3"}, ""},  // ROCclr treats it as unset
      {"ROCR_VISIBLE_DEVICES=4,5,6\nHIP_VISIBLE_DEVICES=2,0\n", {"6", "4"}, ""},
      {"ROCR_VISIBLE_DEVICES=4,5\nHIP_VISIBLE_DEVICES=1\n", {"5"}, ""},
      {"ROCR_VISIBLE_DEVICES=4,5\nHIP_VISIBLE_DEVICES=\n", {"4", "5"}, ""},
      {"ROCR_VISIBLE_DEVICES=GPU-a,GPU-b\nHIP_VISIBLE_DEVICES=1,0\n", {"GPU-b", "GPU-a"}, ""},
      {"ROCR_VISIBLE_DEVICES=2,3\nHIP_VISIBLE_DEVICES=2,3\n",
       {},
       "HIP_VISIBLE_DEVICES='2,3': HIP stops reading the list at '2': it indexes the 2 devices of"},
      {"ROCR_VISIBLE_DEVICES=\nHIP_VISIBLE_DEVICES=0\n", {}, "indexes the 0 devices of"},
  };
  for (const MaskCase& c : cases) {
    const DeviceChoice choice = chosen(c.dump, 4, 0, 1);
    EXPECT_EQ(choice.visible, c.visible) << c.dump;
    EXPECT_EQ(choice.device.has_value(), !c.visible.empty()) << c.dump;
    if (*c.note == '\0') {
      EXPECT_EQ(choice.note, "") << c.dump;
    } else {
      EXPECT_THAT(choice.note, HasSubstr(c.note)) << c.dump;
    }
  }
}

// Flux sets this for every job without GPUs.
TEST(Device, NothingIsHiddenOnAHostWithoutDevices) {
  const DeviceChoice choice = chosen("CUDA_VISIBLE_DEVICES=-1\n", 0, 0, 1);
  EXPECT_FALSE(choice.device.has_value());
  EXPECT_EQ(choice.note, "");
}

TEST(Device, FollowsTheOrder) {
  const Case cases[] = {
      {"HPCBOOT_DEVICE_ORDER=linear\n", 4, 1, 1},
      {"HPCBOOT_DEVICE_ORDER=reverse\n", 4, 0, 3},
      {"HPCBOOT_DEVICE_ORDER=reverse\n", 4, 3, 0},
      {"HPCBOOT_DEVICE_ORDER=reverse\n", 4, 5, 2},  // wraps
      {"HPCBOOT_DEVICE_ORDER=reverse\n", 1, 0, 0},  // a single device
      {"HPCBOOT_DEVICE_ORDER=reverse\n", 0, 0, {}},
      {"HPCBOOT_DEVICE_ORDER=reverse\nCUDA_VISIBLE_DEVICES=2,3\n", 4, 0, 1},
      {"HPCBOOT_DEVICE_ORDER=2,0\n", 4, 0, 2},
      {"HPCBOOT_DEVICE_ORDER=2,0\n", 4, 1, 0},
      {"HPCBOOT_DEVICE_ORDER=2,0\n", 4, 2, 2},
      // radical.pilot#3022, and the user guide's set_affinity_gpu_polaris.sh.
      {"PBS_JOBID=1.polaris-pbs-01.hsn.cm.polaris.alcf.anl.gov\n", 4, 0, 3},
      {"PBS_JOBID=1.polaris-pbs-01.hsn.cm.polaris.alcf.anl.gov\n", 4, 3, 0},
      {"PBS_JOBID=1.polaris-pbs-01.hsn.cm.polaris.alcf.anl.gov\nHPCBOOT_DEVICE_ORDER=linear\n", 4,
       0, 0},
      {"PBS_JOBID=1.polaris-pbs-01.hsn.cm.polaris.alcf.anl.gov\nCUDA_VISIBLE_DEVICES=2\n", 4, 0, 0},
  };
  for (const Case& c : cases)
    EXPECT_EQ(chosen(c.dump, c.device_files, c.local_rank).device, c.device)
        << c.dump << c.local_rank;
}

TEST(Device, AnOrderThatCannotBeIsRefused) {
  for (const char* order : {"backwards", "3,2,1,x", "0,,1", "-1,0", "0,4"}) {
    const std::string dump = std::string("HPCBOOT_DEVICE_ORDER=") + order + "\n";
    test::expect_error(
        ErrorCode::malformed_value, [&] { chosen(dump.c_str(), 4, 0); },
        std::string("HPCBOOT_DEVICE_ORDER='") + order + "'");
  }
  test::expect_error(
      ErrorCode::malformed_value, [] { chosen("HPCBOOT_DEVICE_ORDER=0,4\n", 4, 0); },
      "visible devices, numbered 0 to 3");
}

TEST(Device, NearestByNuma) {
  struct NumaCase {
    const char* masks;
    int device_files;
    std::vector<int> distances;
    int local_rank;
    int device;
    bool note;
  };
  const NumaCase cases[] = {
      {"", 4, {32, 32, 12, 10}, 0, 3, false},  // one is nearest for every rank
      {"", 4, {32, 32, 12, 10}, 1, 3, false},
      {"", 4, {32, 32, 12, 12}, 0, 2, false},  // no device on this node: the next nearest
      {"", 4, {10, 10, 32, 32}, 1, 1, false},
      {"", 4, {32, 32, 10, 10}, 3, 3, false},
      {"", 4, {10, 10, 10, 10}, 3, 3, false},  // not bound: all are equally near
      {"CUDA_VISIBLE_DEVICES=1,3\n", 4, {10, 32, 32, 10}, 0, 1, false},
      {"ROCR_VISIBLE_DEVICES=3,0\n", 0, {10, 32, 32, 12}, 0, 1, false},
      // Numbers that do not identify the place on the bus.
      {"", 4, {}, 1, 1, true},
      {"", 4, {10, 32}, 1, 1, true},
      {"CUDA_VISIBLE_DEVICES=GPU-a,GPU-b\n", 4, {32, 10, 32, 32}, 0, 0, true},
      {"CUDA_VISIBLE_DEVICES=0,7\n", 4, {32, 10, 32, 32}, 1, 0, false},  // there is no 7
      {"ROCR_VISIBLE_DEVICES=0,7\n", 0, {32, 10, 32, 32}, 1, 1, true},
      {"ROCR_VISIBLE_DEVICES=2,3\nHIP_VISIBLE_DEVICES=0,1\n", 0, {32, 10, 32, 32}, 0, 0, true},
      {"ZE_AFFINITY_MASK=0,1\n", 0, {32, 10}, 0, 0, true},
  };
  for (const NumaCase& c : cases) {
    Facts facts;
    facts.device_count = c.device_files;
    if (!c.distances.empty()) facts.device_distance = c.distances;
    const DeviceChoice choice =
        choose_device(Env::parse(std::string("HPCBOOT_DEVICE_ORDER=numa\n") + c.masks), facts,
                      c.local_rank, std::nullopt);
    EXPECT_EQ(choice.device, c.device) << c.masks << c.local_rank;
    EXPECT_EQ(choice.note.find("take them in turn") != std::string::npos, c.note)
        << c.masks << choice.note;
  }
}

TEST(Device, SharingIsReported) {
  const char* two = "CUDA_VISIBLE_DEVICES=0,1\n";
  EXPECT_EQ(chosen(two, {}, 1, 4).note, "4 local ranks share 2 devices");
  EXPECT_EQ(chosen(two, {}, 1, 2).note, "");
  EXPECT_THAT(chosen("CUDA_VISIBLE_DEVICES=MIG-a,MIG-b\n", {}, 1, 2).note,
              HasSubstr("only the first of the 2 MIG instances"));
}

TEST(OwnDeviceMasks, KeepTheNamesOfTheMaskThatWasSet) {
  const auto masks = [](const char* dump, std::optional<int> device_files, int local_rank) {
    return own_device_masks(Env::parse(dump), chosen(dump, device_files, local_rank));
  };
  EXPECT_THAT(masks("", 4, 2), ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "2")));
  EXPECT_THAT(masks("HPCBOOT_DEVICE_ORDER=reverse\n", 4, 0),
              ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "3")));
  EXPECT_THAT(masks("CUDA_VISIBLE_DEVICES=2,3\n", 4, 1),
              ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "3")));
  EXPECT_THAT(masks("CUDA_VISIBLE_DEVICES=GPU-a,GPU-b\n", 4, 3),
              ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "GPU-b")));
  EXPECT_THAT(masks("CUDA_VISIBLE_DEVICES=MIG-a,MIG-b\n", 4, 1),
              ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "MIG-b")));
  EXPECT_THAT(masks("ROCR_VISIBLE_DEVICES=4,5\n", {}, 1),
              ElementsAre(Pair("ROCR_VISIBLE_DEVICES", "5")));
  // HIP indexes ROCR's list and honours CUDA's mask as its own: only one layer is narrowed.
  EXPECT_THAT(masks("ROCR_VISIBLE_DEVICES=4,5\nHIP_VISIBLE_DEVICES=0,1\n", {}, 1),
              ElementsAre(Pair("HIP_VISIBLE_DEVICES", "1")));
  EXPECT_THAT(masks("ROCR_VISIBLE_DEVICES=4,5,6\nHIP_VISIBLE_DEVICES=2,0\n", {}, 0),
              ElementsAre(Pair("HIP_VISIBLE_DEVICES", "2")));
  EXPECT_THAT(masks("CUDA_VISIBLE_DEVICES=0,3,9\n", 4, 1),
              ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "3")));
  EXPECT_THAT(masks("ZE_AFFINITY_MASK=0.0,0.1\n", {}, 1),
              ElementsAre(Pair("ZE_AFFINITY_MASK", "0.1")));
  EXPECT_THAT(
      masks("ZE_AFFINITY_MASK=0.0,0.1,1.0,1.1\nZE_FLAT_DEVICE_HIERARCHY=COMPOSITE\n", {}, 1),
      ElementsAre(Pair("ZE_AFFINITY_MASK", "1.0,1.1")));
  EXPECT_THAT(
      masks("CUDA_VISIBLE_DEVICES=0,1\nROCR_VISIBLE_DEVICES=0,1\nZE_AFFINITY_MASK=0,1\n", {}, 1),
      ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "1"), Pair("ZE_AFFINITY_MASK", "1")));
  for (const char* nothing_to_do : {"CUDA_VISIBLE_DEVICES=1\n", "CUDA_VISIBLE_DEVICES=\n",
                                    "CUDA_VISIBLE_DEVICES=MIG-a\n", "ZE_AFFINITY_MASK=0.1\n"})
    EXPECT_THAT(masks(nothing_to_do, 4, 1), IsEmpty()) << nothing_to_do;
  EXPECT_THAT(masks("", 0, 1), IsEmpty());
  EXPECT_THAT(masks("", {}, 1), IsEmpty());
}

}  // namespace
}  // namespace hpcboot

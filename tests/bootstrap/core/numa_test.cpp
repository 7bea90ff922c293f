#include "core/numa.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/grouping_locale.hpp"
#include "support/temporary_folder.hpp"

// Distances of devices, read from a folder with the layout of /sys.
namespace hpcboot {
namespace {

using testing::ElementsAre;
using testing::Optional;

class Numa : public testing::Test {
 protected:
  void SetUp() override {
    // As on a single-socket server with four NUMA nodes: the first device is nearest to the last
    // cores.
    add_node(0, "0-7,32-39", "10 12 12 12");
    add_node(1, "8-15,40-47", "12 10 12 12");
    add_node(2, "16-23,48-55", "12 12 10 12");
    add_node(3, "24-31,56-63", "12 12 12 10");
    write("devices/system/node/possible", "0-3");
    add_device("0000:07:00.0", "0x030200", "0x10de", "3");
    add_device("0000:46:00.0", "0x030200", "0x10de", "2");
    add_device("0000:85:00.0", "0x030200", "0x10de", "1");
    add_device("0000:c7:00.0", "0x030200", "0x10de", "0");
    // Not accelerators: the console, a bridge, a network card, the audio device of a graphics card.
    add_device("0000:c4:00.0", "0x030000", "0x1a03", "0");
    add_device("0000:00:01.1", "0x060400", "0x1022", "3");
    add_device("0000:21:00.0", "0x020000", "0x15b3", "1");
    add_device("0000:07:00.1", "0x040300", "0x10de", "3");
  }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    test::write_text(folder_.path() / path, text + "\n");
  }

  void add_node(int node, const char* cpus, const char* distances) const {
    const std::string path = "devices/system/node/node" + std::to_string(node);
    write(path + "/cpulist", cpus);
    write(path + "/distance", distances);
  }

  void add_device(const std::string& address, const char* kind, const char* vendor,
                  const char* node) const {
    const std::string path = "bus/pci/devices/" + address;
    write(path + "/class", kind);
    write(path + "/vendor", vendor);
    write(path + "/numa_node", node);
  }

  std::optional<std::vector<int>> distances(const std::vector<int>& cpus) const {
    return device_distances(folder_.path().string(), cpus);
  }

  test::TemporaryFolder folder_;
};

TEST_F(Numa, TheNearestOfTheCpusCounts) {
  EXPECT_THAT(distances({0}), Optional(ElementsAre(12, 12, 12, 10)));
  EXPECT_THAT(distances({63}), Optional(ElementsAre(10, 12, 12, 12)));
  EXPECT_THAT(distances({15, 16}), Optional(ElementsAre(12, 10, 10, 12)));
  EXPECT_THAT(distances({0, 8, 16, 24}), Optional(ElementsAre(10, 10, 10, 10)));
}

TEST_F(Numa, NodesNeedNotBeNumberedWithoutGaps) {
  std::filesystem::remove_all(folder_.path() / "devices/system/node/node0");
  std::filesystem::remove_all(folder_.path() / "bus/pci/devices/0000:c7:00.0");
  add_node(1, "8-15", "10 12 32");
  EXPECT_THAT(distances({9}), Optional(ElementsAre(32, 12, 10)));
}

TEST_F(Numa, OneVendorsDevicesAreCounted) {
  add_device("0000:01:00.0", "0x038000", "0x1002", "0");
  EXPECT_THAT(distances({0}), Optional(ElementsAre(12, 12, 12, 10)));
  for (const char* address : {"0000:07:00.0", "0000:46:00.0", "0000:85:00.0", "0000:c7:00.0"})
    std::filesystem::remove_all(folder_.path() / "bus/pci/devices" / address);
  add_device("0000:02:00.0", "0x120000", "0x1002", "1");
  EXPECT_THAT(distances({0}), Optional(ElementsAre(10, 12)));
}

TEST_F(Numa, TheLocaleOfTheProgramDoesNotMatter) {
  const test::GroupingLocale with_spaces(' ');
  EXPECT_THAT(distances({0}), Optional(ElementsAre(12, 12, 12, 10)));
}

TEST_F(Numa, UnknownStaysUnknown) {
  EXPECT_EQ(distances({}), std::nullopt);
  EXPECT_EQ(distances({500}), std::nullopt);
  EXPECT_EQ(device_distances((folder_.path() / "nothing").string(), {0}), std::nullopt);
  add_device("0000:07:00.0", "0x030200", "0x10de", "-1");  // not reported by the firmware
  EXPECT_EQ(distances({0}), std::nullopt);
}

TEST(NumaOfThisMachine, ThisProcessMayRunSomewhere) {
  EXPECT_FALSE(cpus_of_this_process().empty());
}

}  // namespace
}  // namespace hpcboot

// What the monitor reads through NVML and CUDA's driver, which are replaced:
// support/fake_driver.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "monitor/gpu_sensors.hpp"
#include "monitor/sampler.hpp"

namespace hpcboot::monitor {
namespace {

using testing::Optional;

TEST(GpuSensors, ReadEveryGpuByItsAddress) {
  const GpuSensors sensors({"0000:65:00.0", "0000:17:00.0"});
  const std::vector<GpuState> states = sensors.read();
  ASSERT_EQ(states.size(), 2U);
  EXPECT_THAT(states[0].load_percent, Optional(65.0));
  EXPECT_THAT(states[0].memory_bytes, Optional(65e9));
  EXPECT_THAT(states[0].temperature_celsius, Optional(66.0));
  EXPECT_THAT(states[0].power_watts, Optional(650.5));
  EXPECT_THAT(states[0].clock_mhz, Optional(1065.0));
  EXPECT_THAT(states[0].memory_clock_mhz, Optional(2065.0));
  EXPECT_THAT(states[1].load_percent, Optional(17.0));
}

TEST(GpuSensors, AGpuThatNvmlDoesNotKnowIsEmpty) {
  const std::vector<GpuState> states = GpuSensors({"", "0000:99:00.0"}).read();
  EXPECT_FALSE(states[0].load_percent || states[0].memory_bytes);
  EXPECT_FALSE(states[1].load_percent || states[1].power_watts);
}

TEST(Sampler, NamesAGpuThatIsNotWatched) {
  EXPECT_EQ(Sampler({0, 7}).problem(), "NVML does not know cuda:7, whose PCI address is unknown");
}

TEST(Sampler, MakesARowForEachGpu) {
  Sampler sampler({1, 0});
  EXPECT_EQ(sampler.problem(), "");
  const std::vector<MonitorRow> rows = sampler.sample();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].device, "cuda:1");
  EXPECT_THAT(rows[0].gpu_load_percent, Optional(17.0));
  EXPECT_THAT(rows[1].gpu_load_percent, Optional(65.0));
  EXPECT_TRUE(rows[1].resident_bytes);
}

}  // namespace
}  // namespace hpcboot::monitor

#include "jobs/run/job/scheduler_job.hpp"

#include "../invented.hpp"

namespace hpcboot::run {
namespace {

class SchedulerJobTest : public InventedMachine {};

TEST_F(SchedulerJobTest, OutsideAJobThereIsNone) {
  EXPECT_EQ(job_of(s), nullptr);
  EXPECT_TRUE(machine().ran.empty()) << machine().ran.front();
}

}  // namespace
}  // namespace hpcboot::run

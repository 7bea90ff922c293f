#include "app/observation.hpp"

#include <stdexcept>

#include "profile/profile_schedule.hpp"

namespace hpcboot::app {

options::Group observation_options(train::TrainOptions& o) {
  return {"Observation",
          {{"monitor", options::into(o.monitor, "SECONDS").otherwise_is("5 on GPUs, else 0"),
            "look at GPUs, processors, memory, network and disks of all ranks every SECONDS, into "
            "monitor.csv and TensorBoard, and name ranks that hold up the others; 0: never"},
           {"profile",
            options::optional_into(o.profile, "SCHEDULE", text_of(profile::ProfileSchedule())),
            "record what every rank does in some steps, as traces and tables in the run folder; "
            "SCHEDULE: " +
                text_of(profile::ProfileSchedule()) +
                ": steps to wait, to warm up, to record, and how often; repeat=0: to the end"},
           {"profile-mb", options::into(o.profile_mb, "MB"),
            "largest size of the traces of a rank; events beyond it are dropped"}}};
}

void check_observation(const train::TrainOptions& o) {
  constexpr double kShortest = 0.1;
  constexpr double kLongest = 86400;
  if (o.monitor && *o.monitor != 0 && !(*o.monitor >= kShortest && *o.monitor <= kLongest))
    throw train::UsageError("--monitor must be 0, or from 0.1 to 86400 seconds");
  if (o.profile_mb < 1) throw train::UsageError("--profile-mb must be at least 1");
  if (o.profile.empty() && o.profile_mb != train::TrainOptions().profile_mb)
    throw train::UsageError("--profile-mb needs --profile");
  if (o.profile.empty()) return;
  try {
    profile::parse_profile_schedule(o.profile);
  } catch (const std::invalid_argument& error) {
    throw train::UsageError(std::string("--profile ") + error.what());
  }
}

}  // namespace hpcboot::app

#include "app/observation.hpp"

#include <stdexcept>

#include "profile/profile_schedule.hpp"

namespace hpcboot::app {

options::Group observation_options(train::TrainOptions& o) {
  return {"Observation",
          {{"profile",
            options::optional_into(o.profile, "SCHEDULE", text_of(profile::ProfileSchedule())),
            "record what every rank does in some steps, as traces and tables in the run folder; "
            "SCHEDULE: " +
                text_of(profile::ProfileSchedule()) +
                ": steps to wait, to warm up, to record, and how often; repeat=0: to the end"},
           {"profile-mb", options::into(o.profile_mb, "MB"),
            "largest size of the traces of a rank; events beyond it are dropped"}}};
}

void check_observation(const train::TrainOptions& o) {
  if (o.profile_mb < 1) throw train::UsageError("--profile-mb must be at least 1");
  if (o.profile.empty()) return;
  try {
    profile::parse_profile_schedule(o.profile);
  } catch (const std::invalid_argument& error) {
    throw train::UsageError(std::string("--profile ") + error.what());
  }
}

}  // namespace hpcboot::app

#include "meeting.hpp"

#include <unistd.h>

#include "core/bounded_call.hpp"
#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/facts.hpp"
#include "release.hpp"
#include "rendezvous/store/rendezvous.hpp"
#include "wait_for_all.hpp"

namespace hpcboot {

// How long, beyond the deadline, meet() lets the ranks tell each other which ranks are missing.
constexpr std::chrono::milliseconds kMeetingGrace = std::chrono::seconds(8);

Meeting::~Meeting() {
  release_bounded(rendezvous.store);
}

std::string host_and_process() {
  return own_hostname() + " " + std::to_string(getpid());
}

std::shared_ptr<Meeting> meet(const Resolution& resolution, const Env& env,
                              const ProcessGroupOptions& options) {
  const auto meeting = std::make_shared<Meeting>();
  const bool is_in_time = bounded_call(
      [meeting, resolution, env, store = options.store, deadline = options.start_up_deadline] {
        const auto end = end_after(deadline);
        meeting->kvs = rendezvous::open_kvs_for(resolution, env, time_left(end));
        meeting->rendezvous =
            open_rendezvous(resolution, env, meeting->kvs.get(), store, time_left(end));
        const Placement& placement = resolution.placement;
        wait_for_all(*meeting->rendezvous.store, placement.rank, placement.world_size,
                     host_and_process(), resolution.hosts, time_left(end));
        if (meeting->kvs) meeting->kvs->leave();
      },
      options.start_up_deadline + kMeetingGrace);
  if (is_in_time) return meeting;
  throw Error(ErrorCode::deadline_exceeded,
              "the ranks' store did not answer within " +
                  std::to_string(options.start_up_deadline.count()) + " ms",
              "rank 0 to serve it, and only ranks to connect to its port",
              "check the output of rank 0; with --store tcp, a port scanner that keeps its "
              "connection open blocks all ranks: omit that option");
}

}  // namespace hpcboot

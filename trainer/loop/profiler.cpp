#include "loop/profiler.hpp"

#include <iterator>
#include <utility>

#include "loop/clock_offset.hpp"
#include "loop/devices.hpp"
#include "profile/trace_events.hpp"

namespace hpcboot::train {

using profile::ProfilePhase;

Profiler::Profiler(ProfilerOptions options, c10::Device device, Communicator& communicator,
                   std::function<void(const Encoded& lines)> show)
    : options_(std::move(options)),
      device_(device),
      communicator_(communicator),
      show_(std::move(show)),
      cycle_(first_free_cycle(options_.folder, communicator)),
      budget_{options_.most_bytes, options_.most_bytes / communicator.size()} {}

void Profiler::start_recording() {
  wait_for(device_);  // kernels of earlier steps are not part of this one
  recorder_.emplace(device_);
  const std::lock_guard<std::mutex> lock(loaded_mutex_);
  is_active_ = now_.phase == ProfilePhase::active;
}

void Profiler::pause_recording() {
  if (!recorder_) return;
  profile::Recording more = recorder_->stop();
  recorder_.reset();
  const std::lock_guard<std::mutex> lock(loaded_mutex_);
  is_active_ = false;
  if (now_.phase == ProfilePhase::active) {
    auto& events = recorded_.events;
    events.insert(events.end(), std::make_move_iterator(more.events.begin()),
                  std::make_move_iterator(more.events.end()));
    events.insert(events.end(), loaded_.begin(), loaded_.end());
    recorded_.memory.insert(recorded_.memory.end(), more.memory.begin(), more.memory.end());
  }
  loaded_.clear();
}

void Profiler::begin_step(std::int64_t number) {
  now_ = profile_step(options_.schedule, steps_++);
  if (is_full_ || now_.phase == ProfilePhase::off) return;
  if (!recorder_) start_recording();
  step_.emplace(at::RecordScope::USER_SCOPE);
  if (step_->isActive()) step_->before(std::string(profile::kStep) + std::to_string(number));
}

void Profiler::complete_step() {
  if (recorder_) wait_for(device_);
}

double Profiler::end_step(bool last) {
  step_.reset();
  if (now_.ends_part || last) pause_recording();
  if (is_full_ || !now_.ends_part || now_.phase != ProfilePhase::active) return 0;
  const auto begin = std::chrono::steady_clock::now();
  end_cycle();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void Profiler::finish() {
  pause_recording();
  // Every rank has recorded equally many steps.
  if (!recorded_.events.empty()) end_cycle();
}

void Profiler::prepared(int worker, std::chrono::steady_clock::time_point begin) {
  const auto took = std::chrono::steady_clock::now() - begin;
  const std::lock_guard<std::mutex> lock(loaded_mutex_);
  if (!is_active_) return;
  profile::TraceEvent event;
  event.name = profile::kLoading;
  event.kind = profile::EventKind::range;
  event.duration = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  event.begin = wall_clock() - event.duration;
  event.lane = profile::kLoaderLanes + worker;
  loaded_.push_back(std::move(event));
}

void Profiler::end_cycle() {
  const profile::Recording recording = sorted(std::exchange(recorded_, {}));
  profile::TraceOrigin origin;
  origin.rank = communicator_.rank();
  origin.world_size = communicator_.size();
  origin.host = options_.host;
  origin.backend = options_.backend;
  origin.clock_ahead = profile::in_whole_microseconds(clock_ahead_of_first(communicator_));
  const WrittenProfile written =
      write_profile({options_.folder, cycle_++}, origin, recording, communicator_, budget_);
  is_full_ = written.is_full;
  if (communicator_.is_first()) show_(written.tables);
}

}  // namespace hpcboot::train

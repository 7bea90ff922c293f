#include "loop/profiler.hpp"

#include <utility>

#include "loop/clock_offset.hpp"
#include "loop/devices.hpp"
#include "loop/profile_files.hpp"
#include "profile/trace_lines.hpp"

namespace hpcboot::train {

using profile::ProfilePhase;

Profiler::Profiler(ProfilerOptions options, c10::Device device, Communicator& communicator,
                   std::function<void(const Encoded& lines)> show)
    : options_(std::move(options)),
      device_(device),
      communicator_(communicator),
      show_(std::move(show)),
      bytes_left_(options_.most_bytes) {}

void Profiler::start_recording() {
  wait_for(device_);  // kernels of earlier steps are not part of this one
  recorder_.emplace(device_);
  const std::lock_guard<std::mutex> lock(loaded_mutex_);
  is_active_ = now_.phase == ProfilePhase::active;
}

void Profiler::begin_step(std::int64_t number) {
  now_ = profile_step(options_.schedule, steps_++);
  if (now_.begins_part) start_recording();
  if (!recorder_) return;
  step_.emplace(at::RecordScope::USER_SCOPE);
  if (step_->isActive()) step_->before(std::string(profile::kStep) + std::to_string(number));
}

void Profiler::end_step() {
  if (recorder_) wait_for(device_);
  step_.reset();
  if (!now_.ends_part) return;
  if (now_.phase == ProfilePhase::active) {
    end_cycle();
  } else {
    recorder_.reset();
  }
}

void Profiler::finish() {
  if (recorder_ && now_.phase == ProfilePhase::active) end_cycle();
  recorder_.reset();
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
  profile::Recording recording = recorder_->stop();
  recorder_.reset();
  {
    const std::lock_guard<std::mutex> lock(loaded_mutex_);
    is_active_ = false;
    recording.events.insert(recording.events.end(), loaded_.begin(), loaded_.end());
    loaded_.clear();
  }
  sort(recording);
  profile::TraceOrigin origin;
  origin.rank = communicator_.rank();
  origin.world_size = communicator_.size();
  origin.host = options_.host;
  origin.backend = options_.backend;
  origin.clock_ahead = clock_ahead_of_first(communicator_);
  std::int64_t written = 0;
  const Encoded tables = write_profile({options_.folder, now_.cycle, bytes_left_}, origin,
                                       recording, communicator_, written);
  bytes_left_ -= written;
  if (communicator_.is_first()) show_(tables);
}

}  // namespace hpcboot::train

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace hpcboot::train {

/// The progress of an epoch.
struct Progress {
  int epoch = 1;
  int epochs = 1;
  std::int64_t step = 0;
  std::int64_t steps = 1;
  std::string_view sample = "image";
  double images_per_second = 0;
  double loss = 0;
  double seconds = 0;  ///< since the epoch began
};

/// "epoch 2/3 [######......] 47/94  312 images/s  loss 0.2341  ETA 0:23", at most `width` columns.
std::string progress_line(const Progress& progress, int width);

/// Draws the line on stderr a few times a second, and only if stderr is a terminal.
class ProgressBar {
 public:
  explicit ProgressBar(bool wanted);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(const Progress& progress);
  /// Removes the line, so that an ordinary one can be printed.
  void clear();

 private:
  bool on_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace hpcboot::train

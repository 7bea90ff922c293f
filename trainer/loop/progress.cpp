#include "loop/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "text/terminal.hpp"

namespace hpcboot::train {
namespace {

std::string clock(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::string progress_line(const Progress& p, int width) {
  const std::string head = fmt::format("epoch {}/{} ", p.epoch, p.epochs);
  std::string tail = fmt::format(" {}/{}  {:.0f} {}s/s  loss {:.4f}", p.step, p.steps,
                                 p.images_per_second, p.sample, p.loss);
  if (p.step > 0) {
    const double left =
        p.seconds / static_cast<double>(p.step) * static_cast<double>(p.steps - p.step);
    tail += "  ETA " + clock(left);
  }
  const int room = width - static_cast<int>(head.size() + tail.size()) - 2;
  const int cells = std::min(room, 30);
  std::string line = head;
  if (cells >= 5) {
    const auto done =
        static_cast<std::size_t>(static_cast<double>(cells) * static_cast<double>(p.step) /
                                 static_cast<double>(std::max<std::int64_t>(p.steps, 1)));
    line += "[" + std::string(done, '#') +
            std::string(static_cast<std::size_t>(cells) - done, '.') + "]";
  }
  line += tail;
  return line.substr(0, static_cast<std::size_t>(std::max(width, 0)));
}

ProgressBar::ProgressBar(bool wanted) : on_(wanted && isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  clear();
}

void ProgressBar::update(const Progress& progress) {
  if (!on_) return;
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && progress.step < progress.steps && now - last_ < std::chrono::milliseconds(200))
    return;
  last_ = now;
  drawn_ = true;
  err() << "\r\033[K" << progress_line(progress, redrawn_columns(STDERR_FILENO));
  err().flush();
}

void ProgressBar::clear() {
  if (!drawn_) return;
  err() << "\r\033[K";
  err().flush();
  drawn_ = false;
}

}  // namespace hpcboot::train

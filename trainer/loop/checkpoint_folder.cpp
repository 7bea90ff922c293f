#include "loop/checkpoint_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <system_error>
#include <tuple>

namespace hpcboot::train {
namespace {

struct Entry {
  std::int64_t step = 0;
  int epochs_done = 0;
  std::filesystem::path path;

  friend bool operator<(const Entry& a, const Entry& b) {
    return std::tie(a.step, a.epochs_done, a.path) < std::tie(b.step, b.epochs_done, b.path);
  }
};

std::optional<Entry> parse(const std::filesystem::path& path) {
  Entry entry;
  long long step = 0;
  const std::string name = path.filename().string();
  if (std::sscanf(name.c_str(), "epoch_%d_step_%lld", &entry.epochs_done, &step) != 2) {
    return std::nullopt;
  }
  if (name != checkpoint_name(entry.epochs_done, step)) return std::nullopt;
  entry.step = step;
  entry.path = path;
  return entry;
}

}  // namespace

std::string checkpoint_name(int epochs_done, std::int64_t step) {
  return fmt::format("epoch_{:04}_step_{:08}.safetensors", epochs_done, step);
}

std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& folder) {
  std::vector<Entry> entries;
  std::error_code absent;
  for (const auto& file : std::filesystem::directory_iterator(folder, absent)) {
    if (auto entry = parse(file.path())) entries.push_back(std::move(*entry));
  }
  std::sort(entries.begin(), entries.end());
  std::vector<std::filesystem::path> paths;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    paths.push_back(std::move(entry->path));
  }
  return paths;
}

void keep_newest_checkpoints(const std::filesystem::path& newest, std::size_t keep) noexcept {
  try {
    const auto paths = checkpoints_in(newest.parent_path());
    const auto found = std::find(paths.begin(), paths.end(), newest);
    if (found == paths.end()) return;  // the listing is stale
    const auto begin = static_cast<std::size_t>(found - paths.begin());
    std::error_code ignored;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (i < begin || i >= begin + keep) std::filesystem::remove(paths[i], ignored);
    }
  } catch (const std::exception&) {
    // The newest checkpoints exist, which is what matters; the next save tries again.
  }
}

void remove_unfinished_checkpoints(const std::filesystem::path& folder) noexcept {
  try {
    std::error_code ignored;
    std::vector<std::filesystem::path> left;
    for (const auto& file : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string name = file.path().filename().string();
      if (name.front() == '.' && file.path().extension() == ".tmp") left.push_back(file.path());
    }
    for (const auto& path : left) std::filesystem::remove(path, ignored);
  } catch (const std::exception&) {
    // They only take up space.
  }
}

}  // namespace hpcboot::train

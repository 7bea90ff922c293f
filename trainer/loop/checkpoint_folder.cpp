#include "loop/checkpoint_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <system_error>
#include <tuple>

#include "hpcboot/error.hpp"
#include "json/json_reader.hpp"
#include "record/atomic_file.hpp"
#include "record/atomic_folder.hpp"

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
  if (name != checkpoint_name(entry.epochs_done, step) &&
      name != sharded_checkpoint_name(entry.epochs_done, step)) {
    return std::nullopt;
  }
  entry.step = step;
  entry.path = path;
  return entry;
}

constexpr const char* kBestMark = "best.json";
constexpr const char* kMarkedKey = "checkpoint";
constexpr const char* kRegularKey = "regular";

struct BestMark {
  std::filesystem::path checkpoint;  ///< empty if there is none
  bool is_regular = true;            ///< one was due anyway
};

/// What best.json says.
BestMark read_best_mark(const std::filesystem::path& folder) {
  try {
    const std::filesystem::path mark = folder / kBestMark;
    const Json json = read_json_file(mark);
    const JsonReader reader(mark.string(), json);
    const std::filesystem::path path = folder / reader.text(kMarkedKey).value_or("");
    std::error_code absent;
    if (parse(path) && path.parent_path() == folder && std::filesystem::exists(path, absent)) {
      return {path, reader.boolean(kRegularKey).value_or(true)};
    }
  } catch (const Error&) {  // none, or damaged
  }
  return {};
}

void remove_checkpoint(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    std::filesystem::remove(path, ignored);
    return;
  }
  try {
    record::remove_folder(path);
  } catch (const Error&) {  // it only takes up space
  }
}

}  // namespace

std::string checkpoint_name(int epochs_done, std::int64_t step) {
  return sharded_checkpoint_name(epochs_done, step) + ".safetensors";
}

std::string sharded_checkpoint_name(int epochs_done, std::int64_t step) {
  return fmt::format("epoch_{:04}_step_{:08}", epochs_done, step);
}

std::optional<std::int64_t> step_of_checkpoint(const std::filesystem::path& checkpoint) {
  const auto entry = parse(checkpoint);
  return entry ? std::make_optional(entry->step) : std::nullopt;
}

std::filesystem::path checkpoint_path(const std::filesystem::path& folder,
                                      const std::string& name) {
  const std::filesystem::path marked =
      name == kBestCheckpoint ? read_best_mark(folder).checkpoint : std::filesystem::path();
  return marked.empty() ? folder / name : marked;
}

void mark_as_best(const std::filesystem::path& checkpoint, bool is_regular) {
  const std::filesystem::path folder = checkpoint.parent_path();
  const BestMark before = read_best_mark(folder);
  const Json mark = {{kMarkedKey, checkpoint.filename().string()}, {kRegularKey, is_regular}};
  record::write_file_atomically(folder / kBestMark, json_text(mark).str() + "\n");
  std::error_code ignored;
  std::filesystem::remove(folder / kBestCheckpoint, ignored);
  if (!before.is_regular && before.checkpoint != checkpoint) remove_checkpoint(before.checkpoint);
}

void forget_best_mark(const std::filesystem::path& folder) noexcept {
  std::error_code ignored;
  std::filesystem::remove(folder / kBestMark, ignored);
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
    const std::filesystem::path best = read_best_mark(newest.parent_path()).checkpoint;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const bool is_kept = i >= begin && (i < begin + keep || paths[i] == best);
      if (is_kept) continue;
      if (paths[i] == best) forget_best_mark(newest.parent_path());
      remove_checkpoint(paths[i]);
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
    for (const auto& path : left) std::filesystem::remove_all(path, ignored);
  } catch (const std::exception&) {
    // They only take up space.
  }
}

}  // namespace hpcboot::train

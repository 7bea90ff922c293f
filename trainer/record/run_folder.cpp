#include "record/run_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "record/disk_sync.hpp"
#include "record/output_error.hpp"
#include "record/utc_time.hpp"

namespace hpcboot::record {
namespace {

/// File systems allow 255 bytes per name; job id and comment together must leave room for the rest.
constexpr std::size_t kLongestPart = 80;

bool is_plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

std::string sanitize_for_name(std::string_view text) {
  std::string plain;
  bool replacing = false;
  for (const char c : text) {
    if (is_plain(c)) {
      plain += c;
    } else if (!replacing) {
      plain += '-';
    }
    replacing = !is_plain(c);
  }
  plain.erase(0, plain.find_first_not_of(".-"));
  plain.resize(std::min(plain.size(), kLongestPart));
  plain.resize(plain.find_last_not_of(".-") + 1);
  return plain;
}

std::string folder_name(const RunName& name) {
  std::string text = fmt::format("{}_{}_{}x{}", folder_timestamp(name.started),
                                 sanitize_for_name(name.mode), name.nodes, name.devices_per_node);
  for (const std::string& part : {name.job_id, name.comment}) {
    const std::string plain = sanitize_for_name(part);
    if (!plain.empty()) text += "_" + plain;
  }
  return text;
}

RunFolder RunFolder::create(const std::filesystem::path& runs_dir, const RunName& name) {
  make_folders(runs_dir);
  const std::string base = folder_name(name);
  std::filesystem::path path = runs_dir / base;
  // mkdir() either creates the folder or reports that another run has it, in one step on any file
  // system.
  for (int attempt = 2; ::mkdir(path.c_str(), 0777) != 0; ++attempt) {
    if (errno != EEXIST) throw output_error("create the folder", path, errno);
    path = runs_dir / fmt::format("{}_{}", base, attempt);
  }
  sync_folder(runs_dir);
  return RunFolder(std::move(path));
}

RunFolder::RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

std::filesystem::path RunFolder::log(int rank) const {
  return path_ / fmt::format("rank_{:02}.log", rank);
}

}  // namespace hpcboot::record

#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace hpcboot::record {

/// The parts of a run folder's name.
struct RunName {
  std::chrono::system_clock::time_point started;
  std::string mode;  ///< single, dp, ddp
  int nodes = 1;
  int devices_per_node = 1;
  std::string job_id{};   ///< empty outside a job
  std::string comment{};  ///< the user's; may be empty
};

/// `text` with each sequence of characters outside [A-Za-z0-9._-] replaced by one '-', with neither
/// '-' nor '.' at either end, at most 80 characters long:
/// "20[2].pbs" gives "20-2-.pbs", "my comment!" gives "my-comment". May be empty.
std::string sanitize_for_name(std::string_view text);

/// `<date>_<time>_<mode>_<nodes>x<devices>[_<job id>][_<comment>]`, the time in UTC:
/// 20261120_235901_ddp_2x4_1234_my-comment.
std::string folder_name(const RunName& name);

/// The folder of one run and the places in it.
class RunFolder {
 public:
  /// Creates a new folder in `runs_dir`, which is created if missing. A run of the same name in the
  /// same second gets the suffix _2, _3, …; two runs never share a folder. Rank 0 calls this and
  /// sends path() to the other ranks.
  /// @throws Error{unwritable_output}
  static RunFolder create(const std::filesystem::path& runs_dir, const RunName& name);

  /// An existing folder: on the other ranks, and when a run is read or resumed.
  explicit RunFolder(std::filesystem::path path);

  const std::filesystem::path& path() const noexcept { return path_; }
  std::string name() const { return path_.filename().string(); }

  std::filesystem::path run_json() const { return path_ / "run.json"; }
  std::filesystem::path log(int rank) const;  ///< rank_00.log, …, rank_100.log
  std::filesystem::path metrics_csv() const { return path_ / "metrics.csv"; }
  std::filesystem::path monitor_csv() const { return path_ / "monitor.csv"; }
  std::filesystem::path model() const { return path_ / "model.safetensors"; }
  std::filesystem::path profile() const { return path_ / "profile"; }          ///< made when needed
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }  ///< made when needed

 private:
  std::filesystem::path path_;
};

}  // namespace hpcboot::record

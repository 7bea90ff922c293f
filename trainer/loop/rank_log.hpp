#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "hpcboot/encode.hpp"

namespace spdlog {
class logger;
}

namespace hpcboot::train {

/// rank_NN.log in the run folder: what this rank did, with times. Lines reach the file as they are
/// written, so that a killed rank leaves its last words.
class RankLog {
 public:
  /// @throws Error{unwritable_output}, also if something else than a regular file has the name
  explicit RankLog(const std::filesystem::path& file);
  ~RankLog();
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;

  void info(std::string_view line);
  void error(const Encoded& lines);

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace hpcboot::train

#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "hpcboot/encode.hpp"

namespace spdlog {
class logger;
}

namespace hpcboot::train {

/// rank_NN.log in the run folder: what this rank did, with timestamps. Lines are flushed as they
/// are written, so that the last ones of a killed rank are in the file.
class RankLog {
 public:
  /// @throws Error{unwritable_output}, also if the name belongs to something other than a regular
  ///         file
  explicit RankLog(const std::filesystem::path& file);
  ~RankLog();
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;

  void info(std::string_view line);
  void info_lines(const Encoded& lines);
  void error(const Encoded& lines);

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace hpcboot::train

#include "loop/rank_log.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include "hpcboot/error.hpp"
#include "text/terminal.hpp"

namespace hpcboot::train {

RankLog::RankLog(const std::filesystem::path& file) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(file.string());
    logger_ = std::make_shared<spdlog::logger>("rank", std::move(sink));
    logger_->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %L %v", spdlog::pattern_time_type::utc);
    logger_->flush_on(spdlog::level::info);
    // A disk that fills up ends no training because of a line of a log.
    logger_->set_error_handler([file, told = false](const std::string& reason) mutable {
      if (told) return;
      told = true;
      err() << "trainer: " << file.string() << " cannot be written any more: " << reason << "\n";
    });
  } catch (const spdlog::spdlog_ex& failure) {
    throw Error(ErrorCode::unwritable_output, failure.what(),
                "a run folder that every rank can write to",
                "choose another --runs-dir, on a file system that all hosts share");
  }
}

RankLog::~RankLog() = default;

void RankLog::info(std::string_view line) {
  logger_->info("{}", terminal_text(line).str());
}
void RankLog::error(const Encoded& lines) {
  logger_->error("{}", lines.str());
}

}  // namespace hpcboot::train

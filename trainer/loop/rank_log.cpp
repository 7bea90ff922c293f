#include "loop/rank_log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "record/append_file.hpp"
#include "text/terminal.hpp"

namespace hpcboot::train {
namespace {

/// spdlog's own file sink would follow symbolic links and block forever on a FIFO.
class FileSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit FileSink(const std::filesystem::path& file) : file_(file) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    file_.append({line.data(), line.size()});
  }
  void flush_() override { file_.flush(); }

 private:
  record::AppendFile file_;
};

}  // namespace

RankLog::RankLog(const std::filesystem::path& file) {
  logger_ = std::make_shared<spdlog::logger>("rank", std::make_shared<FileSink>(file));
  logger_->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %L %v", spdlog::pattern_time_type::utc);
  logger_->flush_on(spdlog::level::info);
  // A log line that cannot be written, such as on a full disk, does not end the training.
  logger_->set_error_handler([file, told = false](const std::string& reason) mutable {
    if (told) return;
    told = true;
    err() << "trainer: " << file.string() << " can no longer be written: " << reason << "\n";
  });
}

RankLog::~RankLog() = default;

void RankLog::info(std::string_view line) {
  logger_->info("{}", terminal_text(line).str());
}
void RankLog::info_lines(const Encoded& lines) {
  logger_->info("{}", lines.str());
}
void RankLog::error(const Encoded& lines) {
  logger_->error("{}", lines.str());
}

}  // namespace hpcboot::train

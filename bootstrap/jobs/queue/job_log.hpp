#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot::queue {

/// Follows growing output files like `tail -f`: with several files, each part is preceded by a line
/// with the file name.
class JobLog {
 public:
  explicit JobLog(const std::vector<std::string>& files);
  ~JobLog();
  JobLog(const JobLog&) = delete;
  JobLog& operator=(const JobLog&) = delete;

  /// Adds the files that are not followed yet.
  void add(const std::vector<std::string>& files);

  /// New output, at most 64 KiB; empty: nothing new.
  std::string read();

  /// Skips to the last lines of each file.
  void skip_to_last(std::size_t lines);

  /// Whether any of the files exists.
  bool is_there() const { return is_there_; }

 private:
  struct File {
    std::string path;
    int descriptor = -1;
  };
  void open_new();
  void look_for_new(File& file);

  std::vector<File> files_;
  std::optional<std::size_t> shown_;  // the file that was read last
  std::size_t next_ = 0;              // the file whose turn is next
  bool is_in_line_ = false;           // the last part did not end with a newline
  bool is_there_ = false;
};

}  // namespace hpcboot::queue

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hpcboot::queue {

/// Output files that grow. What is new in them, as `tail -f` shows it: of several files each part
/// below a line with the file's name.
class JobLog {
 public:
  explicit JobLog(std::vector<std::string> files);
  ~JobLog();
  JobLog(const JobLog&) = delete;
  JobLog& operator=(const JobLog&) = delete;

  /// More files, if it does not know them yet.
  void add(const std::vector<std::string>& files);

  /// What is new, at most 64 KiB; empty: nothing by now.
  std::string read();

  /// Of what is there only the last lines will be read, of each file's last mebibyte.
  void skip_to_last(std::size_t lines);

  /// Whether any of the files is there.
  bool is_there() const { return is_there_; }

 private:
  struct File {
    std::string path;
    int descriptor = -1;
  };
  void open_new();
  void look_for_new(File& file);

  std::vector<File> files_;
  std::optional<std::size_t> shown_;  // whose part was the last
  std::size_t next_ = 0;              // whose turn it is
  bool is_in_line_ = false;           // what was read last ended within a line
  bool is_there_ = false;
};

}  // namespace hpcboot::queue

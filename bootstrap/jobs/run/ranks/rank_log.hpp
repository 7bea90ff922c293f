#pragma once

#include <string>
#include <string_view>

namespace hpcboot::run {

// A log file of one stream of one rank.
class RankLog {
 public:
  // Creates the folder if necessary. @param ending "out" or "err"
  // @throws Error{unwritable_output}, also if the name is taken by anything but a regular file of
  // this user
  RankLog(const std::string& folder, int rank, const char* ending);
  ~RankLog();
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;

  // @return why the log is incomplete, for users; empty: no error
  std::string write(std::string_view bytes);

 private:
  void take_old_file();

  std::string file_;
  int fd_ = -1;
};

}  // namespace hpcboot::run

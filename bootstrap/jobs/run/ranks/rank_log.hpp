#pragma once

#include <string>
#include <string_view>

namespace hpcboot::run {

// A file with what one rank writes to one of its streams.
class RankLog {
 public:
  // Makes the folder, too. @param ending "out" or "err". @throws Error{unwritable_output}, also
  // where something else than a regular file of this user has the name
  RankLog(const std::string& folder, int rank, const char* ending);
  ~RankLog();
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;

  // @return why it ends here, for people; empty: it goes on
  std::string write(std::string_view bytes);

 private:
  void take_old_file();

  std::string file_;
  int fd_ = -1;
};

}  // namespace hpcboot::run

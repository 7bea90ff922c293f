#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hpcboot::run {

// Standard output or standard error, written without waiting for its reader.
class OutStream {
 public:
  explicit OutStream(int fd);
  ~OutStream();
  OutStream(const OutStream&) = delete;
  OutStream& operator=(const OutStream&) = delete;

  bool is_terminal() const { return is_terminal_; }
  int fd() const { return fd_; }  // to poll while something is unwritten
  std::size_t unwritten() const { return unwritten_.size(); }
  std::uint64_t written() const { return written_; }  // bytes so far

  void add(std::string_view bytes);
  void flush();
  // errno of a failed write; 0: none. After an error nothing more is written.
  int error() const { return error_; }
  // Nothing more is written from now on.
  void discard();

 private:
  int fd_;
  bool is_own_ = false;
  bool is_socket_ = false;
  bool may_wait_ = false;  // a large write may block
  bool is_terminal_ = false;
  bool is_discarded_ = false;
  int error_ = 0;
  std::string unwritten_;
  std::uint64_t written_ = 0;
};

}  // namespace hpcboot::run

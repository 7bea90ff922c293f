#pragma once

#include <string>

namespace hpcboot::run {

// A file that processes lock (flock): a lock goes with the process that has it, however that ends.
class LockFile {
 public:
  // Makes it where need be. Where its folder is not there, is_there() is false.
  // @throws Error{unwritable_output} for any other reason
  explicit LockFile(const std::string& path);
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

  // Of this object alone, or together with others. False if somebody has it otherwise: then this
  // has no lock any more, whatever it had before.
  bool try_alone() { return try_lock(false); }
  bool try_shared() { return try_lock(true); }
  void await_alone();
  // Has nobody removed it?
  bool is_there() const;

 private:
  bool try_lock(bool is_shared);

  std::string path_;
  int fd_ = -1;
};

}  // namespace hpcboot::run

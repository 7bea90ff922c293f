#pragma once

#include <string>

namespace hpcboot::run {

// A file that processes lock (flock): a lock is released with the process that holds it, however
// that ends.
class LockFile {
 public:
  // Creates it if necessary. If its folder does not exist, is_there() is false.
  // @throws Error{unwritable_output} for any other reason
  explicit LockFile(const std::string& path);
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

  // Takes the exclusive or a shared lock. False if another process holds a conflicting lock: then
  // this object holds no lock any more, whatever it held before.
  bool try_alone() { return try_lock(false); }
  bool try_shared() { return try_lock(true); }
  void await_alone();
  // Does the file still exist?
  bool is_there() const;

 private:
  bool try_lock(bool is_shared);

  std::string path_;
  int fd_ = -1;
};

}  // namespace hpcboot::run

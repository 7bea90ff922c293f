#pragma once

#include <string>
#include <string_view>

namespace hpcboot::tool {

// A folder that only its owner may enter (0700), with files that only its owner may read (0600).
// Nothing that is there is ever written to, and no symbolic link is followed: not for the folder,
// not for its files.
class PrivateFolder {
 public:
  // Makes the folder, or takes one that is there, as the other ranks of a job have to.
  // @throws Error{unwritable_output} also where others than its owner may enter it.
  explicit PrivateFolder(std::string path);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  // A new file; false where the name is taken. @throws Error{unwritable_output}
  bool create(const std::string& name, std::string_view content) const;

  // A new file that others see only when it is whole. Its name must be the caller's alone.
  // @throws Error{unwritable_output}
  void publish(const std::string& name, std::string_view content) const;

  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const std::string& name) const;

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace hpcboot::tool

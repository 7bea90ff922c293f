#pragma once

#include <string>
#include <string_view>

namespace hpcboot::tool {

// A folder of this user that nobody else may enter (0700), with files that nobody else may read
// (0600).
// Existing files are never written to, and no symbolic link is followed, neither for the folder nor
// for its files.
class PrivateFolder {
 public:
  // Creates the folder, or opens an existing one, as the other ranks of a job must.
  // @throws Error{unwritable_output} also if it belongs to another user, or others may enter it.
  explicit PrivateFolder(std::string path);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  // Creates a file; false if the name is taken. @throws Error{unwritable_output}
  bool create(const std::string& name, std::string_view content) const;

  // Creates a file that others see only once it is complete. No other process may use its name.
  // @throws Error{unwritable_output}
  void publish(const std::string& name, std::string_view content) const;

  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const std::string& name) const;

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace hpcboot::tool

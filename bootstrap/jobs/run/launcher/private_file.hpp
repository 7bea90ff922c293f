#pragma once

#include <string>
#include <string_view>

namespace hpcboot::run {

// A file in the folder for temporary files that only this user can read; removed on destruction.
class PrivateFile {
 public:
  // @throws Error{unwritable_output}
  explicit PrivateFile(std::string_view content);
  ~PrivateFile();
  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace hpcboot::run

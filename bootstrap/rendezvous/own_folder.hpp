#pragma once

#include <optional>
#include <string>

namespace hpcboot {

// A folder of this user that no other user can enter, reached by a descriptor: in a folder such as
// /tmp, others can put a folder of their own in its place, but cannot make it belong to this user.
class OwnFolder {
 public:
  // Creates it if it does not exist.
  static void make(const std::string& path);
  // Opens it; nullopt if it does not exist. @throws Error{exchange_failed} if others can enter it
  static std::optional<OwnFolder> open(const std::string& path);

  ~OwnFolder();
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  OwnFolder(OwnFolder&& other) noexcept;
  OwnFolder& operator=(OwnFolder&& other) noexcept;

  // Refers to the opened folder, even if its name has been replaced since.
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  explicit OwnFolder(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

// Error{exchange_failed}: the shared folder does not serve.
[[noreturn]] void fail_folder(const std::string& found);

// No other call returns the same, on any host.
std::string unique_word();

// @{ Files of this user only (mode 0600). @return 0, or errno
// Fails with EEXIST if the file exists. The text may appear later than the file.
int create_file(const std::string& path, const std::string& text);
// The file appears with its text, in place of an earlier one.
int replace_file(const std::string& path, const std::string& text);
// Creates the file if it does not exist; else overwrites its beginning in place. (ext4 writes a
// file to the disk that is put in the place of another, and its removal waits for that.)
int overwrite_file(const std::string& path, const std::string& text);
// @}

bool exists(const std::string& path);

// NFS clients remember for half a minute that a file does not exist, until the folder is opened.
void look_again(const std::string& folder);

}  // namespace hpcboot

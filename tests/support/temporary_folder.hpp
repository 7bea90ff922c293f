#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>

namespace hpcboot::test {

/// A folder for this test only, removed at its end. Every user may enter it, so that a test can
/// work in it without root privileges.
class TemporaryFolder {
 public:
  /// @param parent with a slash at its end
  explicit TemporaryFolder(const std::string& parent = ::testing::TempDir()) {
    std::string name = parent + "hpcboot_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp: " + name);
    ::chmod(name.c_str(), 0755);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

/// While it lives, drops root privileges, which no file permission restricts.
class WithoutRoot {
 public:
  WithoutRoot() : was_root_(::geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    bound_ = !was_root_ || ::seteuid(kNobody) == 0;
  }
  ~WithoutRoot() {
    if (was_root_ && bound_ && ::seteuid(0) != 0) std::abort();
  }
  WithoutRoot(const WithoutRoot&) = delete;
  WithoutRoot& operator=(const WithoutRoot&) = delete;

  /// False in a container without another user: then the test cannot run.
  bool bound() const { return bound_; }

 private:
  bool was_root_;
  bool bound_;
};

}  // namespace hpcboot::test

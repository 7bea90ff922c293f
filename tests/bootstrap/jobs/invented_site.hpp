#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "hpcboot/error.hpp"
#include "jobs/site_profile.hpp"

namespace hpcboot::jobscripts {

namespace fs = std::filesystem;

inline constexpr const char* kSite = R"(description = "a test"
documentation = "https://example.org"
scheduler = "slurm"
launcher = "srun"
[node]
gpus = 4
cores = 32
memory_gb = 100
[queue]
time = "01:00:00"
)";

class InventedSite : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "hpcboot-test.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  SiteProfile site(const std::string& text = kSite) const {
    return SiteProfile::read(write("site.toml", text));
  }

  // The error message for this profile.
  std::string error_of(const std::string& text) const {
    try {
      site(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::malformed_file);
      return error.what();
    }
    return "no error";
  }

  static std::string error_of_set(SiteProfile profile, const std::string& key,
                                  const std::string& value) {
    try {
      profile.set(key, value);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::malformed_value);
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, what.size(), with);
}

}  // namespace hpcboot::jobscripts

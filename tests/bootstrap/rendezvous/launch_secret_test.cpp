#include "rendezvous/store/launch_secret.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "rendezvous/store/munge.hpp"
#include "rendezvous/store/secret_file.hpp"
#include "support/expect_error.hpp"
#include "support/pretended_file_system.hpp"

namespace hpcboot::rendezvous {
namespace {

namespace fs = std::filesystem;

class SecretFiles : public testing::Test {
 protected:
  SecretFiles() {
    std::string name = (fs::temp_directory_path() / "hpcboot-secret-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~SecretFiles() override { fs::remove_all(folder_); }
  SecretFiles(const SecretFiles&) = delete;
  SecretFiles& operator=(const SecretFiles&) = delete;

  std::string write(const std::string& text, mode_t mode = 0600) const {
    const std::string path = folder_ / "secret";
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  static Env naming(const std::string& path) {
    return Env(std::map<std::string, std::string>{{"HPCBOOT_RENDEZVOUS_SECRET_FILE", path}});
  }
  Env at_home() const {
    return Env(std::map<std::string, std::string>{{"HOME", folder_.string()}});
  }

  fs::path folder_;
};

TEST_F(SecretFiles, a_named_file_is_read_without_the_blanks_around_it) {
  EXPECT_EQ(named_secret(naming(write("\n 0123456789abcdef \r\n")))->bytes(), "0123456789abcdef");
  EXPECT_FALSE(named_secret(Env()).has_value());
}

TEST_F(SecretFiles, a_file_that_others_can_read_is_refused) {
  for (const mode_t mode : {0604U, 0602U, 0620U, 0666U}) {
    test::expect_error(
        ErrorCode::unreadable_file, [&] { named_secret(naming(write("0123456789abcdef", mode))); },
        "open to others", "0600", "chmod 600");
  }
}

TEST_F(SecretFiles, what_is_no_secret_is_refused) {
  test::expect_error(
      ErrorCode::malformed_file, [&] { named_secret(naming(write("too short\n"))); },
      "9 characters", "16 to 4096", "openssl rand");
  test::expect_error(
      ErrorCode::malformed_file, [&] { named_secret(naming(write(std::string(4097, 'x')))); },
      "4097 characters", "16 to 4096", "openssl rand");
  test::expect_error(
      ErrorCode::malformed_file, [&] { named_secret(naming(write(std::string(9999, 'x')))); },
      "or more", "16 to 4096", "openssl rand");
  EXPECT_EQ(named_secret(naming(write(std::string(4096, 'x') + "\n")))->bytes().size(), 4096U);
  test::expect_error(
      ErrorCode::unreadable_file, [&] { named_secret(naming(folder_ / "none")); }, "No such file",
      "0600", "same file");
  test::expect_error(
      ErrorCode::unreadable_file, [&] { named_secret(naming(folder_)); }, "not a regular file",
      "0600", "another file");
}

// Opening a pipe without a writer would hang.
TEST_F(SecretFiles, a_pipe_is_no_file) {
  const std::string path = folder_ / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  test::expect_error(
      ErrorCode::unreadable_file, [&] { named_secret(naming(path)); }, "not a regular file", "0600",
      "another file");
}

TEST_F(SecretFiles, a_key_is_made_once_and_whole) {
  const std::string path = key_path(at_home());
  EXPECT_EQ(path, (folder_ / ".config/hpcboot/rendezvous.key").string());
  std::string reason;
  EXPECT_FALSE(read_key(path, reason).has_value());
  EXPECT_NE(reason.find(path), std::string::npos);
  std::vector<std::thread> makers;
  for (int i = 0; i < 8; ++i) {
    makers.emplace_back([&path] {
      std::string unused;
      EXPECT_TRUE(make_key(path, unused)) << unused;
    });
  }
  for (std::thread& maker : makers) maker.join();
  const auto key = read_key(path, reason);
  ASSERT_TRUE(key.has_value()) << reason;
  EXPECT_EQ(key->bytes().size(), 64U);
  EXPECT_TRUE(make_key(path, reason));
  EXPECT_EQ(read_key(path, reason)->bytes(), key->bytes());
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  const auto entries = fs::directory_iterator(fs::path(path).parent_path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);  // no temporary files are left
}

TEST_F(SecretFiles, a_key_that_others_can_read_is_refused_and_a_link_is_none) {
  const std::string path = key_path(at_home());
  std::string reason;
  ASSERT_TRUE(make_key(path, reason));
  chmod(path.c_str(), 0640);
  test::expect_error(
      ErrorCode::unreadable_file, [&] { read_key(path, reason); }, "open to others", "0600",
      "chmod 600 " + path);
  fs::remove(path);
  fs::create_symlink(write("0123456789abcdef"), path);
  EXPECT_FALSE(read_key(path, reason).has_value());
}

TEST_F(SecretFiles, a_home_that_cannot_be_written_has_no_key) {
  std::string reason;
  EXPECT_FALSE(make_key("/proc/none/hpcboot/rendezvous.key", reason));
  EXPECT_NE(reason.find("/proc/none"), std::string::npos);
  EXPECT_EQ(key_path(Env()), "");
  EXPECT_FALSE(make_key("", reason));
}

TEST_F(SecretFiles, a_key_may_be_there_unless_it_certainly_is_not) {
  const std::string path = key_path(at_home());
  EXPECT_FALSE(may_have_key(""));
  EXPECT_FALSE(may_have_key(path));
  EXPECT_FALSE(may_have_key(write("a file, not a folder") + "/rendezvous.key"));
  std::string reason;
  ASSERT_TRUE(make_key(path, reason));
  EXPECT_TRUE(may_have_key(path));
  // Nobody can look there, not even root.
  fs::create_symlink("circle", folder_ / "circle");
  EXPECT_TRUE(may_have_key(folder_ / "circle/rendezvous.key"));
}

TEST_F(SecretFiles, other_hosts_see_a_key_on_a_network_file_system) {
  const std::string path = key_path(at_home());  // whose folders do not exist yet
  for (const std::uint32_t type : {0x6969U, 0x18031977U, 0x6b414653U}) {  // NFS, Weka, AFS
    const test::PretendedFileSystem pretended(type);
    EXPECT_TRUE(is_on_network_file_system(path)) << type;
  }
  for (const std::uint32_t type : {0xef53U, 0x65735546U, 0x12345678U}) {  // ext, FUSE, unknown
    const test::PretendedFileSystem pretended(type);
    EXPECT_FALSE(is_on_network_file_system(path)) << type;
  }
}

TEST_F(SecretFiles, rank_0_chooses_and_the_others_find_the_same) {
  const Env env = naming(write("a secret of this launch"));
  const LaunchSecret chosen = choose_secret(env, "job 7", KeyUse::of_a_job);
  EXPECT_EQ(chosen.kind, SecretKind::file);
  std::string reason;
  const auto found =
      secret_finder(env, "job 7", KeyUse::of_a_job)(chosen.kind, chosen.sealed, reason);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->bytes(), chosen.secret.bytes());
  EXPECT_FALSE(
      secret_finder(Env(), "job 7", KeyUse::of_a_job)(chosen.kind, "", reason).has_value());
  EXPECT_NE(reason.find("HPCBOOT_RENDEZVOUS_SECRET_FILE"), std::string::npos);
}

// Otherwise any process that listens at the port first would be rank 0.
TEST_F(SecretFiles, a_rank_with_a_secret_follows_nobody_without) {
  std::string reason;
  const Env env = naming(write("a secret of this launch"));
  EXPECT_FALSE(
      secret_finder(env, "job 7", KeyUse::of_a_job)(SecretKind::none, "", reason).has_value());
  EXPECT_NE(reason.find("HPCBOOT_RENDEZVOUS_SECRET_FILE"), std::string::npos);
  ASSERT_TRUE(make_key(key_path(at_home()), reason));
  EXPECT_FALSE(secret_finder(at_home(), "job 7", KeyUse::of_a_job)(SecretKind::none, "", reason)
                   .has_value());
  // munged may run on this host; without it, a rank without a secret accepts this server.
  EXPECT_EQ(
      secret_finder(Env(), "job 7", KeyUse::of_a_job)(SecretKind::none, "", reason).has_value(),
      !munge_is_there());
}

TEST_F(SecretFiles, kinds_of_other_meetings_are_refused) {
  for (const SecretKind kind : {SecretKind::kernel, SecretKind::told, SecretKind::launcher}) {
    std::string reason;
    EXPECT_FALSE(secret_finder(Env(), "job 7", KeyUse::of_a_job)(kind, "", reason).has_value());
    EXPECT_FALSE(reason.empty());
  }
}

// Any length and any bytes: an unauthenticated peer may have sent it.
TEST_F(SecretFiles, what_is_no_credential_is_refused) {
  for (const std::string& text : {std::string(), std::string("MUNGE:"), std::string("MUNGE:AAAA:"),
                                  std::string(4096, 'A'), std::string("\0\n\x1b", 3)}) {
    std::string reason;
    EXPECT_FALSE(open_by_munge(text, "job 7", reason).has_value());
    EXPECT_EQ(reason.rfind("MUNGE: ", 0), 0U) << reason;
  }
}

}  // namespace
}  // namespace hpcboot::rendezvous

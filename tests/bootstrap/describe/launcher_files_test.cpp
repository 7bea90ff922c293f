#include "hpcboot/launcher_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "hpcboot/redact.hpp"
#include "hpcboot/resolve.hpp"
#include "hpcboot/sanitize.hpp"
#include "hpcboot/scheduler.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

// Files of users: where they are searched, who may own them, and that the launchers they describe
// are then known everywhere.
namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;

std::string description(const std::string& name) {
  return "name = \"" + name +
         "\"\nlevel = \"MPI launcher\"\nwhy_here = \"a test\"\nset_by = \"run_" + name +
         "\"\ndocumented = \"nowhere\"\ncannot_know = \"hosts\"\n[read]\nrank = \"" + name +
         "_R\"\nworld_size = \"" + name + "_N\"\nlocal_rank = \"" + name + "_L\"\n";
}

class LauncherFiles : public testing::Test {
 protected:
  std::string write(const std::string& file, const std::string& text, mode_t mode = 0644) {
    const std::filesystem::path path = folder_.path() / "launchers" / file;
    test::write_text(path, text);
    ::chmod(path.parent_path().c_str(), 0755);
    ::chmod(path.c_str(), mode);
    return path.string();
  }
  std::string folder() const { return (folder_.path() / "launchers").string(); }
  Env env() const {
    return Env(std::map<std::string, std::string>{{"HPCBOOT_LAUNCHER_PATH", folder()}});
  }
  void expect_unsafe(const std::string& found, const std::string& remedy) {
    expect_error(
        ErrorCode::unreadable_file, [&] { read_user_launchers(env()); }, folder(), found, remedy);
  }

  test::TemporaryFolder folder_;
};

TEST_F(LauncherFiles, AreReadInTheOrderOfTheirNames) {
  write("b.toml", description("bb"));
  write("a.toml", description("aa"));
  write("notes.txt", "no description");
  write(".a.toml", "an editor's copy");
  const auto found = read_user_launchers(env());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].launcher->name, "aa");
  EXPECT_EQ(found[1].launcher->name, "bb");
  EXPECT_EQ(found[0].launcher->file, folder() + "/a.toml");
}

TEST(LauncherFolders, ThePathThenTheUsersOwn) {
  const auto folders = [](const std::string& dump) { return launcher_folders(Env::parse(dump)); };
  EXPECT_THAT(folders(""), ElementsAre());
  EXPECT_THAT(folders("HOME=/home/u\n"), ElementsAre("/home/u/.config/hpcboot/launchers"));
  EXPECT_THAT(folders("HOME=/home/u\nXDG_CONFIG_HOME=/x\n"), ElementsAre("/x/hpcboot/launchers"));
  EXPECT_THAT(folders("HOME=u\nXDG_CONFIG_HOME=x\n"), ElementsAre());
  EXPECT_THAT(folders("HPCBOOT_LAUNCHER_PATH=/a:/b\nHOME=/h\n"),
              ElementsAre("/a", "/b", "/h/.config/hpcboot/launchers"));
  // A shell takes an empty element for the current folder; here it is ignored.
  EXPECT_THAT(folders("HPCBOOT_LAUNCHER_PATH=:/a::\n"), ElementsAre("/a"));
  for (const char* relative : {".", "launchers", "/a:./b"}) {
    expect_error(
        ErrorCode::malformed_value,
        [&] { folders(std::string("HPCBOOT_LAUNCHER_PATH=") + relative + "\n"); },
        "HPCBOOT_LAUNCHER_PATH", "absolute");
  }
}

TEST_F(LauncherFiles, AFolderOfThePathHasToBeThere) {
  expect_error(
      ErrorCode::unreadable_file, [&] { read_user_launchers(env()); }, "HPCBOOT_LAUNCHER_PATH",
      folder());
  EXPECT_TRUE(read_user_launchers(Env::parse("HOME=/nowhere\n")).empty());
}

// If this were ignored, every rank of a described launcher would be rank 0 of 1.
TEST_F(LauncherFiles, AnOwnFolderThatIsThereHasToBeReadable) {
  const std::string home = folder_.path() / "home";
  const std::string own = home + "/.config/hpcboot/launchers";
  std::filesystem::create_directories(home + "/.config/hpcboot");
  const Env env(std::map<std::string, std::string>{{"HOME", home}});
  EXPECT_TRUE(read_user_launchers(env).empty());
  ASSERT_EQ(::symlink("/nowhere", own.c_str()), 0);
  expect_error(
      ErrorCode::unreadable_file, [&] { read_user_launchers(env); }, own);
  ::unlink(own.c_str());
  test::write_text(own, "a file");
  expect_error(
      ErrorCode::unreadable_file, [&] { read_user_launchers(env); }, own);
}

// A variable that a file declares as a setting may still be a secret.
TEST_F(LauncherFiles, ADeclarationLiftsNoRedaction) {
  std::string text = description("ss");
  text.replace(text.find("MPI launcher"), 12, "pod");
  const DescribedLauncher mine = read_launcher_file(
      write("s.toml", text + "[variables]\nsetting = [\"MY_TOKEN\", \"AWS_SECRET_ACCESS_KEY\"]\n"));
  add_launchers({mine});
  EXPECT_TRUE(is_private_name("MY_TOKEN"));
  EXPECT_TRUE(is_private_name("AWS_SECRET_ACCESS_KEY"));
  EXPECT_FALSE(is_private_name("SS_R"));
}

TEST_F(LauncherFiles, WhatOthersMayWriteIsRefused) {
  const std::string file = write("a.toml", description("aa"), 0664);
  expect_unsafe("can be written by others", "chmod go-w " + file);
  ::chmod(file.c_str(), 0646);
  expect_unsafe("can be written by others", file);
  ::chmod(file.c_str(), 0644);
  ::chmod(folder().c_str(), 0777);
  expect_unsafe("can be written by others", "chmod go-w " + folder());
}

TEST_F(LauncherFiles, AnothersIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const std::string file = write("a.toml", description("aa"));
  ASSERT_EQ(::chown(file.c_str(), 12345, 12345), 0);
  expect_unsafe("belongs to the user 12345", "HPCBOOT_LAUNCHER_PATH");
  ASSERT_EQ(::chown(file.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(folder().c_str(), 12345, 12345), 0);
  expect_unsafe("belongs to the user 12345", "");
}

TEST_F(LauncherFiles, WhatIsNoRegularFileIsRefused) {
  const std::string file = write("a.toml", description("aa"));
  ::rename(file.c_str(), (folder_.path() / "elsewhere").c_str());
  ASSERT_EQ(::symlink((folder_.path() / "elsewhere").c_str(), file.c_str()), 0);
  expect_unsafe("is a symbolic link", "copy");
  ::unlink(file.c_str());
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  expect_unsafe("is not a regular file", "");
  ::unlink(file.c_str());
  ASSERT_EQ(::mkdir(file.c_str(), 0755), 0);
  expect_unsafe("is not a regular file", "");
}

TEST_F(LauncherFiles, ALongOneIsRefused) {
  std::string text = description("aa");
  text += "#" + std::string(kLongestLauncherFile - text.size() - 1, 'x');
  write("a.toml", text);
  EXPECT_EQ(read_user_launchers(env()).size(), 1U);
  write("a.toml", text + "x");
  expect_unsafe("is longer than 65536 bytes", "");
}

TEST_F(LauncherFiles, AChosenFileMayBeAnybodys) {
  const std::string file = write("a.toml", description("aa"), 0666);
  EXPECT_EQ(read_launcher_file(file).launcher->name, "aa");
  expect_error(
      ErrorCode::unreadable_file, [] { read_launcher_file("/nowhere.toml"); }, "/nowhere.toml");
}

TEST_F(LauncherFiles, AddedLaunchersOutliveTheirDescription) {
  std::string text = description("oo");
  text.replace(text.find("MPI launcher"), 12, "pod");
  DescribedLauncher mine = read_launcher_file(write("a.toml", text));
  add_launchers({mine});
  const std::weak_ptr<const LaunchSource> launcher = mine.launcher;
  mine = {};
  ASSERT_FALSE(launcher.expired());
  EXPECT_EQ(resolve(Env::parse("oo_R=1\noo_N=2\noo_L=1\n"), Facts{}).launcher, "oo");
}

TEST_F(LauncherFiles, AddedLaunchersAreKnownToAll) {
  const DescribedLauncher mine = read_launcher_file(write("a.toml", description("aa")));
  const Env env = Env::parse("aa_R=1\naa_N=2\naa_L=1\nOMPI_COMM_WORLD_RANK=0\n");
  add_launchers({mine});
  const auto& all = launch_sources();
  const auto place = std::find(all.begin(), all.end(), mine.launcher.get());
  ASSERT_NE(place, all.end());
  // First of its level.
  EXPECT_EQ((*std::prev(place))->level, Level::elastic_agent);
  EXPECT_EQ((*std::next(place))->name, "openmpi");
  const Resolution r = resolve(Env::parse("aa_R=1\naa_N=2\naa_L=1\n"), Facts{});
  EXPECT_EQ(r.launcher, "aa");
  EXPECT_EQ(r.placement.rank, 1);
  EXPECT_THAT(variables_to_unset(Env::parse("aa_R=1\nHOME=/h\n"), Inherit::allocation),
              ElementsAre("aa_R"));
  // A name belongs to one launcher only.
  const std::size_t size = all.size();
  for (const char* taken : {"aa", "slurm", "condor"}) {
    const DescribedLauncher other = read_launcher_file(write("b.toml", description(taken)));
    expect_error(
        ErrorCode::malformed_file, [&] { add_launchers({other}); }, "b.toml", taken, "taken");
  }
  EXPECT_EQ(launch_sources().size(), size);
  const DescribedLauncher queue = read_launcher_file(
      write("q.toml",
            "name = \"pbs\"\nset_by = \"q\"\ndocumented = \"q\"\n[job]\nid = \"Q\"\n"
            "start_command = \"q\"\n"));
  expect_error(
      ErrorCode::malformed_file, [&] { add_launchers({queue}); }, "q.toml", "pbs", "taken");
}

}  // namespace
}  // namespace hpcboot

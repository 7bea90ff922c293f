#include "working_folder.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "hpcboot/error.hpp"

namespace hpcboot::run {
namespace {

// PWD is inherited, also by programs that were started in another folder.
bool names_this_folder(const std::string& folder) {
  struct stat named {};
  struct stat here {};
  return folder.front() == '/' && stat(folder.c_str(), &named) == 0 && stat(".", &here) == 0 &&
         named.st_dev == here.st_dev && named.st_ino == here.st_ino;
}

}  // namespace

std::string working_folder(const Env& env) {
  if (const auto named = env.text("PWD"); named && names_this_folder(std::string(*named)))
    return std::string(*named);
  std::error_code reason;
  const std::filesystem::path here = std::filesystem::current_path(reason);
  if (!reason) return here.string();
  throw Error(ErrorCode::unreadable_file,
              "cannot determine the working folder: " + reason.message(),
              "a working folder that exists, for the ranks on all hosts",
              "cd to an existing folder, or give --chdir an absolute path");
}

std::string absolute_path(const Env& env, const std::string& path) {
  if (!path.empty() && path.front() == '/') return path;
  return (std::filesystem::path(working_folder(env)) / path).string();
}

}  // namespace hpcboot::run

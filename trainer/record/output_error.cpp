#include "record/output_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace hpcboot::record {
namespace {

std::string_view remedy_for(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "free up disk space, or choose another place (for runs: --runs-dir)";
    case EDQUOT:
      return "free up disk space under your quota, or choose another place (for runs: --runs-dir)";
    case EACCES:
    case EPERM:
      return "get write permission there, or choose another place (for runs: --runs-dir)";
    case EROFS:
      return "choose a writable place (for runs: --runs-dir); on many clusters compute nodes can "
             "write only to scratch";
    case ENOENT:
    case ENOTDIR:
      return "create that folder, or choose another place (for runs: --runs-dir)";
    default:
      return "fix what the system reports, or choose another place (for runs: --runs-dir)";
  }
}

}  // namespace

Error output_error(std::string_view action, const std::filesystem::path& path, int error_number) {
  return Error(ErrorCode::unwritable_output,
               fmt::format("cannot {} '{}': {}", action, path.string(),
                           std::generic_category().message(error_number)),
               "a place where this run can write its output",
               std::string(remedy_for(error_number)));
}

}  // namespace hpcboot::record

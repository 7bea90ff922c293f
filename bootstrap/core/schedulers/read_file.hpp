#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hpcboot/allocation.hpp"

namespace hpcboot {

// What may stand at a path. An environment may name anything: a FIFO or a terminal would make
// everybody wait for ever. Users may give a pipe: /dev/stdin, <(command).
enum class FileKind { regular, any };

struct FileText {
  std::optional<std::string> text;  // the whole of the file
  std::string reason;               // why there is no text: "No such file or directory"
};

// Files larger than any that schedulers write are not read.
FileText read_whole(const std::string& path, FileKind kind);

// The whole of a regular file; nullopt where it cannot be read.
std::optional<std::string> read_file(const std::string& path);

// Takes hosts and slots from the file that options.nodefile names, else from the one that
// `variable` names if files may be read. One that cannot be read is noted in job.unreadable_file,
// and why in job.unreadable_reason.
// @throws Error{malformed_file}, Error{unreadable_file} only for options.nodefile.
void take_hosts_from_file(Allocation& job, const Env& env, const char* variable,
                          const AllocationOptions& options,
                          Nodefile (*parse)(std::string_view text, std::string_view name));

// The sum; nullopt where it is beyond an int.
std::optional<int> sum_of(const std::vector<int>& slots);

}  // namespace hpcboot

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hpcboot/allocation.hpp"

namespace hpcboot {

// Which kinds of file are accepted. An environment variable may name anything, and reading a FIFO
// or a terminal would hang; a user may pass a pipe: /dev/stdin, <(command).
enum class FileKind { regular, any };

struct FileText {
  std::optional<std::string> text;  // the whole content
  std::string reason;               // why there is no text: "No such file or directory"
};

// Rejects files larger than any that schedulers write.
FileText read_whole(const std::string& path, FileKind kind);

// The content of a regular file; nullopt if it cannot be read.
std::optional<std::string> read_file(const std::string& path);

// Takes hosts and slots from the file that options.nodefile names, else from the one that
// `variable` names if files may be read. If that one cannot be read, sets job.unreadable_file and
// job.unreadable_reason.
// @throws Error{malformed_file}, Error{unreadable_file} only for options.nodefile.
void take_hosts_from_file(Allocation& job, const Env& env, const char* variable,
                          const AllocationOptions& options,
                          Nodefile (*parse)(std::string_view text, std::string_view name));

// The sum; nullopt if it overflows an int.
std::optional<int> sum_of(const std::vector<int>& slots);

}  // namespace hpcboot

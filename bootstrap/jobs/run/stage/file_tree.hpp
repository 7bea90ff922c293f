#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hpcboot::run {

// What must be copied: a file, or a folder with its contents.
struct FileTree {
  enum class Kind { file, folder, link };
  struct Entry {
    std::string name;  // "/a/b" below the root; empty: the root
    Kind kind = Kind::file;
    mode_t mode = 0;
    std::string target;  // of a link
  };
  std::vector<Entry> entries;  // a folder before its contents
  std::uint64_t bytes = 0;     // of all files
};

// A link stays a link if it is relative and points to something below `root`, as in hub caches. Any
// other link is replaced by its target, which may not exist next to the copy.
// @param go_on called repeatedly; an exception from it aborts the work
// @throws Error{unreadable_file}, also for anything but files, folders and links, and for more than
// `most` entries
FileTree read_tree(const std::string& root, const std::function<void()>& go_on,
                   std::size_t most = 10'000'000);

// @param to must not exist yet. Its owner may read, write and remove all of it.
// @throws Error{unreadable_file, unwritable_output}
void copy_tree(const FileTree& tree, const std::string& root, const std::string& to,
               const std::function<void()>& go_on);

}  // namespace hpcboot::run

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hpcboot::run {

// What is to be copied: a file, or a folder with all that is below it.
struct FileTree {
  enum class Kind { file, folder, link };
  struct Entry {
    std::string name;  // "/a/b" below the root; empty: the root
    Kind kind = Kind::file;
    mode_t mode = 0;
    std::string target;  // of a link
  };
  std::vector<Entry> entries;  // a folder before what is in it
  std::uint64_t bytes = 0;     // of all files
};

// A link stays one if it is relative and leads to something below `root`: what hub caches are made
// of. Of any other what it names is taken, as it may not be there beside the copy.
// @param go_on called again and again; what it throws ends the work
// @throws Error{unreadable_file} also for what is no file, folder or link
FileTree read_tree(const std::string& root, const std::function<void()>& go_on);

// @param to must not be there yet. Its owner may read, write and remove all of it.
// @throws Error{unreadable_file, unwritable_output}
void copy_tree(const FileTree& tree, const std::string& root, const std::string& to,
               const std::function<void()>& go_on);

}  // namespace hpcboot::run

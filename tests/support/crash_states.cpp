#include "support/crash_states.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "support/temporary_folder.hpp"

namespace hpcboot::test {
namespace {

using Kind = FileOperation::Kind;

enum class Lost { absent, zeros };  // what replaces missing bytes

bool is_of_bytes(const FileOperation& one) {
  return one.kind == Kind::write || one.kind == Kind::truncate;
}

class Disk {
 public:
  void apply(const FileOperation& one) {
    switch (one.kind) {
      case Kind::write:
        put(one, one.bytes);
        break;
      case Kind::truncate:
        files_[one.node].resize(one.offset);
        break;
      case Kind::name:
        if (one.makes_folder) folders_.insert(one.node);
        names_[one.folder][one.to] = one.node;
        break;
      case Kind::rename:
        names_[one.folder].erase(one.from);
        names_[one.folder][one.to] = one.node;
        break;
      case Kind::remove:
        names_[one.folder].erase(one.from);
        break;
      case Kind::sync:
      case Kind::mark:
        break;
    }
  }

  void lose(const FileOperation& one, Lost lost) {
    if (one.kind == Kind::write && lost == Lost::zeros) put(one, std::string(one.bytes.size(), 0));
    // A folder whose name is lost still exists.
    if (one.kind == Kind::name && one.makes_folder) folders_.insert(one.node);
  }

  DiskContent content() const {
    DiskContent found;
    add(kRoot, "", found);
    return found;
  }

 private:
  void put(const FileOperation& one, const std::string& bytes) {
    std::string& file = files_[one.node];
    file.resize(std::max<std::size_t>(file.size(), one.offset + bytes.size()));
    file.replace(one.offset, bytes.size(), bytes);
  }

  void add(int folder, const std::string& prefix, DiskContent& found) const {
    const auto names = names_.find(folder);
    if (names == names_.end()) return;
    for (const auto& [name, node] : names->second) {
      if (folders_.count(node) > 0) {
        found[prefix + name] = std::nullopt;
        add(node, prefix + name + "/", found);
      } else {
        const auto file = files_.find(node);
        found[prefix + name] = file == files_.end() ? "" : file->second;
      }
    }
  }

  std::map<int, std::string> files_;
  std::set<int> folders_;
  std::map<int, std::map<std::string, int>> names_;
};

/// Those of the first `count` operations that no later one of these makes durable.
std::vector<std::size_t> unsynced(const std::vector<FileOperation>& all, std::size_t count) {
  std::set<int> synced;
  std::vector<std::size_t> found;
  for (std::size_t i = count; i-- > 0;) {
    const FileOperation& one = all[i];
    if (one.kind == Kind::sync) synced.insert(one.node);
    if (one.kind == Kind::sync || one.kind == Kind::mark) continue;
    if (synced.count(is_of_bytes(one) ? one.node : one.folder) == 0) found.insert(found.begin(), i);
  }
  return found;
}

/// The empty choice, every single operation, every pair.
std::vector<std::vector<std::size_t>> choices(const std::vector<std::size_t>& all) {
  std::vector<std::vector<std::size_t>> found{{}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    found.push_back({all[i]});
    for (std::size_t j = i + 1; j < all.size(); ++j) found.push_back({all[i], all[j]});
  }
  return found;
}

DiskContent content_without(const std::vector<FileOperation>& all, std::size_t count,
                            const std::vector<std::size_t>& dropped, Lost lost) {
  Disk disk;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::find(dropped.begin(), dropped.end(), i) == dropped.end()) {
      disk.apply(all[i]);
    } else {
      disk.lose(all[i], lost);
    }
  }
  return disk.content();
}

std::string words_of(const FileOperation& one) {
  std::ostringstream text;
  switch (one.kind) {
    case Kind::write:
      text << one.bytes.size() << " bytes at " << one.offset << " of " << one.node;
      break;
    case Kind::truncate:
      text << one.node << " cut to " << one.offset << " bytes";
      break;
    case Kind::name:
      text << one.node << " named " << one.to;
      break;
    case Kind::rename:
      text << one.from << " renamed " << one.to;
      break;
    case Kind::remove:
      text << one.from << " removed";
      break;
    case Kind::sync:
      text << one.node << " synced";
      break;
    case Kind::mark:
      text << "mark";
      break;
  }
  return text.str();
}

}  // namespace

std::string CrashState::description(const std::vector<FileOperation>& all) const {
  std::string text = "after " + std::to_string(operations) + " operations";
  if (operations > 0) text += ", the last: " + words_of(all[operations - 1]);
  for (const std::size_t one : dropped)
    text += "; lost: " + std::to_string(one) + ", " + words_of(all[one]);
  for (const auto& [path, bytes] : content)
    text += "\n  " + path + (bytes ? " " + std::to_string(bytes->size()) : "/");
  return text;
}

void for_each_crash(const std::vector<FileOperation>& operations,
                    const std::function<bool(const CrashState&)>& visit) {
  CrashState state;
  for (std::size_t count = 0; count <= operations.size(); ++count) {
    state.operations = count;
    if (count > 0 && operations[count - 1].kind == Kind::mark) ++state.marks;
    for (const auto& dropped : choices(unsynced(operations, count))) {
      state.dropped = dropped;
      const bool bytes_are_lost = std::any_of(dropped.begin(), dropped.end(), [&](std::size_t one) {
        return is_of_bytes(operations[one]);
      });
      for (const Lost lost : {Lost::absent, Lost::zeros}) {
        if (lost == Lost::zeros && !bytes_are_lost) continue;
        state.content = content_without(operations, count, dropped, lost);
        if (!visit(state)) return;
      }
    }
  }
}

bool makes_durable(const std::vector<FileOperation>& operations, std::size_t index) {
  return operations[index].kind == Kind::sync &&
         unsynced(operations, index + 1).size() < unsynced(operations, index).size();
}

DiskContent content_after(const std::vector<FileOperation>& operations, std::size_t count) {
  return content_without(operations, count, {}, Lost::absent);
}

DiskContent content_of(const std::filesystem::path& folder) {
  DiskContent found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().lexically_relative(folder).string();
    if (entry.is_directory()) {
      found[path] = std::nullopt;
    } else {
      found[path] = read_text(entry.path());
    }
  }
  return found;
}

void materialise(const DiskContent& content, const std::filesystem::path& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const auto& [path, bytes] : content) {
    if (bytes) {
      write_text(folder / path, *bytes);
    } else {
      std::filesystem::create_directories(folder / path);
    }
  }
}

}  // namespace hpcboot::test

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hpcboot {

/// An open folder or file, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

/// A folder that belongs to this user or to root, and that nobody else may write; nullopt if it is
/// not there, or if nobody may look for it.
/// @throws Error{unreadable_file} for any other
std::optional<Descriptor> open_trusted_folder(const std::string& path);

/// The names in a folder that end in .toml, sorted. @throws Error{unreadable_file}
std::vector<std::string> toml_files_in(const Descriptor& folder, const std::string& path);

/// The text of a regular file in an open folder, with the same owner and mode, of at most `longest`
/// bytes; what was checked is what is read. Follows no symbolic link, waits for no FIFO.
/// @throws Error{unreadable_file}
std::string read_trusted_file(const Descriptor& folder, const std::string& folder_path,
                              const std::string& name, std::size_t longest);

/// The same for a file that the user has named: any owner and mode, through links.
std::string read_named_file(const std::string& path, std::size_t longest);

}  // namespace hpcboot

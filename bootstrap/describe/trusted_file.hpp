#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hpcboot {

/// An open folder or file, closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

/// Opens a folder that belongs to this user or to root and that nobody else can write to; nullopt
/// if it does not exist, or if the path to it is not accessible.
/// @throws Error{unreadable_file} for any other folder
std::optional<Descriptor> open_trusted_folder(const std::string& path);

/// The names in a folder that end in .toml, sorted. @throws Error{unreadable_file}
std::vector<std::string> toml_files_in(const Descriptor& folder, const std::string& path);

/// The content of a regular file in an open folder, with at most `longest` bytes; the same rules
/// hold for its owner and mode. The file that is checked is the one that is read. Does not follow
/// symbolic links or wait for a FIFO.
/// @throws Error{unreadable_file}
std::string read_trusted_file(const Descriptor& folder, const std::string& folder_path,
                              const std::string& name, std::size_t longest);

/// The same for a file that the user named explicitly: any owner and mode; follows links.
std::string read_named_file(const std::string& path, std::size_t longest);

}  // namespace hpcboot

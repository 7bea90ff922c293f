#include "program_needs.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hpcboot::run {
namespace {

// More than any linker writes. They limit what a damaged file can make us read or allocate.
constexpr std::size_t kMostHeaders = 1024;
constexpr std::size_t kMostDynamicEntries = 65536;
constexpr std::size_t kLongestName = 256;

class File {
 public:
  // Without O_NONBLOCK, open() of a FIFO would wait for its other end.
  explicit File(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_regular() const {
    struct stat status {};
    return descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  }

  // How many of `size` bytes could be read.
  std::size_t read_at(std::uint64_t offset, void* bytes, std::size_t size) const {
    if (offset > static_cast<std::uint64_t>(INT64_MAX)) return 0;
    const ssize_t count = pread(descriptor_, bytes, size, static_cast<off_t>(offset));
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }

  template <typename T>
  bool read_all(std::uint64_t offset, std::vector<T>& items) const {
    const std::size_t size = items.size() * sizeof(T);
    return read_at(offset, items.data(), size) == size;
  }

 private:
  int descriptor_;
};

struct Elf64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Entry = Elf64_Dyn;
};
struct Elf32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Entry = Elf32_Dyn;
};

// The file offset of what is loaded at this address.
template <typename Segment>
std::optional<std::uint64_t> offset_of(std::uint64_t address,
                                       const std::vector<Segment>& segments) {
  for (const Segment& segment : segments) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  }
  return std::nullopt;
}

template <typename Elf>
std::optional<std::vector<typename Elf::Segment>> segments_of(const File& file) {
  typename Elf::Header header{};
  if (file.read_at(0, &header, sizeof header) != sizeof header ||
      header.e_phentsize != sizeof(typename Elf::Segment) || header.e_phnum > kMostHeaders)
    return std::nullopt;
  std::vector<typename Elf::Segment> segments(header.e_phnum);
  if (!file.read_all(header.e_phoff, segments)) return std::nullopt;
  return segments;
}

// The libraries that the dynamic section requires; nullopt if the file is damaged.
template <typename Elf>
std::optional<std::vector<std::string>> needed_by(const File& file) {
  const auto segments = segments_of<Elf>(file);
  if (!segments) return std::nullopt;
  std::vector<typename Elf::Entry> entries;
  for (const auto& segment : *segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    const std::uint64_t count = segment.p_filesz / sizeof(typename Elf::Entry);
    if (count > kMostDynamicEntries) return std::nullopt;
    entries.resize(static_cast<std::size_t>(count));
    if (!file.read_all(segment.p_offset, entries)) return std::nullopt;
  }
  std::vector<std::uint64_t> places;
  std::optional<std::uint64_t> names;
  for (const auto& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) places.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) names = offset_of(entry.d_un.d_ptr, *segments);
  }
  if (!places.empty() && !names) return std::nullopt;
  std::vector<std::string> needed;
  for (const std::uint64_t place : places) {
    std::array<char, kLongestName> name{};
    std::uint64_t offset = 0;
    if (__builtin_add_overflow(*names, place, &offset)) return std::nullopt;
    const std::size_t size = file.read_at(offset, name.data(), name.size());
    const std::string_view text(name.data(), size);
    if (text.find('\0') == std::string_view::npos) return std::nullopt;
    needed.emplace_back(text.substr(0, text.find('\0')));
  }
  return needed;
}

bool begins(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool ends(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

// MPICH's ABI initiative: libmpi.so.12, libmpifort.so.12; Debian's libmpich.so.12; Cray's
// libmpi_cray.so.12, libmpi_gnu_123.so.12. Open MPI: libmpi.so.40, libmpi_mpifh.so.40.
ProgramMpi mpi_of_library(std::string_view name) {
  if (begins(name, "libmpich")) return ProgramMpi::mpich;
  const bool is_mpi = begins(name, "libmpi.so") || begins(name, "libmpi_") ||
                      begins(name, "libmpifort.so") || begins(name, "libmpicxx.so");
  if (!is_mpi) return ProgramMpi::none;
  return ends(name, ".so.12") ? ProgramMpi::mpich : ProgramMpi::open_mpi;
}

ProgramMpi read_program(const std::string& path) {
  const File file(path);
  std::array<unsigned char, EI_NIDENT> ident{};
  if (!file.is_regular() || file.read_at(0, ident.data(), ident.size()) != ident.size() ||
      std::string_view(reinterpret_cast<const char*>(ident.data()), SELFMAG) != ELFMAG)
    return ProgramMpi::unknown;
  constexpr int kOwnOrder = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  if (ident[EI_DATA] != kOwnOrder) return ProgramMpi::unknown;
  std::optional<std::vector<std::string>> needed;
  if (ident[EI_CLASS] == ELFCLASS64) needed = needed_by<Elf64>(file);
  if (ident[EI_CLASS] == ELFCLASS32) needed = needed_by<Elf32>(file);
  if (!needed) return ProgramMpi::unknown;
  for (const std::string& library : *needed) {
    const ProgramMpi mpi = mpi_of_library(library);
    if (mpi != ProgramMpi::none) return mpi;
  }
  return ProgramMpi::none;
}

}  // namespace

ProgramMpi mpi_of_program(const std::string& path) noexcept {
  try {
    return read_program(path);
  } catch (...) {  // only out of memory
    return ProgramMpi::unknown;
  }
}

}  // namespace hpcboot::run

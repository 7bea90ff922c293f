#pragma once

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace hpcboot::run {

// One dynamically linked program, byte by byte: header, two segments, names, dynamic section.
struct ElfProgram {
  Elf64_Ehdr header{};
  Elf64_Phdr load{};
  Elf64_Phdr dynamic{};
  std::string names = std::string("\0libc.so.6\0", 11);
  std::vector<Elf64_Dyn> entries;

  explicit ElfProgram(const std::vector<std::string>& libraries) {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof load;
    header.e_phnum = 2;
    for (const std::string& library : libraries) {
      entries.push_back({DT_NEEDED, {names.size()}});
      names += library + '\0';
    }
    const std::size_t begin = sizeof header + sizeof load + sizeof dynamic;
    load.p_type = PT_LOAD;
    load.p_vaddr = 0x400000;
    load.p_filesz = begin + names.size();
    entries.push_back({DT_STRTAB, {0x400000 + begin}});
    entries.push_back({DT_NULL, {0}});
    dynamic.p_type = PT_DYNAMIC;
    dynamic.p_offset = begin + names.size();
    dynamic.p_filesz = entries.size() * sizeof(Elf64_Dyn);
  }

  std::string bytes() const {
    const auto raw = [](const auto& thing) {
      return std::string(reinterpret_cast<const char*>(&thing), sizeof thing);
    };
    std::string text = raw(header) + raw(load) + raw(dynamic) + names;
    for (const Elf64_Dyn& entry : entries) text += raw(entry);
    return text;
  }
};

// A file with these bytes; its path.
inline std::string write_program(const std::string& bytes, std::string path = "") {
  if (path.empty()) path = testing::TempDir() + "elf_program_" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace hpcboot::run

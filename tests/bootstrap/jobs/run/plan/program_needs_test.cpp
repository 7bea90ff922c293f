#include "jobs/run/plan/program_needs.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "elf_program.hpp"

namespace hpcboot::run {
namespace {

ProgramMpi read(const std::string& bytes) {
  const std::string path = write_program(bytes);
  const ProgramMpi mpi = mpi_of_program(path);
  unlink(path.c_str());
  return mpi;
}

TEST(ProgramNeeds, NamesTheMpiThatAProgramIsLinkedTo) {
  EXPECT_EQ(read(ElfProgram({"libm.so.6"}).bytes()), ProgramMpi::none);
  for (const char* library : {"libmpi.so.12", "libmpich.so.12", "libmpifort.so.12",
                              "libmpi_cray.so.12", "libmpi_gnu_123.so.12"}) {
    EXPECT_EQ(read(ElfProgram({"libm.so.6", library}).bytes()), ProgramMpi::mpich) << library;
  }
  for (const char* library : {"libmpi.so.40", "libmpi.so.20", "libmpi_mpifh.so.40"}) {
    EXPECT_EQ(read(ElfProgram({library}).bytes()), ProgramMpi::open_mpi) << library;
  }
  EXPECT_EQ(read(ElfProgram({"libmpiwrapper_of_mine.so"}).bytes()), ProgramMpi::none);
}

TEST(ProgramNeeds, ReadsProgramsThatALinkerWrote) {
  EXPECT_EQ(mpi_of_program("/proc/self/exe"), ProgramMpi::none);
}

TEST(ProgramNeeds, DoesNotKnowWhatIsNoProgram) {
  for (const char* text : {"", "#!/bin/sh\n", "\x7f",
                           "\x7f"
                           "ELF"}) {
    EXPECT_EQ(read(text), ProgramMpi::unknown) << text;
  }
  EXPECT_EQ(mpi_of_program("/no/such/file"), ProgramMpi::unknown);
  EXPECT_EQ(mpi_of_program("/tmp"), ProgramMpi::unknown);
  const std::string fifo = testing::TempDir() + "program_needs_fifo" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(mpi_of_program(fifo), ProgramMpi::unknown);
  unlink(fifo.c_str());
}

TEST(ProgramNeeds, IsNotMisledByDamage) {
  const ElfProgram whole({"libmpi.so.40"});
  const std::string bytes = whole.bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const ProgramMpi mpi = read(bytes.substr(0, size));
    // Only the last entry, which ends the list, may be missing.
    EXPECT_EQ(mpi, ProgramMpi::unknown) << size;
  }
  ElfProgram damaged = whole;
  damaged.header.e_phnum = 0xffff;
  EXPECT_EQ(read(damaged.bytes()), ProgramMpi::unknown);
  damaged = whole;
  damaged.header.e_phoff = ~0ULL;
  EXPECT_EQ(read(damaged.bytes()), ProgramMpi::unknown);
  damaged = whole;
  damaged.dynamic.p_filesz = ~0ULL;
  EXPECT_EQ(read(damaged.bytes()), ProgramMpi::unknown);
  damaged = whole;
  damaged.entries.front().d_un.d_val = ~0ULL;
  EXPECT_EQ(read(damaged.bytes()), ProgramMpi::unknown);
  damaged = whole;
  damaged.load.p_vaddr = ~0ULL;
  EXPECT_EQ(read(damaged.bytes()), ProgramMpi::unknown);
  damaged = ElfProgram({"libmpich" + std::string(300, 'x')});
  EXPECT_EQ(read(damaged.bytes()), ProgramMpi::unknown) << "no linker writes such a name";
  damaged = whole;
  damaged.header.e_ident[EI_DATA] = ELFDATA2MSB;
  EXPECT_EQ(read(damaged.bytes()), ProgramMpi::unknown);
  damaged = whole;
  damaged.header.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_NE(read(damaged.bytes()), ProgramMpi::open_mpi);
}

}  // namespace
}  // namespace hpcboot::run

#include <gtest/gtest.h>

#include "core/schedulers/read_file.hpp"
#include "diagnose/doctor/mpi_family.hpp"
#include "hpcboot/doctor.hpp"
#include "support/paths.hpp"

// What doctor reports about the launcher that started a rank, with environments captured under real
// ones.
namespace hpcboot {
namespace {

using doctor::Mpi;

std::string captured(const std::string& job) {
  return read_file(test::golden_environments() + "/" + job + "/rank0.env").value_or("");
}

// "ok: message; remedy", or empty if the check has no finding.
std::string found(const std::string& name, const std::string& dump, const SystemFacts& system) {
  ResolveOptions options;
  options.allocation.read_files = false;
  Situation s = situation_of(Env::parse(dump), {}, options);
  s.system = system;
  for (const Finding& finding : diagnose(s)) {
    if (finding.name == name)
      return std::string(name_of(finding.status)) + ": " + finding.message + "; " + finding.remedy;
  }
  return "";
}

void expect_texts(const std::string& finding, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) EXPECT_NE(finding.find(text), std::string::npos) << finding;
}

SystemFacts programs(const char* mpirun, const char* launcher) {
  SystemFacts system;
  system.mpirun = mpirun;
  system.mpi_launcher = launcher;
  return system;
}

TEST(LiveLauncher, ItsProgramsAreKnownByTheirFiles) {
  for (const char* file : {"/usr/bin/orterun", "/opt/a/orted", "/a/bin/orterun_wrapper"})
    EXPECT_EQ(doctor::family_of_launcher(file), Mpi::open_mpi_4) << file;
  for (const char* file : {"/usr/bin/prterun", "/opt/a/prted", "/usr/bin/mpirun-prrte"})
    EXPECT_EQ(doctor::family_of_launcher(file), Mpi::open_mpi_5) << file;
  for (const char* file : {"/usr/bin/mpiexec.hydra", "/opt/a/hydra_pmi_proxy"})
    EXPECT_EQ(doctor::family_of_launcher(file), Mpi::hydra) << file;
  for (const char* file : {"", "/opt/openmpi-4.1.8/bin/mpirun", "/usr/bin/bash", "/orted/python3"})
    EXPECT_EQ(doctor::family_of_launcher(file), Mpi::unknown) << file;
}

TEST(LiveLauncher, WinsOverWhatIsInPath) {
  const std::string openmpi5 = captured("ssh_openmpi5_2x2");
  expect_texts(found("mpi", openmpi5, {}), {"ok: Open MPI 5.0.11 started this rank"});
  expect_texts(found("mpi", openmpi5, programs("/usr/bin/orterun", "/opt/5/bin/prted")),
               {"warning: Open MPI 5.0.11 (/opt/5/bin/prted) started", "Open MPI 4 or older",
                "MPI_Init", "built with"});
  expect_texts(found("mpi", openmpi5, programs("/opt/5/bin/prterun", "/opt/5/bin/prted")),
               {"ok: "});
  expect_texts(found("mpi", openmpi5, programs("", "")), {"ok: ", "no mpirun in PATH"});
  expect_texts(found("mpi", captured("ssh_hydra_2x2"), programs("/usr/bin/orterun", "")),
               {"warning: MPICH's or Intel's Hydra started", "rank 0 of 1"});
}

TEST(LiveLauncher, OpenMpi4InsideARankOf5IsNot5) {
  const std::string inner =
      "OMPI_VERSION=5.0.11\nOMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_SIZE=1\n"
      "OMPI_COMM_WORLD_LOCAL_RANK=0\nPMIX_NAMESPACE=425656320\nPMIX_RANK=0\n";
  expect_texts(found("mpi", inner, programs("/usr/bin/orterun", "/opt/5/bin/prted")),
               {"ok: Open MPI 4 or older started"});
}

TEST(LiveLauncher, AnotherInstallationOfTheSameKindIsNoted) {
  expect_texts(found("mpi", captured("mpirun_local_2"),
                     programs("/usr/bin/orterun", "/opt/openmpi-4.1.8/bin/orterun")),
               {"note: Open MPI 4 or older (/opt/openmpi-4.1.8/bin/orterun)", "another"});
}

SystemFacts library(const char* text) {
  SystemFacts system;
  system.kvs = "pmix";
  system.kvs_library = text;
  return system;
}

TEST(PmixServer, AnOlderLibraryIsWarnedOf) {
  const std::string openmpi5 = captured("ssh_openmpi5_2x2");
  expect_texts(found("pmix", openmpi5, library("pmix: OpenPMIx 4.2.2 (/usr/lib/libpmix.so.2)")),
               {"warning: the server is PMIx 5.0.11rc1, newer than the library, OpenPMIx 4.2.2",
                "UNPACK", "PMIX_PREFIX=DIR"});
  expect_texts(found("pmix", openmpi5 + "PMIX_PREFIX=/opt/gone\n",
                     library("pmix: OpenPMIx 4.2.2 (/usr/lib/libpmix.so.2)")),
               {"warning: ", "PMIX_PREFIX=/opt/gone has no libpmix.so.2"});
  expect_texts(found("pmix", openmpi5, library("pmix: OpenPMIx 5.0.11rc1 (/x/libpmix.so.2)")),
               {"ok: the server is PMIx 5.0.11rc1, the library OpenPMIx 5.0.11rc1 (/x"});
  expect_texts(found("pmix", openmpi5, library("pmix: of no version")), {"ok: "});
  expect_texts(found("pmix", openmpi5, library("")), {"ok: the server is PMIx 5.0.11rc1;"});
  expect_texts(found("pmix", captured("srun_pmix_2x2"), library("pmix: OpenPMIx 5.0.1 (/x)")),
               {"ok: the server is PMIx 4.2.2rc2"});
}

TEST(PmixServer, OpenMpi4sOwnIsNotedOnSeveralHosts) {
  const std::string rank =
      "OMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=4\n"
      "OMPI_COMM_WORLD_LOCAL_RANK=1\nPMIX_NAMESPACE=1147600897\nPMIX_RANK=1\n"
      "PMIX_VERSION=3.2.5a1\n";
  const std::string two_hosts = rank + "OMPI_COMM_WORLD_LOCAL_SIZE=2\n";
  expect_texts(found("pmix", two_hosts, library("pmix: OpenPMIx 4.2.2 (/x)")),
               {"note: the server is PMIx 3.2.5a1, Open MPI 4's own", "MPI_Init", "hpcboot exec"});
  expect_texts(found("pmix", rank + "OMPI_COMM_WORLD_LOCAL_SIZE=4\n", {}), {"ok: ", "3.2.5a1"});
}

TEST(PmixServer, WithoutAVersionItsAddressesTellIt) {
  const std::string rank = "PMIX_NAMESPACE=job\nPMIX_RANK=0\n";
  EXPECT_EQ(found("pmix", rank, {}), "");
  expect_texts(found("pmix", rank + "PMIX_SERVER_URI2=x\nPMIX_SERVER_URI21=x\n", {}),
               {"PMIx 2.1;"});
  expect_texts(found("pmix", rank + "PMIX_SERVER_URI3=x\nPMIX_SERVER_URI21=x\n", {}), {"PMIx 3;"});
  expect_texts(found("pmix", rank + "PMIX_SERVER_URI3=x\nPMIX_SERVER_URI41=x\n", {}),
               {"PMIx 4.1 or newer;"});
}

TEST(PmixServer, AnInheritedOneIsNone) {
  const std::string hydra_in_mpirun = captured("ssh_hydra_2x2") +
                                      "PMIX_NAMESPACE=1\nPMIX_RANK=0\n"
                                      "PMIX_VERSION=4.2.2\n";
  EXPECT_EQ(found("pmix", hydra_in_mpirun, {}), "");
  SystemFacts served_by_hydra;
  served_by_hydra.kvs = "pmi1";
  EXPECT_EQ(found("pmix", captured("mpirun_local_2"), served_by_hydra), "");
}

}  // namespace
}  // namespace hpcboot

#include "rendezvous/pmix_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hpcboot {
namespace {

using testing::ElementsAre;

TEST(PmixServer, ItsOwnLibraryBeforeTheMachines) {
  EXPECT_THAT(pmix_library_names(Env::parse("")), ElementsAre("libpmix.so.2"));
  EXPECT_THAT(pmix_library_names(Env::parse("PMIX_PREFIX=/opt/pmix\n")),
              ElementsAre("/opt/pmix/lib/libpmix.so.2", "/opt/pmix/lib64/libpmix.so.2",
                          "/opt/pmix/lib/openmpi/libpmix.so.2", "libpmix.so.2"));
  EXPECT_THAT(pmix_library_names(Env::parse("PMIX_PREFIX=opt\n")), ElementsAre("libpmix.so.2"))
      << "relative to a folder that the launcher was started in";
}

TEST(PmixServer, OpenMpi5NamesItsFolderOnEveryHost) {
  const std::string folder = "OMPI_LIBDIR_LOC=/opt/ompi/lib\n";
  EXPECT_THAT(pmix_library_names(Env::parse(folder + "PMIX_NAMESPACE=prterun-n1-89@1\n")),
              ElementsAre("/opt/ompi/lib/libpmix.so.2", "/opt/ompi/lib/openmpi/libpmix.so.2",
                          "libpmix.so.2"));
  EXPECT_THAT(pmix_library_names(Env::parse(folder + "PMIX_NAMESPACE=slurm.pmix.1.1\n")),
              ElementsAre("libpmix.so.2"))
      << "inherited: srun's server is another";
}

TEST(PmixServer, OpenMpi4sOwnAnswersOneClient) {
  const std::string ranks = "OMPI_COMM_WORLD_RANK=1\nPMIX_RANK=1\n";
  EXPECT_TRUE(answers_one_client(Env::parse(ranks + "PMIX_VERSION=3.2.5a1\n")));
  EXPECT_FALSE(answers_one_client(Env::parse(ranks + "PMIX_VERSION=4.2.2rc2\n")));
  EXPECT_FALSE(answers_one_client(Env::parse(ranks)));
  EXPECT_FALSE(
      answers_one_client(Env::parse("OMPI_COMM_WORLD_RANK=0\nPMIX_RANK=1\nPMIX_VERSION=3.1.5\n")))
      << "of a step of srun inside mpirun's rank";
  EXPECT_FALSE(answers_one_client(Env::parse("PMIX_VERSION=3.1.5\n")));
}

}  // namespace
}  // namespace hpcboot

#include "core/sites.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"

// Site rules: host names on the fast network, and when they apply.
namespace hpcboot {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Rank 1 of two hosts; rank 0's is the first.
const std::string kStep =
    "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=jwb[0038,0061]\nSLURM_STEP_ID=0\nSLURM_PROCID=1\n"
    "SLURM_LOCALID=0\nSLURM_NODEID=1\nSLURM_STEP_NUM_TASKS=2\nSLURM_STEP_NUM_NODES=2\n"
    "SLURM_STEP_NODELIST=jwb[0038,0061]\nSLURM_STEP_TASKS_PER_NODE=1(x2)\n";

Resolution of(const std::string& dump) {
  return resolve(Env::parse(dump), Facts{});
}

TEST(HostSuffix, IsPutBehindTheFirstLabelOrInPlaceOfTheDomain) {
  EXPECT_EQ(with_suffix("jwb0038", "i"), "jwb0038i");
  EXPECT_EQ(with_suffix("jwb0038.juwels", "i"), "jwb0038i.juwels");
  EXPECT_EQ(with_suffix("n1", "-ib0"), "n1-ib0");
  EXPECT_EQ(with_suffix("x1", ".hsn.cm.site"), "x1.hsn.cm.site");
  EXPECT_EQ(with_suffix("x1.hostmgmt2.cm.site", ".hsn.cm.site"), "x1.hsn.cm.site");
  EXPECT_EQ(with_suffix("x1.hsn.cm.site", ".hsn.cm.site"), "x1.hsn.cm.site");
  for (const char* no_name : {"10.0.0.1", "fd00::1", "127.0.0.1", "localhost"})
    EXPECT_EQ(with_suffix(no_name, "i"), no_name);
}

TEST(HostSuffix, IsKnownOfTheseMachines) {
  const std::pair<const char*, const char*> cases[] = {
      {"SYSTEMNAME=juwelsbooster\n", "i"},
      {"SYSTEMNAME=juwels\n", "i"},
      {"SYSTEMNAME=jurecadc\n", "i"},
      {"SYSTEMNAME=jusuf\n", "i"},
      {"PBS_JOBID=7.polaris-pbs-01.hsn.cm.polaris.alcf.anl.gov\n", ".hsn.cm.polaris.alcf.anl.gov"},
      {"PBS_JOBID=7.aurora-pbs-0001.hostmgmt.cm.aurora.alcf.anl.gov\n",
       ".hsn.cm.aurora.alcf.anl.gov"},
      {"SYSTEMNAME=juwelsbooster\nHPCBOOT_HOST_SUFFIX=-mlx\n", "-mlx"},
      {"SYSTEMNAME=juwelsbooster\nHPCBOOT_HOST_SUFFIX=none\n", ""},
      {"SYSTEMNAME=jupiter\n", ""},
      {"SYSTEMNAME=my-juwels\n", ""},
      {"PBS_JOBID=7.polaris\n", ""},
      {"", ""},
  };
  for (const auto& [dump, suffix] : cases) {
    const auto rule = host_suffix(Env::parse(dump));
    EXPECT_EQ(rule ? rule->value : "", suffix) << dump;
  }
}

TEST(HostSuffix, MustBePartOfAName) {
  for (const char* bad : {"a b", "$(x)", "i,j", "i/"}) {
    test::expect_error(
        ErrorCode::malformed_value,
        [&] { of(kStep + "HPCBOOT_HOST_SUFFIX=" + std::string(bad) + "\n"); },
        "HPCBOOT_HOST_SUFFIX", bad);
  }
}

TEST(HostSuffix, GoesToTheHostOfTheStepAndIsToldOf) {
  const Resolution r = of(kStep + "SYSTEMNAME=juwelsbooster\n");
  EXPECT_EQ(r.master_addr, "jwb0038i");
  EXPECT_EQ(r.provenance.at("master_addr").source, "slurm");
  EXPECT_EQ(r.provenance.at("master_addr").variable,
            "SLURM_STEP_NODELIST with suffix i (juwelsbooster, by SYSTEMNAME)");
  EXPECT_THAT(r.site_rules, ElementsAre("host suffix i (juwelsbooster, by SYSTEMNAME)"));
  EXPECT_THAT(r.hosts, ElementsAre("jwb0038", "jwb0061"));
}

TEST(HostSuffix, NeverToWhatSomebodySaid) {
  const std::string site = kStep + "HPCBOOT_HOST_SUFFIX=i\n";
  for (const char* said : {"HPCBOOT_MASTER_ADDR=jwb0038\n", "MASTER_ADDR=jwb0038\n"}) {
    const Resolution r = of(site + said);
    EXPECT_EQ(r.master_addr, "jwb0038");
    EXPECT_THAT(r.site_rules, IsEmpty());
  }
  // The address of an interface is not the name of a host.
  Facts facts;
  facts.hostname = "n1";
  facts.interfaces = {{"eth0", "10.0.0.1", false, true, 0}};
  const Env one_host = Env::parse(
      "OMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_SIZE=2\nOMPI_COMM_WORLD_LOCAL_RANK=0\n"
      "OMPI_COMM_WORLD_LOCAL_SIZE=2\nHPCBOOT_HOST_SUFFIX=i\n");
  EXPECT_EQ(resolve(one_host, facts).master_addr, "10.0.0.1");
}

TEST(DeviceOrder, IsToldOfWhereItDecides) {
  const std::string polaris =
      "PBS_JOBID=7.polaris-pbs-01.hsn.cm.polaris.alcf.anl.gov\nPBS_ENVIRONMENT=PBS_BATCH\n";
  Facts facts;
  facts.device_count = 4;
  Resolution r = resolve(Env::parse(polaris), facts);
  EXPECT_EQ(r.device, 3);
  EXPECT_THAT(r.site_rules, ElementsAre("device order reverse (polaris, by PBS_JOBID)"));
  r = resolve(Env::parse(polaris + "CUDA_VISIBLE_DEVICES=2\n"), facts);
  EXPECT_EQ(r.device, 0);
  EXPECT_THAT(r.site_rules, IsEmpty());
}

}  // namespace
}  // namespace hpcboot

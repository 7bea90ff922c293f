#include <gtest/gtest.h>

#include "hpcboot/resolve.hpp"
#include "support/expect_error.hpp"

// MASTER_ADDR and MASTER_PORT: what determines them, and when a set value is stale.
namespace hpcboot {
namespace {

using test::expect_error;

const std::string kStep =
    "SLURM_JOB_ID=5\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_STEP_ID=0\nSLURM_PROCID=0\nSLURM_LOCALID=0\n"
    "SLURM_NODEID=0\nSLURM_STEP_NUM_TASKS=2\nSLURM_STEP_NUM_NODES=2\nSLURM_STEP_NODELIST=n[1-2]\n"
    "SLURM_STEP_TASKS_PER_NODE=1(x2)\n";
const std::string kOneHost =
    "OMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_SIZE=2\nOMPI_COMM_WORLD_LOCAL_RANK=0\nOMPI_COMM_WORLD_"
    "LOCAL_SIZE=2\n";

Resolution of(const std::string& dump, const Facts& facts = {}) {
  return resolve(Env::parse(dump), facts);
}

Facts with_interface(const char* name, const char* address) {
  Facts facts;
  facts.hostname = "n1";
  Interface interface;
  interface.name = name;
  interface.address = address;
  facts.interfaces = {interface};
  return facts;
}

TEST(MasterAddr, OwnSettingsComeFirst) {
  const Resolution r = of(
      kStep +
      "HPCBOOT_MASTER_ADDR=anywhere\nHPCBOOT_MASTER_PORT=1234\nMASTER_ADDR=n1\nMASTER_PORT=99\n");
  EXPECT_EQ(r.master_addr, "anywhere");
  EXPECT_EQ(r.master_port, 1234);
  EXPECT_TRUE(r.endpoint_is_explicit);
  EXPECT_EQ(r.provenance.at("master_addr").variable, "HPCBOOT_MASTER_ADDR");
}

TEST(MasterAddr, ANameOfRankZerosHostIsTaken) {
  for (const char* name : {"n1", "N1", "n1.cluster.site", "n1i", "n1-ib0.cluster"}) {
    EXPECT_EQ(of(kStep + "MASTER_ADDR=" + name + "\nMASTER_PORT=29500\n").master_addr, name);
  }
}

TEST(MasterAddr, HostsThatNobodyToldHaveNoSource) {
  EXPECT_EQ(of("PBS_JOBID=1\n").provenance.count("hosts"), 0U);
}

TEST(MasterAddr, AStaleOneIsAnError) {
  for (const char* name : {"n2", "n12", "login1", "localhost", "127.0.0.1", "n1 ", "n1/x"}) {
    expect_error(
        ErrorCode::stale_master_addr, [&] { of(kStep + "MASTER_ADDR=" + name + "\n"); },
        std::string("MASTER_ADDR=") + name, "n1", "unset MASTER_ADDR");
  }
}

// No list of hosts is known, but rank 0 is a process of this host.
TEST(MasterAddr, RankZeroKnowsItsOwnName) {
  const std::string rank0 =
      "OMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_SIZE=2\nOMPI_COMM_WORLD_LOCAL_RANK=0\n";
  Facts facts;
  facts.hostname = "n1";
  EXPECT_EQ(of(rank0 + "MASTER_ADDR=n1.cluster\n", facts).master_addr, "n1.cluster");
  expect_error(
      ErrorCode::stale_master_addr, [&] { of(rank0 + "MASTER_ADDR=n2\n", facts); },
      "not the host of rank 0", "n1");
}

TEST(MasterAddr, RankZeroKnowsItsOwnAddresses) {
  const Facts facts = with_interface("eth0", "10.0.0.1");
  EXPECT_EQ(of(kStep + "MASTER_ADDR=10.0.0.1\n", facts).master_addr, "10.0.0.1");
  expect_error(
      ErrorCode::stale_master_addr, [&] { of(kStep + "MASTER_ADDR=10.0.0.9\n", facts); },
      "10.0.0.9");
  // Without facts, or on another rank, this cannot be determined.
  EXPECT_EQ(of(kStep + "MASTER_ADDR=10.0.0.9\n").master_addr, "10.0.0.9");
}

TEST(MasterAddr, AStaleAddressNeedsNoHostName) {
  Facts facts = with_interface("eth0", "10.0.0.1");
  facts.hostname.reset();
  expect_error(
      ErrorCode::stale_master_addr,
      [&] { of("RANK=0\nWORLD_SIZE=2\nLOCAL_RANK=0\nMASTER_ADDR=10.0.0.9\n", facts); }, "10.0.0.9",
      "an address of the host of rank 0");
}

TEST(MasterAddr, Ipv6IsTakenWithBracketsAndInAnyForm) {
  const Facts facts = with_interface("eth0", "fd00::1");
  for (const char* variable : {"MASTER_ADDR", "HPCBOOT_MASTER_ADDR"}) {
    EXPECT_EQ(of(kStep + variable + "=[fd00::1]\n", facts).master_addr, "fd00::1");
    EXPECT_EQ(of(kStep + variable + "=fd00:0::1\n", facts).master_addr, "fd00:0::1");
  }
  expect_error(
      ErrorCode::stale_master_addr, [&] { of(kStep + "MASTER_ADDR=[fd00::2]\n", facts); },
      "fd00::2");
}

TEST(MasterAddr, ItsRemedyIsAnotherVariable) {
  const auto remedy_of = [](const std::string& line) {
    try {
      of(kStep + line);
    } catch (const Error& error) {
      return error.remedy();
    }
    return std::string("no error");
  };
  EXPECT_EQ(remedy_of("MASTER_ADDR=n1\t\n"), "correct MASTER_ADDR, or set HPCBOOT_MASTER_ADDR");
  EXPECT_EQ(remedy_of("HPCBOOT_MASTER_ADDR=n1\t\n"), "correct HPCBOOT_MASTER_ADDR");
}

TEST(MasterAddr, APortOrASchemeIsMalformed) {
  for (const char* variable : {"MASTER_ADDR", "HPCBOOT_MASTER_ADDR"}) {
    for (const char* bad : {"n1:29500", "[::1]:29500", "10.0.0.1:29500", "tcp://n1", "tcp://[::1]",
                            "tcp://n1:29500", "env://", "[::1", "n1:", ":29500", "fd00::1::2"}) {
      const std::string port = std::string(variable, std::string(variable).size() - 4) + "PORT";
      expect_error(
          ErrorCode::malformed_value, [&] { of(kStep + variable + "=" + bad + "\n"); },
          std::string(variable) + "='" + bad + "'", "without a port", port);
    }
    for (const char* bad : {"n1\x1b[31m", "n1\t", "n\xc3\xb6"}) {
      expect_error(
          ErrorCode::malformed_value, [&] { of(kStep + variable + "=" + bad + "\n"); },
          std::string(variable) + "=", "a host name or an IP address");
    }
    for (const char* good : {"fd00::1", "::ffff:10.0.0.1", "fe80::1%eth0", "10.0.0.9"})
      EXPECT_EQ(of(kStep + variable + "=" + good + "\n").master_addr, good);
  }
  expect_error(
      ErrorCode::malformed_value,
      [] {
        of("TORCHELASTIC_RUN_ID=1\nRANK=0\nWORLD_SIZE=1\nLOCAL_RANK=0\nMASTER_PORT=1\n"
           "MASTER_ADDR=n1:29500\n");
      },
      "MASTER_ADDR='n1:29500'");
}

TEST(MasterAddr, OneOfTheHostThatCalledSrunGetsAHint) {
  const std::string launch = kStep + "SLURM_LAUNCH_NODE_IPADDR=10.77.0.10\n";
  const auto hints = [&](const std::string& rest) {
    return of(launch + "MASTER_ADDR=10.77.0.10\n" + rest).hints;
  };
  ASSERT_EQ(hints("SLURM_SUBMIT_HOST=login1\n").size(), 1U);
  EXPECT_EQ(
      hints("SLURM_SUBMIT_HOST=login1\n").front(),
      "MASTER_ADDR=10.77.0.10 is an address of login1, where srun was called, but rank 0 is on "
      "n1: set it in the tasks, or unset it");
  EXPECT_EQ(of(launch + "HPCBOOT_MASTER_ADDR=10.77.0.10\nSLURM_SUBMIT_HOST=login1\n").hints.size(),
            1U);
  // A batch script runs on the first host, and so does rank 0.
  EXPECT_TRUE(hints("SLURM_SUBMIT_HOST=login1\nENVIRONMENT=BATCH\n").empty());
  EXPECT_EQ(hints("ENVIRONMENT=BATCH\nSLURM_STEP_NODELIST=n2\nSLURM_STEP_NUM_NODES=1\n"
                  "SLURM_STEP_TASKS_PER_NODE=2\n")
                .size(),
            1U);
  EXPECT_TRUE(hints("SLURM_SUBMIT_HOST=n1\n").empty()) << "salloc on rank 0's host";
  EXPECT_TRUE(hints("SLURM_SUBMIT_HOST=login1\nSLURM_PTY_PORT=44903\n").empty());
  EXPECT_TRUE(hints("").empty());
  EXPECT_TRUE(of(launch + "SLURM_SUBMIT_HOST=login1\nMASTER_ADDR=10.77.0.11\n").hints.empty());
}

TEST(MasterAddr, LoopbackIsFineOnOneHost) {
  for (const char* name : {"localhost", "127.0.0.1", "::1"}) {
    EXPECT_EQ(of(kOneHost + "MASTER_ADDR=" + name + "\n").master_addr, name);
  }
}

TEST(MasterAddr, OneHostUsesItsInterfaceOrLoopback) {
  EXPECT_EQ(of(kOneHost, with_interface("eth0", "10.0.0.1")).master_addr, "10.0.0.1");
  EXPECT_EQ(of(kOneHost).master_addr, "127.0.0.1");
}

TEST(MasterPort, MustBeAPort) {
  for (const char* bad : {"0", "65536", "http", "-1", "29500x"}) {
    expect_error(
        ErrorCode::malformed_value, [&] { of(kStep + "MASTER_PORT=" + bad + "\n"); }, "MASTER_PORT",
        bad);
    expect_error(
        ErrorCode::malformed_value, [&] { of(kStep + "HPCBOOT_MASTER_PORT=" + bad + "\n"); },
        "HPCBOOT_MASTER_PORT");
  }
}

TEST(MasterPort, ReservedOnesAreAListOfPorts) {
  EXPECT_EQ(of(kStep + "SLURM_STEP_RESV_PORTS=12000-12003,12010\n").master_port, 12000);
  expect_error(
      ErrorCode::malformed_value, [] { of(kStep + "SLURM_STEP_RESV_PORTS=12000-abc\n"); },
      "SLURM_STEP_RESV_PORTS");
}

TEST(MasterPort, AloneDoesNotMakeTheEndpointExplicit) {
  const Resolution r = of(kStep + "MASTER_PORT=29500\n");
  EXPECT_EQ(r.master_port, 29500);
  EXPECT_FALSE(r.endpoint_is_explicit);
}

TEST(MasterPort, IsUnknownWhereNothingIdentifiesTheLaunch) {
  const Resolution r = of("PMI_RANK=0\nPMI_SIZE=2\nMPI_LOCALRANKID=0\nMPI_LOCALNRANKS=2\n");
  EXPECT_EQ(r.master_port, std::nullopt);
  EXPECT_EQ(r.provenance.at("master_port").source, "exchange");
}

TEST(MasterPort, DiffersBetweenTwoLaunchesOnOneHost) {
  EXPECT_NE(of(kOneHost + "PMIX_NAMESPACE=1\nPMIX_RANK=0\n").master_port,
            of(kOneHost + "PMIX_NAMESPACE=2\nPMIX_RANK=0\n").master_port);
}

// mpirun over ssh: only the ranks of the first host have the job's variables.
TEST(MasterPort, DoesNotDependOnAJobThatOtherHostsDoNotKnow) {
  const std::string launch =
      "OMPI_COMM_WORLD_SIZE=2\nOMPI_COMM_WORLD_LOCAL_RANK=0\nOMPI_COMM_WORLD_LOCAL_SIZE=1\n"
      "PMIX_NAMESPACE=7\nHPCBOOT_MASTER_ADDR=n1\n";
  const Resolution first = of(launch + "OMPI_COMM_WORLD_RANK=0\nPMIX_RANK=0\nPBS_JOBID=3.pbs\n");
  const Resolution other = of(launch + "OMPI_COMM_WORLD_RANK=1\nPMIX_RANK=1\n");
  EXPECT_EQ(first.job_instance, "3.pbs");
  ASSERT_TRUE(first.master_port);
  EXPECT_EQ(first.master_port, other.master_port);
  EXPECT_EQ(first.provenance.at("master_port").variable, "derived from the launch id");
}

}  // namespace
}  // namespace hpcboot

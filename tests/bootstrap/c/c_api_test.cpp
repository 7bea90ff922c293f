#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "hpcboot/error.hpp"
#include "hpcboot/hpcboot.h"
#include "hpcboot/resolve.hpp"
#include "hpcboot/version.hpp"

// The C interface returns what resolve() returns, in memory owned by the caller.
namespace hpcboot {
namespace {

constexpr const char* kRank3 =
    "OMPI_COMM_WORLD_RANK=3\nOMPI_COMM_WORLD_SIZE=4\nOMPI_COMM_WORLD_LOCAL_RANK=1\n"
    "OMPI_COMM_WORLD_LOCAL_SIZE=2\n";

struct Answer {
  int code;
  hpcboot_resolution value;
  std::string error;
};

Answer resolve_dump(const std::string& dump) {
  Answer answer{};
  answer.value.struct_size = sizeof answer.value;
  char error[HPCBOOT_ERROR_SIZE] = "left over";
  answer.code = hpcboot_resolve_dump(dump.data(), dump.size(), &answer.value, error, sizeof error);
  answer.error = error;
  return answer;
}

TEST(CApi, SaysWhatTheEnvironmentSays) {
  const Answer a = resolve_dump(std::string(kRank3) +
                                "SLURM_JOB_ID=7\nSLURM_JOB_NODELIST=n[1-2]\n"
                                "HPCBOOT_MASTER_ADDR=n1i\nHPCBOOT_MASTER_PORT=12345\n"
                                "CUDA_VISIBLE_DEVICES=0,1\n");
  ASSERT_EQ(a.code, 0) << a.error;
  EXPECT_EQ(a.error, "");
  EXPECT_EQ(a.value.rank, 3);
  EXPECT_EQ(a.value.world_size, 4);
  EXPECT_EQ(a.value.local_rank, 1);
  EXPECT_EQ(a.value.local_size, 2);
  EXPECT_EQ(a.value.device, 1);
  EXPECT_EQ(a.value.master_port, 12345);
  EXPECT_EQ(a.value.agent_store, 0);
  EXPECT_STREQ(a.value.master_addr, "n1i");
  EXPECT_STREQ(a.value.launcher, "openmpi");
  EXPECT_STREQ(a.value.scheduler, "slurm");
  EXPECT_STREQ(a.value.job_id, "7");
}

TEST(CApi, UnknownIsMinusOneOrEmpty) {
  const Answer a = resolve_dump(kRank3);
  ASSERT_EQ(a.code, 0) << a.error;
  EXPECT_EQ(a.value.node_rank, HPCBOOT_UNKNOWN);
  EXPECT_EQ(a.value.num_nodes, HPCBOOT_UNKNOWN);
  EXPECT_EQ(a.value.device, HPCBOOT_UNKNOWN);
  EXPECT_STREQ(a.value.scheduler, "");
  EXPECT_STREQ(a.value.interface_name, "");
}

TEST(CApi, TorchrunsAgentIsTold) {
  const Answer a = resolve_dump(
      "TORCHELASTIC_RUN_ID=x\nTORCHELASTIC_USE_AGENT_STORE=True\nRANK=0\nWORLD_SIZE=2\n"
      "LOCAL_RANK=0\nMASTER_ADDR=n1\nMASTER_PORT=29500\n");
  ASSERT_EQ(a.code, 0) << a.error;
  EXPECT_EQ(a.value.agent_store, 1);
}

TEST(CApi, ADumpWithNulsIsEnv0) {
  const Answer a = resolve_dump(std::string("HPCBOOT_RANK=0\0HPCBOOT_WORLD_SIZE=1\0", 36));
  ASSERT_EQ(a.code, 0) << a.error;
  EXPECT_STREQ(a.value.launcher, "explicit");
}

TEST(CApi, AnErrorHasItsCodeAndTextAndLeavesNothingKnown) {
  const Answer a = resolve_dump("OMPI_COMM_WORLD_RANK=1x\nOMPI_COMM_WORLD_SIZE=2\n");
  EXPECT_EQ(a.code, static_cast<int>(ErrorCode::malformed_value));
  EXPECT_STREQ(hpcboot_error_name(a.code), "malformed_value");
  EXPECT_NE(a.error.find("OMPI_COMM_WORLD_RANK='1x'"), std::string::npos) << a.error;
  EXPECT_EQ(a.value.rank, HPCBOOT_UNKNOWN);
  EXPECT_EQ(a.value.world_size, HPCBOOT_UNKNOWN);
  EXPECT_STREQ(a.value.launcher, "");
}

TEST(CApi, ATextThatDoesNotFitIsAnErrorNeverCutOff) {
  const std::string fits(255, 'h');
  const Answer whole = resolve_dump(kRank3 + ("HPCBOOT_MASTER_ADDR=" + fits));
  ASSERT_EQ(whole.code, 0) << whole.error;
  EXPECT_EQ(whole.value.master_addr, fits);
  const Answer longer = resolve_dump(kRank3 + ("HPCBOOT_MASTER_ADDR=h" + fits));
  EXPECT_EQ(longer.code, static_cast<int>(ErrorCode::malformed_value));
  EXPECT_NE(longer.error.find("master_addr"), std::string::npos) << longer.error;
  EXPECT_EQ(longer.value.rank, HPCBOOT_UNKNOWN);
}

TEST(CApi, TheErrorTextStaysWithinItsSizeAndIsWholeCharacters) {
  const std::string dump = "OMPI_COMM_WORLD_SIZE=2\nOMPI_COMM_WORLD_RANK=" + std::string(40, '1') +
                           "äöü" + std::string(60, '1');
  const std::string full = resolve_dump(dump).error;
  for (std::size_t size = 0; size < full.size() + 2; ++size) {
    hpcboot_resolution out{};
    out.struct_size = sizeof out;
    std::string buffer(size + 4, '#');
    EXPECT_NE(hpcboot_resolve_dump(dump.data(), dump.size(), &out, buffer.data(), size), 0);
    EXPECT_EQ(buffer.substr(size), "####") << "written beyond " << size;
    if (size == 0) continue;
    const std::string text = buffer.c_str();
    EXPECT_EQ(full.substr(0, text.size()), text);
    EXPECT_LT(text.size(), size);
    if (text.size() < full.size()) {
      EXPECT_NE(static_cast<unsigned char>(full[text.size()]) & 0xC0U, 0x80U) << "cut within one";
    }
  }
}

TEST(CApi, AnErrorBufferIsNotNeeded) {
  hpcboot_resolution out{};
  out.struct_size = sizeof out;
  EXPECT_EQ(hpcboot_resolve_dump("HPCBOOT_RANK=x", 14, &out, nullptr, 0), 20);
}

TEST(CApi, MisuseIsTwoAndTouchesNothing) {
  char error[HPCBOOT_ERROR_SIZE];
  EXPECT_EQ(hpcboot_resolve(nullptr, error, sizeof error), 2);
  EXPECT_NE(std::string(error).find("struct_size"), std::string::npos);
  hpcboot_resolution out;
  std::memset(&out, 0x5a, sizeof out);
  const hpcboot_resolution before = out;
  out.struct_size = 8;
  EXPECT_EQ(hpcboot_resolve(&out, error, sizeof error), 2);
  EXPECT_EQ(std::memcmp(&out.rank, &before.rank, sizeof out - offsetof(hpcboot_resolution, rank)),
            0);
}

// An empty dump is an environment without a launcher; a missing one is none.
TEST(CApi, NoDumpIsNotRank0Of1) {
  hpcboot_resolution out{};
  out.struct_size = sizeof out;
  char error[HPCBOOT_ERROR_SIZE];
  EXPECT_EQ(hpcboot_resolve_dump(nullptr, 10, &out, error, sizeof error), 2);
  EXPECT_NE(std::string(error).find("dump is NULL"), std::string::npos) << error;
  EXPECT_EQ(out.rank, HPCBOOT_UNKNOWN);
  EXPECT_EQ(hpcboot_resolve_dump(nullptr, 10, nullptr, error, sizeof error), 2);
  EXPECT_EQ(hpcboot_resolve_dump(nullptr, 0, &out, error, sizeof error), 0);
  EXPECT_EQ(out.world_size, 1);
}

// A caller compiled with a later header has a longer struct.
TEST(CApi, FieldsThatThisVersionDoesNotKnowAreLeftAlone) {
  struct {
    hpcboot_resolution known;
    int later = 42;
  } out{};
  out.known.struct_size = sizeof out;
  ASSERT_EQ(hpcboot_resolve_dump(kRank3, std::strlen(kRank3), &out.known, nullptr, 0), 0);
  EXPECT_EQ(out.known.rank, 3);
  EXPECT_EQ(out.known.struct_size, sizeof out);
  EXPECT_EQ(out.later, 42);
}

TEST(CApi, OfThisProcessAsTheCppInterfaceSays) {
  hpcboot_resolution out{};
  out.struct_size = sizeof out;
  char error[HPCBOOT_ERROR_SIZE];
  ASSERT_EQ(hpcboot_resolve(&out, error, sizeof error), 0) << error;
  const Env env = Env::from_process();
  const Resolution r = resolve(env, Facts::of_this_process(env));
  EXPECT_EQ(out.rank, r.placement.rank);
  EXPECT_EQ(out.launcher, r.launcher);
  EXPECT_EQ(out.interface_address, r.interface_address.value_or(""));
}

TEST(CApi, OneVersion) {
  EXPECT_EQ(hpcboot_version(), version());
  EXPECT_EQ(version(), HPCBOOT_PROJECT_VERSION);
}

}  // namespace
}  // namespace hpcboot

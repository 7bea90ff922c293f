#include <gtest/gtest.h>

#include "diagnose/doctor/torch_version.hpp"
#include "hpcboot/doctor.hpp"

// What doctor reports about the PyTorch of torchrun's agent.
namespace hpcboot {
namespace {

using doctor::torch_folder_in;
using doctor::torch_version_in;

std::optional<Finding> found(const std::string& agent, std::optional<std::string> libtorch,
                             const std::string& agent_store = "True") {
  Situation s = situation_of(
      Env::parse("TORCHELASTIC_RUN_ID=none\nTORCHELASTIC_USE_AGENT_STORE=" + agent_store +
                 "\nRANK=0\nWORLD_SIZE=2\nLOCAL_RANK=0\nLOCAL_WORLD_SIZE=2\nGROUP_RANK=0\n"
                 "GROUP_WORLD_SIZE=1\nMASTER_ADDR=127.0.0.1\nMASTER_PORT=29400\n"),
      {});
  s.system.torchrun = agent;
  s.system.libtorch = std::move(libtorch);
  for (const Finding& finding : diagnose(s)) {
    if (finding.name == "torchrun") return finding;
  }
  return std::nullopt;
}

TEST(Torchrun, AnAgentThatLibTorch1CannotTalkToIsNoted) {
  const auto finding = found("2.15.0+cu130", "LibTorch 1.13.1");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->status, FindingStatus::note);
  EXPECT_NE(finding->message.find(
                "torchrun is from PyTorch 2.15.0+cu130, this build has LibTorch 1.13.1"),
            std::string::npos);
  EXPECT_NE(finding->remedy.find("no action needed for the trainer"), std::string::npos);
}

TEST(Torchrun, OthersAreFine) {
  EXPECT_EQ(found("1.13.0a0", "LibTorch 1.13.1")->status, FindingStatus::ok);
  EXPECT_EQ(found("2.15.0", "LibTorch 2.11.0")->status, FindingStatus::ok);
  EXPECT_EQ(found("2.15.0", "")->status, FindingStatus::ok) << "there is no trainer";
  EXPECT_EQ(found("2.15.0", std::nullopt)->status, FindingStatus::ok);
  EXPECT_EQ(found("2.15.0", "LibTorch 1.13.1", "False")->status, FindingStatus::ok)
      << "rank 0 serves, and its program is of one version";
  EXPECT_FALSE(found("", "LibTorch 1.13.1")) << "unknown";
}

TEST(Torchrun, TheFolderOfTorchIsInTheMapOfTheProcess) {
  EXPECT_EQ(torch_folder_in("7f00-7f01 r--p 00000000 fe:00 14 /usr/lib/libc.so.6\n"
                            "7f10-7f11 r--p 00000000 fe:00 15    /a b/torch/_C.cpython-311.so\n"
                            "7f11-7f12 r-xp 00001000 fe:00 15    /other/torch/_C.cpython-311.so\n"),
            "/a b/torch");
  EXPECT_EQ(torch_folder_in("/torch/_C.so"), "/torch");
  EXPECT_EQ(torch_folder_in("7f00-7f01 r--p 00000000 fe:00 14 /usr/lib/libtorch.so\n"), "");
  EXPECT_EQ(torch_folder_in(""), "");
}

TEST(Torchrun, AVersionIsNothingElse) {
  EXPECT_EQ(torch_version_in("__version__ = '1.13.0a0'\ndebug = False\n"), "1.13.0a0");
  EXPECT_EQ(torch_version_in("from typing import Optional\n\n__all__ = ['__version__', 'debug']\n"
                             "__version__ = '2.15.0+cu130'\n"),
            "2.15.0+cu130");
  for (const std::string& text :
       {std::string(), std::string("__version__ = '2.1"), std::string("__version__ = version()"),
        std::string("__version__ = '2.1\x1b[2J'"), std::string("__version__ = 'two words'"),
        "__version__ = '" + std::string(65, '1') + "'"})
    EXPECT_EQ(torch_version_in(text), "") << text;
}

}  // namespace
}  // namespace hpcboot

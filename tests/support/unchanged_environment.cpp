#include <gtest/gtest.h>

#include "hpcboot/env.hpp"

// Fails any test program that changes its own environment: the library only depends on an Env, so
// no test has a reason to change it.
namespace {

class UnchangedEnvironment : public testing::Environment {
 public:
  void SetUp() override { before_ = hpcboot::Env::from_process(); }
  void TearDown() override {
    EXPECT_EQ(before_.variables(), hpcboot::Env::from_process().variables());
  }

 private:
  hpcboot::Env before_;
};

const auto* const kRegistered = testing::AddGlobalTestEnvironment(new UnchangedEnvironment);

}  // namespace

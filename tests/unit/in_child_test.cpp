#include "datasets/in_child.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace hpcboot::data {
namespace {

using namespace std::chrono_literals;

TEST(InChild, WhatComesToAnEndIsNoTroubleAndChangesNothingHere) {
  int value = 1;
  EXPECT_EQ(trouble_in_child([&] { value = 2; }, 20s), "");
  EXPECT_EQ(trouble_in_child([] { throw std::runtime_error("reported later"); }, 20s), "");
  EXPECT_EQ(value, 1);
}

TEST(InChild, ACrashIsNamed) {
  EXPECT_EQ(trouble_in_child([] { ::raise(SIGSEGV); }, 20s), "Segmentation fault");
  EXPECT_EQ(trouble_in_child([] { ::abort(); }, 20s), "Aborted");
}

TEST(InChild, WhatHasNoEndIsEnded) {
  EXPECT_EQ(trouble_in_child(
                [] {
                  for (;;) ::pause();
                },
                1s),
            "not finished within 1 s");
}

}  // namespace
}  // namespace hpcboot::data

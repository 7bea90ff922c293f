#include "core/nearest_name.hpp"

#include <gtest/gtest.h>

namespace hpcboot {
namespace {

TEST(NearestName, IsTheOneWithFewestChanges) {
  EXPECT_EQ(nearest_name("vectro", {"cc", "vector", "polaris"}), "vector");
  EXPECT_EQ(nearest_name("tow", {"one", "two"}), "two");
  EXPECT_EQ(nearest_name("bat", {"rat", "cat"}), "rat");  // the first of equals
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(nearest_name("vectors", {"vector", "vectorss", "vectors_of"}), "vector");
}

TEST(NearestName, IsNoneOfThoseThatAreNothingAlike) {
  EXPECT_EQ(nearest_name("narval", {"cc", "vector", "polaris"}), "");
  EXPECT_EQ(nearest_name("cd", {"cc"}), "");
  EXPECT_EQ(nearest_name("", {"cc"}), "");
  EXPECT_EQ(nearest_name("abc", {"axy", "abcdefgh"}), "");  // the second is no nearer
  EXPECT_EQ(nearest_name(std::string(900'000, 'a'), {"aa", "ab"}), "");
  EXPECT_EQ(remedy_for_name("narval", {"cc", "vector"}), "write one of these");
  EXPECT_EQ(remedy_for_name("vektor", {"cc", "vector"}), "write vector, if that is what you meant");
}

}  // namespace
}  // namespace hpcboot

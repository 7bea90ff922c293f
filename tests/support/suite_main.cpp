// main() of programs whose suites are entries of ctest (cmake/HpcbootAddTest.cmake).
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;  // shown by ctest as "Skipped"
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  if (failed != 0) return failed;
  return testing::UnitTest::GetInstance()->skipped_test_count() > 0 ? kSkipped : 0;
}

#include "hpcboot/error.hpp"

#include <gtest/gtest.h>

#include <set>

namespace hpcboot {
namespace {

TEST(Error, SaysWhatWasFoundExpectedAndToDo) {
  const Error error(ErrorCode::malformed_value, "A='x'", "a number", "correct A");
  EXPECT_STREQ(error.what(), "found: A='x'; expected: a number; do: correct A");
  EXPECT_EQ(error.exit_code(), 20);
  EXPECT_EQ(format_error("hpcboot", error),
            "hpcboot: error 20 (malformed_value)\n"
            "  found:    A='x'\n"
            "  expected: a number\n"
            "  do:       correct A\n");
}

TEST(Error, CodesAreStableDistinctAndNamed) {
  // Job scripts may act on these numbers: changing one breaks the contract.
  const std::pair<ErrorCode, int> codes[] = {{ErrorCode::malformed_value, 20},
                                             {ErrorCode::missing_variable, 21},
                                             {ErrorCode::inconsistent_placement, 22},
                                             {ErrorCode::ambiguous_environment, 23},
                                             {ErrorCode::unknown_method, 24},
                                             {ErrorCode::malformed_hostlist, 25},
                                             {ErrorCode::hostlist_too_large, 26},
                                             {ErrorCode::unreadable_file, 27},
                                             {ErrorCode::malformed_file, 28},
                                             {ErrorCode::needs_exchange, 29},
                                             {ErrorCode::backend_unavailable, 30},
                                             {ErrorCode::exchange_failed, 31},
                                             {ErrorCode::deadline_exceeded, 32},
                                             {ErrorCode::no_usable_interface, 33},
                                             {ErrorCode::stale_master_addr, 34},
                                             {ErrorCode::unknown_launcher, 35},
                                             {ErrorCode::missing_data, 40},
                                             {ErrorCode::malformed_data, 41},
                                             {ErrorCode::unwritable_output, 42},
                                             {ErrorCode::invalid_model_use, 43},
                                             {ErrorCode::peer_lost, 44},
                                             {ErrorCode::diverged, 45},
                                             {ErrorCode::stopped, 46},
                                             {ErrorCode::out_of_memory, 47},
                                             {ErrorCode::run_in_use, 48},
                                             {ErrorCode::invalid_collective, 49}};
  std::set<std::string_view> names;
  for (const auto& [code, number] : codes) {
    EXPECT_EQ(static_cast<int>(code), number);
    EXPECT_NE(name_of(code), "unknown");
    EXPECT_TRUE(names.insert(name_of(code)).second) << name_of(code);
  }
}

}  // namespace
}  // namespace hpcboot

#include "rendezvous/own_folder.hpp"

#include <gtest/gtest.h>

#include "support/grouping_locale.hpp"

namespace hpcboot {
namespace {

// The files of an exchange separate it from other words by a space. A program's first such word
// determines the rest, so no other test of this program may call it.
TEST(UniqueWord, IsOneWordInEveryLocale) {
  const test::GroupingLocale with_spaces(' ');
  const std::string word = unique_word();
  EXPECT_EQ(word.find(' '), std::string::npos) << word;
  EXPECT_NE(unique_word(), word);
}

}  // namespace
}  // namespace hpcboot

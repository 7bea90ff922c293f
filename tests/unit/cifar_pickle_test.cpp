// CIFAR's Python form: what cPickle and NumPy write is read, and nothing is ever run.
#include "datasets/cifar_pickle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "datasets/pickle_values.hpp"
#include "support/cifar_files.hpp"
#include "support/expect_error.hpp"
#include "support/paths.hpp"

namespace hpcboot::data {
namespace {

using namespace std::string_literals;
using test::cifar_batch;
using test::cifar_pixels;
using test::expect_error;
using test::four_bytes;
using test::pickled_array;
using test::short_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kAll = 1000;

CifarImages taken(const std::string& pickle, std::int64_t classes = 10, std::int64_t most = kAll) {
  CifarImages images;
  take_cifar_pickle(pickle, classes, most, images);
  return images;
}

test::Bytes pixels_of(int images) {
  test::Bytes all;
  for (int i = 0; i < images; ++i) {
    const test::Bytes one = cifar_pixels(i);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

/// The error of a pickle that is not read: "12: what was found; what was expected".
std::string error_of(const std::string& pickle, std::int64_t classes = 10) {
  try {
    taken(pickle, classes);
  } catch (const PickleError& error) {
    EXPECT_FALSE(error.expected.empty());
    EXPECT_LE(error.offset, pickle.size());
    return std::to_string(error.offset) + ": " + error.what() + "; " + error.expected;
  }
  return "no error";
}

TEST(CifarPickle, WhatPython2WroteIsRead) {
  const CifarImages images = taken(cifar_batch(0, {3, 0, 9}));
  EXPECT_THAT(images.labels, ElementsAre(3, 0, 9));
  EXPECT_EQ(images.pixels, pixels_of(3));
  const CifarImages two = taken(cifar_batch(0, {3, 0, 9}), 10, 2);
  EXPECT_THAT(two.labels, ElementsAre(3, 0));
  EXPECT_EQ(two.pixels, pixels_of(2));
  EXPECT_THAT(taken(cifar_batch(0, {99, 0}, "fine_labels"), 100).labels, ElementsAre(99, 0));
}

TEST(CifarPickle, WhatNumPyWritesIsRead) {
  const test::DataFolder folder;
  const std::string command = std::string(test::python) + " " +
                              test::source_file("tests/support/cifar_pickles.py") + " '" +
                              folder.path().string() + "'";
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 77 || code == 127) GTEST_SKIP() << test::python << " with numpy was not found";
  ASSERT_EQ(code, 0);
  const auto pickle = [&](const std::string& name) {
    return test::read_text(folder.path() / name);
  };
  for (const char* name : {"text_keys", "bytes_keys", "by_column", "protocol_1"}) {
    SCOPED_TRACE(name);
    const CifarImages images = taken(pickle(name));
    EXPECT_THAT(images.labels, ElementsAre(3, 0, 9, 1, 2, 3));
    EXPECT_EQ(images.pixels, pixels_of(6));
    EXPECT_EQ(taken(pickle(name), 10, 4).pixels, pixels_of(4));
  }
  EXPECT_THAT(taken(pickle("hundred"), 100).labels, ElementsAre(99, 0, 10, 50, 7, 8));
  const struct {
    const char* name;
    const char* found;
  } cases[] = {
      {"hundred", "a dict without 'labels'"},
      {"protocol_0", "that CIFAR's files do not have, 0x56; a pickle of protocol 1 or 2"},
      {"protocol_4", "0: a pickle of protocol 4; a pickle of protocol 1 or 2"},
      {"floats", "'data': elements of another type; 'data', an array of N x 3072 bytes"},
      {"flat", "'data' of the shape 18432;"},
      {"grey", "'data' of the shape 6 x 1024;"},
      {"too_few_labels", "5 labels; 6, one for each image"},
      {"label_10", "label 10; a label from 0 to 9"},
      {"label_huge", "an integer of 9 bytes"},
      {"label_text", "label a text of 1 bytes; a label from 0 to 9"},
      {"array_of_labels", "'labels': an object of _reconstruct;"},
      {"no_labels", "a dict without 'labels'; a dict with 'data' and 'labels'"},
      {"no_data", "a dict without 'data'"},
      {"list", "a list; a dict with 'data' and 'labels'"},
  };
  for (const auto& c : cases) EXPECT_THAT(error_of(pickle(c.name)), HasSubstr(c.found)) << c.name;
}

TEST(CifarPickle, NothingOfAPickleIsRun) {
  const test::DataFolder folder;
  const std::string file = (folder.path() / "run").string();
  const struct {
    const char* description;
    std::string pickle;
    const char* found;
  } cases[] = {
      {"a system call", "\x80\x02"s + "cos\nsystem\n" + short_text("touch " + file) + "\x85R.",
       "2: the name 'os.system'; only names of NumPy's arrays; nothing is imported or run"},
      {"of another spelling", "\x80\x02"s + "cposix\nsystem\n" + short_text("true") + "\x85R.",
       "'posix.system'"},
      {"a builtin", "\x80\x02"s + "c__builtin__\neval\n" + short_text("1") + "\x85R.",
       "'__builtin__.eval'"},
      {"NumPy's own", "\x80\x02"s + "cnumpy\nload\n" + short_text("x") + "\x85R.", "'numpy.load'"},
      {"an instance", "\x80\x02(ios\nsystem\n.", "0x69"},
      {"of a class on the stack", "\x80\x02("s + "cnumpy\nndarray\no.", "0x6f"},
      {"a new object", "\x80\x02"s + "cnumpy\nndarray\n)\x81.", "0x81"},
      {"a registered object", "\x80\x02\x82\x01.", "0x82"},
      {"a persistent object", "\x80\x02P1\n.", "0x50"},
      {"a call of the class", "\x80\x02"s + "cnumpy\nndarray\n)R.", "a call of 'ndarray'"},
      {"a call of a text", "\x80\x02"s + short_text("os.system") + ")R.", "a call of a text"},
      {"another codec",
       "\x80\x02"s + "c_codecs\nencode\n" + short_text("a") + short_text("hex") + "\x86R.",
       "a call of _codecs.encode that does not write bytes"},
      {"a state for a dict", "\x80\x02}}b.", "a state for a dict"},
  };
  for (const auto& c : cases) EXPECT_THAT(error_of(c.pickle), HasSubstr(c.found)) << c.description;
  EXPECT_TRUE(folder.names().empty());
}

TEST(CifarPickle, DamageIsFoundBeforeMemoryIsTaken) {
  std::string deep = "\x80\x02";
  for (int i = 0; i < 100; ++i) deep += "]";
  for (int i = 0; i < 99; ++i) deep += "a";
  const struct {
    const char* description;
    std::string pickle;
    const char* found;
  } cases[] = {
      {"empty", "", "0: the end of the file"},
      {"no pickle", "no pickle", "is not an instruction of pickle protocols 0 to 2"},
      {"a text of 4 GB", "\x80\x02T\xff\xff\xff\xff"s + "abc.",
       "2: the instruction at byte 2 of the pickle extends beyond its 11 bytes"},
      {"a long integer", "\x80\x02\x8b\xff\xff\xff\x7f.", "extends beyond"},
      {"a memo of 4 GB", "\x80\x02}r\xff\xff\xff\x7f.", "3: a memo index of 2147483647"},
      {"no end", "\x80\x02}", "3: the end of the file; the STOP"},
      {"nothing", "\x80\x02.", "2: an instruction without an object to use"},
      {"deep nesting", deep + ".", "nested more than 64 deep"},
      {"a list in itself", "\x80\x02]q\0h\0a."s, "an object of the pickle contains itself"},
      {"a dict in itself", "\x80\x02}q\0U\x01xh\0s."s, "contains itself"},
      {"a tuple in its list",
       "\x80\x02]q\0h\0\x85q\x01h\x01"
       "a."s,
       "contains itself"},
      {"an unknown memo", "\x80\x02h\x05.", "uses an object that does not exist"},
      {"no mark", "\x80\x02]e.", "uses an object that does not exist"},
      {"a key without value", "\x80\x02}(U\x01xu.", "a key without value"},
      {"items for a number",
       "\x80\x02K\x01(K\x02"
       "e.",
       "items for 1"},
      {"too many instructions", "\x80\x02" + std::string(2'000'001, 'N') + ".",
       "more than 2000000 instructions in the pickle"},
      {"a number that is not one", "\x80\x02I12x\n.", "'12x'; an integer of 64 bits"},
      {"a character that is not a byte",
       "\x80\x02"s + "c_codecs\nencode\nX\x03\0\0\0\xe2\x82\xac"s + short_text("latin1") + "\x86R.",
       "characters that are not bytes"},
  };
  for (const auto& c : cases) EXPECT_THAT(error_of(c.pickle), HasSubstr(c.found)) << c.description;
}

TEST(CifarPickle, ATextEncodedAgainAndAgainTakesNoMoreMemoryThanThePickle) {
  std::string pickle = "\x80\x02](X" + four_bytes(1000) + std::string(1000, 'x') +
                       "q\x01"
                       "0";
  for (int i = 0; i < 100; ++i)
    pickle += "c_codecs\nencode\nh\x01" + short_text("latin1") + "\x86R";
  EXPECT_THAT(error_of(pickle + "e."), HasSubstr("more bytes than the pickle contains"));
}

TEST(CifarPickle, AnArrayThatIsNotWhatItClaimsIsRefused) {
  const auto batch = [](const std::string& array) {
    return "\x80\x02}(" + short_text("data") + array + short_text("labels") +
           "](K\x01K\x02"
           "eu.";
  };
  const std::string pixels(2 * test::kCifarPixels, 'p');
  EXPECT_EQ(error_of(batch(pickled_array(2, pixels))), "no error");
  EXPECT_THAT(error_of(batch(pickled_array(3, pixels))), HasSubstr("6144 bytes; 3 x 3072"));
  EXPECT_THAT(error_of(batch(pickled_array(2, pixels + "x"))), HasSubstr("6145 bytes; 2 x 3072"));
  EXPECT_THAT(error_of(batch(pickled_array(2, ""))), HasSubstr("0 bytes; 2 x 3072"));
  EXPECT_THAT(error_of(batch(pickled_array(0, ""))), HasSubstr("the shape 0 x 3072"));
  EXPECT_THAT(error_of(batch("K\x01")), HasSubstr("'data': 1; a dict with 'data'"));
  EXPECT_THAT(error_of(batch("cnumpy\ndtype\n" + short_text("u1") + "\x85R")),
              HasSubstr("an object of dtype"));
  const std::string unfinished = "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n\x85R";
  EXPECT_THAT(error_of(batch(unfinished)), HasSubstr("an object of _reconstruct"));
  for (const char* const state : {"N", ")", "K\x01", "(NNNNNt", "(K\x01)NNNt", "(K\x01)N\x88Nt"}) {
    EXPECT_THAT(error_of(batch(unfinished + state + "b")), HasSubstr("; 'data', an array"))
        << state;
  }
}

TEST(CifarPickle, EveryTruncationIsAnError) {
  const std::string whole = cifar_batch(0, {3, 0});
  for (std::size_t size = 0; size<whole.size(); size += size> 250 && size < 6300 ? 97 : 1)
    EXPECT_NE(error_of(whole.substr(0, size)), "no error") << size;
}

TEST(CifarPickle, AFlippedBitIsAnErrorOrAnotherPixel) {
  const std::string whole = cifar_batch(0, {3, 0});
  for (std::size_t at = 0; at<whole.size(); at += at> 300 && at < 6300 ? 211 : 1) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ 1 << bit);
      try {
        const CifarImages images = taken(flipped);
        ASSERT_EQ(images.labels.size(), 2U);
        ASSERT_EQ(images.pixels.size(), 2 * test::kCifarPixels);
        ASSERT_LT(images.labels[0], 10);
      } catch (const PickleError& error) {
        ASSERT_LE(error.offset, whole.size());
      }
    }
  }
}

TEST(CifarPickle, DamageOfAFileIsMalformedDataWithItsOffset) {
  const test::DataFolder folder;
  folder.write("data_batch_1", test::bytes_of("\x80\x02"s + "cos\nsystem\n)R."));
  CifarImages images;
  expect_error(
      ErrorCode::malformed_data,
      [&] { read_cifar_pickle(folder.path() / "data_batch_1", 10, kAll, images); },
      "data_batch_1', byte offset 2: the name 'os.system'", "bash setup/get-cifar --force",
      "trainer pictures NEW_FOLDER");
  expect_error(
      ErrorCode::unreadable_file,
      [&] { read_cifar_pickle(folder.path() / "none", 10, kAll, images); }, "none");
}

}  // namespace
}  // namespace hpcboot::data

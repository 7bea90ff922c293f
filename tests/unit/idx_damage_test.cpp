// The MNIST reader on damaged files: always an error that gives the position, never a crash, a hang
// or a large allocation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "datasets/idx.hpp"
#include "hpcboot/error.hpp"
#include "support/data_folder.hpp"

namespace hpcboot::data {
namespace {

using test::Bytes;
using test::DataFolder;
using test::gzip;
using test::idx_file;
using ::testing::HasSubstr;

constexpr const char* kImages = "train-images-idx3-ubyte";
constexpr const char* kLabels = "train-labels-idx1-ubyte";

Bytes images() {
  return idx_file({2, 3, 3}, Bytes(18, 200));
}
Bytes labels() {
  return idx_file({2}, {4, 5});
}
Bytes with(Bytes bytes, std::size_t at, std::uint8_t value) {
  bytes.at(at) = value;
  return bytes;
}
Bytes and_more(Bytes bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

struct Damage {
  const char* description;
  Bytes images;
  Bytes labels;
  std::string found;     ///< part of the message, after the file's name
  std::string expected;  ///< part of it
};

std::vector<Damage> damages() {
  return {
      {"empty", {}, labels(), "offset 0: the end of the file", "a header of 16 bytes"},
      {"magic, first byte", with(images(), 0, 1), labels(), "offset 0: byte 0x01", "0x00"},
      {"magic, second byte", with(images(), 1, 0xff), labels(), "offset 1: byte 0xff", "0x00"},
      {"element type int", with(images(), 2, 0x0c), labels(), "offset 2: byte 0x0c",
       "0x08 (element type unsigned byte)"},
      {"labels where images should be", labels(), labels(), "offset 3: byte 0x01",
       "0x03 (dimensions of an image file)"},
      {"images where labels should be", images(), images(), "offset 3: byte 0x03",
       "0x01 (dimensions of a label file)"},
      {"no images", idx_file({0, 3, 3}, {}), labels(), "offset 4: 0 images", "at least one"},
      {"no rows", idx_file({2, 0, 3}, {}), labels(), "offset 8: 0 rows", "1 to 4096"},
      {"wide", idx_file({2, 3, 4097}, {}), labels(), "offset 12: 4097 columns", "1 to 4096"},
      {"absurd", idx_file({0xffffffff, 4096, 4096}, {}), labels(),
       "offset 4: a header that declares", "at most 17179869184"},
      {"large promise", idx_file({1000, 4096, 1024}, Bytes(18, 1)), labels(), "offset 4: a header",
       ""},
      {"one byte short", idx_file({2, 3, 3}, Bytes(17, 1)), labels(), "offset 33: the end",
       "34 bytes"},
      {"one byte long", idx_file({2, 3, 3}, Bytes(19, 1)), labels(), "offset 34: bytes after",
       "34 b"},
      {"fewer labels", images(), idx_file({1}, {4}), "offset 4: 1 labels",
       "2, one for each image of"},
      {"more labels", images(), idx_file({3}, {4, 5, 6}), "offset 4: 3 labels", "2, one for"},
      {"labels short", images(), idx_file({2}, {4}), "offset 9: the end", "10 bytes"},
      {"labels long", images(), idx_file({2}, {4, 5, 6}), "offset 10: bytes after", "10 bytes"},
      {"label 10", images(), idx_file({2}, {4, 10}), "offset 9: label 10", "a label from 0 to 9"},
      {"label 255", images(), idx_file({2}, {255, 1}), "offset 8: label 255", "from 0 to 9"},
  };
}

Error error_of(const DataFolder& folder) {
  try {
    read_mnist(folder.path(), Split::train);
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("no error");
}

TEST(IdxDamage, IsFoundWithFileAndOffset) {
  for (const Damage& damage : damages()) {
    SCOPED_TRACE(damage.description);
    DataFolder folder;
    folder.write(kImages, damage.images);
    folder.write(kLabels, damage.labels);
    const Error error = error_of(folder);
    const bool large = std::string(damage.description) == "large promise";
    EXPECT_EQ(error.code(), ErrorCode::malformed_data);
    EXPECT_THAT(error.found(), HasSubstr(folder.path().string()));
    EXPECT_THAT(error.found(), HasSubstr(large ? "offset 34: the end" : damage.found));
    EXPECT_THAT(error.expected(), HasSubstr(large ? "4194304016 bytes" : damage.expected));
    EXPECT_THAT(error.remedy(), HasSubstr("setup/get-mnist --force"));
  }
}

TEST(IdxDamage, IsFoundInCompressedFilesToo) {
  for (const Damage& damage : damages()) {
    SCOPED_TRACE(damage.description);
    DataFolder folder;
    folder.write(kImages + std::string(".gz"), gzip(damage.images));
    folder.write(kLabels + std::string(".gz"), gzip(damage.labels));
    const Error error = error_of(folder);
    EXPECT_EQ(error.code(), ErrorCode::malformed_data);
    EXPECT_THAT(error.found(), HasSubstr(".gz', decompressed byte "));
    EXPECT_THAT(error.found(), HasSubstr(damage.found));
  }
}

TEST(IdxDamage, EveryTruncationOfAFileIsAnError) {
  for (const bool compressed : {false, true}) {
    const std::string suffix = compressed ? ".gz" : "";
    for (const bool cut_images : {true, false}) {
      const Bytes whole_images = compressed ? gzip(images()) : images();
      const Bytes whole_labels = compressed ? gzip(labels()) : labels();
      const Bytes& whole = cut_images ? whole_images : whole_labels;
      DataFolder folder;
      folder.write(kImages + suffix, whole_images);
      folder.write(kLabels + suffix, whole_labels);
      ASSERT_EQ(read_mnist(folder.path(), Split::train).count, 2);
      for (std::size_t length = 0; length < whole.size(); ++length) {
        SCOPED_TRACE(suffix + (cut_images ? " images" : " labels") + " cut to " +
                     std::to_string(length));
        folder.write((cut_images ? kImages : kLabels) + suffix,
                     {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
        const Error error = error_of(folder);
        EXPECT_EQ(error.code(), ErrorCode::malformed_data);
        EXPECT_THAT(error.found(), HasSubstr("offset "));
      }
    }
  }
}

TEST(IdxDamage, EveryBitOfAHeaderMatters) {
  for (const bool compressed : {false, true}) {
    const std::string suffix = compressed ? ".gz" : "";
    DataFolder folder;
    folder.write(kLabels, labels());
    for (std::size_t at = 0; at < 16; ++at) {
      for (unsigned flip = 1; flip < 256; flip *= 2) {
        const auto byte = static_cast<std::uint8_t>(images()[at] ^ flip);
        const Bytes damaged = with(images(), at, byte);
        folder.write(kImages + suffix, compressed ? gzip(damaged) : damaged);
        EXPECT_EQ(error_of(folder).code(), ErrorCode::malformed_data)
            << "byte " << at << " = " << int{byte};
      }
    }
  }
}

TEST(IdxDamage, AFlippedBitOfAGzipIsAnErrorOrHarmless) {
  DataFolder folder;
  folder.write(kLabels, labels());
  const Bytes whole = gzip(images());
  int errors = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    const auto flipped = static_cast<std::uint8_t>(whole[bit / 8] ^ 1U << bit % 8);
    folder.write(kImages + std::string(".gz"), with(whole, bit / 8, flipped));
    try {
      // Bits of gzip's header such as its time stamp may change; the data may not.
      EXPECT_EQ(read_mnist(folder.path(), Split::train).pixels, Bytes(18, 200)) << "bit " << bit;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::malformed_data) << "bit " << bit;
      ++errors;
    }
  }
  EXPECT_GT(errors, static_cast<int>(4 * whole.size()));
}

TEST(IdxDamage, WhatFollowsAGzipIsAnError) {
  DataFolder folder;
  folder.write(kLabels, labels());
  struct Case {
    const char* description;
    Bytes more;
    const char* found;
  };
  for (const Case& c : {Case{"garbage", {1, 2, 3, 4}, "gzip reports"},
                        Case{"another member", gzip({1}), "bytes after the data"},
                        Case{"half a member", {0x1f, 0x8b}, "the compressed data ends"}}) {
    SCOPED_TRACE(c.description);
    folder.write(kImages + std::string(".gz"), and_more(gzip(images()), c.more));
    EXPECT_THAT(error_of(folder).found(), HasSubstr(c.found));
  }
}

TEST(IdxDamage, AFileThatOnlyClaimsToBeGzipIsAnError) {
  DataFolder folder;
  folder.write(kImages + std::string(".gz"), images());
  folder.write(kLabels, labels());
  EXPECT_THAT(error_of(folder).found(), HasSubstr("gzip reports 'incorrect header check'"));
}

TEST(IdxDamage, AGzipBombIsReadNoFurtherThanItsHeaderDeclares) {
  DataFolder folder;
  // 64 MiB of zeros in 64 KiB, behind a header that declares 18 bytes.
  folder.write(kImages + std::string(".gz"),
               gzip(and_more(images(), Bytes(std::size_t{64} << 20))));
  folder.write(kLabels, labels());
  EXPECT_THAT(error_of(folder).found(), HasSubstr("offset 34: bytes after the data"));
}

}  // namespace
}  // namespace hpcboot::data

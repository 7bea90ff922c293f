// PyTorch's tensors, compared with the Python at test::python.
#include "datasets/pt_data.hpp"

#include <caffe2/serialize/inline_container.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "datasets/formats.hpp"
#include "support/expect_error.hpp"
#include "support/image_sets.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::data {
namespace {

using test::CountingSet;
using test::expect_error;
using test::read_all;
using test::TemporaryFolder;

/// The exit code of torch_save.py; 127 if there is no such Python.
int python(const std::string& verb, const std::filesystem::path& path) {
  const std::string command = std::string(test::python) + " " +
                              test::source_file("tests/support/torch_save.py") + " " + verb + " '" +
                              path.string() + "'";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool is_missing(int exit_code) {
  return exit_code == 77 || exit_code == 127;
}

TEST(PtData, WhatPythonSavedIsRead) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "set.pt").string();
  const int code = python("save", file);
  if (is_missing(code)) GTEST_SKIP() << test::python << " with torch was not found";
  ASSERT_EQ(code, 0);
  const auto train = open_dataset(file, Split::train);
  EXPECT_EQ(train->count(), 5);
  EXPECT_EQ(to_string(train->shape()), "1x2x3");
  const test::Read all = read_all(*train);
  for (std::size_t i = 0; i < all.pixels.size(); ++i) EXPECT_EQ(all.pixels[i], i / 6);
  EXPECT_EQ(all.labels, (std::vector<std::uint8_t>{0, 1, 2, 3, 4}));
  const auto test = open_dataset(file, Split::test);
  EXPECT_EQ(test->count(), 3);
  EXPECT_EQ(test->pixel_type(), PixelType::f32);
}

TEST(PtData, PythonReadsWhatWasWritten) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "set.pt").string();
  std::int64_t written = 0;
  write_pt(file, CountingSet(37), CountingSet(11), [&](std::int64_t images) { written += images; });
  EXPECT_EQ(written, 48);
  const int code = python("load", file);
  if (is_missing(code)) GTEST_SKIP() << test::python << " with torch was not found";
  EXPECT_EQ(code, 0);
}

TEST(PtData, WhatIsNoDataSetIsAnError) {
  const TemporaryFolder folder;
  const int code = python("odd", folder.path());
  if (is_missing(code)) GTEST_SKIP() << test::python << " with torch was not found";
  ASSERT_EQ(code, 0);
  const struct {
    const char* name;
    ErrorCode code;
    const char* found;
    const char* expected;
  } cases[] = {
      {"list.pt", ErrorCode::malformed_data, "a GenericList", "a dict of tensors"},
      {"tensor.pt", ErrorCode::malformed_data, "a Tensor", "a dict of tensors"},
      {"no_labels.pt", ErrorCode::missing_data,
       "has no array 'train/labels'; it has train/images, labels", "test/labels"},
      {"expanded.pt", ErrorCode::malformed_data, "'train/images' is larger than its data",
       "complete"},
      {"complex.pt", ErrorCode::malformed_data, "'train/images': elements of type Complex",
       "uint8 (0 to 255) or float32 (0 to 1)"},
      {"one_ordered.pt", ErrorCode::malformed_data, "contains an OrderedDict",
       "torch.save(dict(x)"},
      {"checkpoint.pt", ErrorCode::malformed_data, "contains an OrderedDict", "plain dicts"},
      {"legacy.pt", ErrorCode::malformed_data, "has the format of PyTorch before 1.6",
       "torch.save(torch.load(FILE), FILE)"},
      {"protocol.pt", ErrorCode::malformed_data, "has a pickle of protocol 4",
       "without pickle_protocol"},
      {"numpy.pt", ErrorCode::malformed_data, "contains numpy.", "torch.as_tensor(x)"},
      {"parameter.pt", ErrorCode::malformed_data, "contains torch._utils._rebuild_parameter",
       "torch.as_tensor(x).detach()"},
      {"one_item.pt", ErrorCode::malformed_data, "contains a list of one item", "plain dicts"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string file = (folder.path() / c.name).string();
    expect_error(
        c.code, [&] { open_dataset(file, Split::train); }, file, c.found, c.expected);
  }
}

TEST(PtData, APickleThatAsksForMoreMemoryThanItHasBytesIsRefused) {
  using namespace std::string_view_literals;
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "set.pt").string();
  const struct {
    const char* description;
    std::string_view pickle;
    ErrorCode code;
    const char* found;
  } cases[] = {
      {"a memo of 4 GB", "\x80\x02}r\0\0\0\x08."sv, ErrorCode::malformed_data,
       "a memo index of 134217728 in data.pkl, which has 9 bytes"},
      {"after other instructions",
       "\x80\x02}ccollections\nOrderedDict\nq\0K\1M\1\1Nr\xff\xff\xff\xff."sv,
       ErrorCode::malformed_data, "a memo index of 4294967295"},
      {"a text of 2 GB",
       "\x80\x02X\xff\xff\xff\x7f"
       "abc."sv,
       ErrorCode::malformed_data,
       "the instruction at byte 2 of data.pkl extends beyond its 11 bytes"},
      {"a name without end",
       "\x80\x02"
       "ccollections\nOrd"sv,
       ErrorCode::malformed_data, "the instruction at byte 2"},
      {"a number that fits", "\x80\x02}r\x05\0\0\0."sv, ErrorCode::missing_data,
       "it has no arrays"},
      {"a text that looks like the instruction", "\x80\x02}(X\x05\0\0\0rrrrrNu."sv,
       ErrorCode::missing_data, "it has no arrays"},
      {"nothing", ""sv, ErrorCode::malformed_data, "LibTorch reports"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.description);
    {
      caffe2::serialize::PyTorchStreamWriter archive(file);
      archive.writeRecord("data.pkl", c.pickle.data(), c.pickle.size());
      archive.writeEndOfFile();
    }
    expect_error(
        c.code, [&] { open_dataset(file, Split::train); }, file, c.found);
  }
}

TEST(PtData, ViewsOfOneRecordAreReadAsTheirArrays) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "views.pt").string();
  const int code = python("views", file);
  if (is_missing(code)) GTEST_SKIP() << test::python << " with torch was not found";
  ASSERT_EQ(code, 0);
  const auto read = [array_file = open_pt(file)](const std::string& name, std::int64_t values,
                                                 const std::vector<RowRun>& runs) {
    const ArrayInfo& array = find_array(*array_file, name, "");
    std::vector<std::int32_t> out(static_cast<std::size_t>(values));
    array_file->read(array, runs, out.data());
    return out;
  };
  using Values = std::vector<std::int32_t>;
  EXPECT_EQ(read("whole", 6, {{0, 2}}), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(read("transposed", 6, {{0, 3}}), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(read("transposed", 4, {{0, 1}, {2, 1}}), (Values{0, 3, 2, 5}));
  EXPECT_EQ(read("column", 2, {{0, 2}}), (Values{1, 4}));
  EXPECT_EQ(read("row", 3, {{0, 3}}), (Values{3, 4, 5}));
  EXPECT_EQ(read("turned", 12, {{1, 1}, {3, 1}}),
            (Values{1, 5, 9, 13, 17, 21, 3, 7, 11, 15, 19, 23}));
}

TEST(PtData, EveryTruncationIsAnErrorThatNamesTheFile) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "set.pt").string();
  write_pt(file, CountingSet(3), CountingSet(2), [](std::int64_t) {});
  const std::string whole = test::read_text(file);
  for (std::size_t size = 0; size < whole.size(); size += size < 64 ? 1 : 37) {
    test::write_text(file, whole.substr(0, size));
    expect_error(
        ErrorCode::malformed_data, [&] { open_dataset(file, Split::train); }, file,
        "a complete file");
  }
}

// LibTorch does not verify the checksums in the file, so a damaged pixel goes unnoticed, as in an
// uncompressed file of MNIST; damage to the description of the tensors does not.
TEST(PtData, AFlippedByteIsAnErrorOrGivesASetOfTheSameKind) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "set.pt").string();
  write_pt(file, CountingSet(3), CountingSet(2), [](std::int64_t) {});
  const std::string whole = test::read_text(file);
  int errors = 0;
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    test::write_text(file, damaged);
    try {
      const auto set = open_dataset(file, Split::train);
      EXPECT_EQ(read_all(*set).labels.size(), static_cast<std::size_t>(set->count())) << at;
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 100);
}

}  // namespace
}  // namespace hpcboot::data

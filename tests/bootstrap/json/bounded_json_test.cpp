#include "json/bounded_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "hpcboot/error.hpp"
#include "json/json_reader.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot {
namespace {

using ::testing::HasSubstr;

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string problem_of(const std::string& text, const JsonLimits& limits = {}) {
  try {
    parse_json(text, limits);
  } catch (const JsonError& problem) {
    return problem.what();
  }
  return "";
}

TEST(BoundedJson, ReadsWhatTheLibraryReads) {
  for (const char* text :
       {R"({"b": [1, -2, 3.5, "x", null, true, {}], "a": {"n": []}})", "[]", "7", "\"a\"", "null",
        R"([18446744073709551615, -9223372036854775808, 1e300])"}) {
    EXPECT_EQ(parse_json(text), Json::parse(text)) << text;
  }
  EXPECT_EQ(parse_json(R"({"b": 1, "a": 2})").begin().key(), "b") << "the order stays";
}

TEST(BoundedJson, DepthIsALimitAndNoCrash) {
  EXPECT_EQ(problem_of(repeated("[", 64) + repeated("]", 64)), "");
  EXPECT_THAT(problem_of(repeated("[", 65) + repeated("]", 65)),
              HasSubstr("more than 64 levels deep"));
  EXPECT_THAT(problem_of(repeated("[", 1'000'000)), HasSubstr("more than 64 levels deep"));
  EXPECT_THAT(problem_of(repeated("{\"a\":", 1'000'000)), HasSubstr("more than 64 levels deep"));
}

TEST(BoundedJson, LengthAndNumberOfValuesAreLimits) {
  JsonLimits limits;
  limits.bytes = 10;
  EXPECT_EQ(problem_of("[1,2,3,4]", limits), "");
  EXPECT_THAT(problem_of("[1,2,3,4,5]", limits), HasSubstr("has 11 bytes, more than 10"));
  limits = {};
  limits.values = 3;
  EXPECT_EQ(problem_of("[1,2]", limits), "");
  EXPECT_EQ(problem_of("[[],{}]", limits), "");
  EXPECT_THAT(problem_of("[1,2,3]", limits), HasSubstr("more than 3 values"));
  EXPECT_THAT(problem_of("[[],[],[]]", limits), HasSubstr("more than 3 values"));
}

TEST(BoundedJson, AKeyStandsOnceInAnObject) {
  EXPECT_EQ(problem_of(R"([{"a": 1}, {"a": 2}])"), "");
  EXPECT_THAT(problem_of(R"({"a": 1, "b": {"a": 1}, "a": 3})"), HasSubstr("key 'a' twice"));
  EXPECT_THAT(problem_of("{\"a\\u001b\": 1, \"a\\u001b\": 3}"), HasSubstr("key 'a\\x1b' twice"));
  std::string many = "{";
  for (int i = 0; i < 100'000; ++i) many += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_EQ(problem_of(many + "\"last\":0}"), "");  // fast: keys are not compared pairwise
  EXPECT_THAT(problem_of(many + "\"k7\":0}"), HasSubstr("key 'k7' twice"));
  EXPECT_THAT(problem_of(many + "\"k99999\":0}"), HasSubstr("key 'k99999' twice"));
}

TEST(BoundedJson, NumbersAndDamage) {
  EXPECT_THAT(problem_of("[1e999]"), HasSubstr("beyond the range of a double"));
  EXPECT_THAT(problem_of("[1,"), HasSubstr("is not valid JSON (byte "));
  EXPECT_THAT(problem_of(""), HasSubstr("is not valid JSON (byte "));
  EXPECT_THAT(problem_of("[1] x"), HasSubstr("is not valid JSON (byte "));
  EXPECT_THAT(problem_of("[\"\xff\"]"), HasSubstr("is not valid JSON (byte "));
}

TEST(BoundedJson, FilesAreNamed) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "x.json";
  std::ofstream(file) << repeated("[", 80'000);
  test::expect_error(
      ErrorCode::malformed_file, [&] { read_json_file(file); }, "x.json' is nested more than 64");
  test::expect_error(
      ErrorCode::unreadable_file, [&] { read_json_file(folder.path() / "none"); }, "none");
  test::expect_error(
      ErrorCode::unreadable_file, [&] { read_json_file(folder.path()); }, "directory");
  const auto fifo = folder.path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  test::expect_error(
      ErrorCode::unreadable_file, [&] { read_json_file(fifo); }, "fifo");
}

TEST(BoundedJson, AFileThatBecomesAPipeIsNotWaitedFor) {
  const test::TemporaryFolder folder;
  const auto in_folder = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string file = in_folder("x.json");
  std::ofstream(file) << "[]";
  std::filesystem::create_hard_link(file, in_folder("text"));
  ASSERT_EQ(mkfifo(in_folder("fifo").c_str(), 0600), 0);
  std::atomic<bool> ends{false};
  std::thread exchanging([&] {
    for (int i = 0; !ends; ++i) {
      std::filesystem::create_hard_link(in_folder(i % 2 == 0 ? "fifo" : "text"), in_folder("next"));
      std::filesystem::rename(in_folder("next"), file);
    }
  });
  int read = 0;
  int refused = 0;
  while (read < 1000 || refused < 1000) {
    try {
      read_json_file(file);
      ++read;
    } catch (const Error& problem) {
      EXPECT_EQ(problem.code(), ErrorCode::unreadable_file);
      ++refused;
    }
  }
  ends = true;
  exchanging.join();
}

TEST(BoundedJson, TextIsSafeForATerminalAndReadsBack) {
  const Json value = {{"a\x1b", "b\u009b\u202e\x7f"}, {"Größe", "日本 \n"}};
  EXPECT_EQ(json_text(value).str(),
            "{\"a\\u001b\":\"b\\u009b\\u202e\\u007f\",\"Größe\":\"日本 \\n\"}");
  EXPECT_EQ(parse_json(json_text(value).str()), value);
  EXPECT_EQ(parse_json(json_text(value, 2).str()), value);
  EXPECT_EQ(json_text(Json("\U000e0041")).str(), "\"\\udb40\\udc41\"");
  EXPECT_EQ(json_text(Json("a\xff")).str(), "\"a\ufffd\"");
}

TEST(JsonReaderRanges, NumbersOutsideAreNamed) {
  const Json json =
      parse_json(R"({"n": 5, "x": 1e308, "b": 1, "t": ["a", 1], "i": [1, 4294967296]})");
  const JsonReader reader("f", json);
  EXPECT_EQ(reader.integer("n", 0, 5), 5);
  test::expect_error(
      ErrorCode::malformed_file, [&] { reader.integer("n", 6, 9); }, "key 'n' holds 5");
  test::expect_error(
      ErrorCode::malformed_file, [&] { reader.number("x", 0, 1e12); }, "key 'x' holds 1e+308");
  test::expect_error(
      ErrorCode::malformed_file, [&] { reader.boolean("b"); }, "key 'b' holds 1");
  test::expect_error(
      ErrorCode::malformed_file, [&] { reader.texts("t"); }, "key 't' holds an array");
  test::expect_error(
      ErrorCode::malformed_file, [&] { reader.small_integers("i"); }, "key 'i' holds an array");
}

TEST(JsonReaderMembers, OfALargeObjectAreFoundToo) {
  Json json = Json::object();
  for (int i = 0; i < 100; ++i) json["key" + std::to_string(i)] = i;
  json["text"] = "x";
  json["none"] = nullptr;
  json["inner"] = json;
  const JsonReader reader("f", json);
  EXPECT_EQ(reader.integer("key0"), 0);
  EXPECT_EQ(reader.integer("key99"), 99);
  EXPECT_EQ(reader.text("text"), "x");
  EXPECT_EQ(reader.text("none"), std::nullopt);
  EXPECT_EQ(reader.text("key100"), std::nullopt);
  EXPECT_EQ(reader.object("inner")->text("text"), "x");
  test::expect_error(
      ErrorCode::malformed_file, [&] { reader.object("inner")->text("key7"); },
      "'f', key 'inner.key7' holds 7");
}

TEST(JsonReaderObjects, AreReadOneAtATime) {
  const Json json = parse_json(R"({"list": [{"a": 1}, {"a": 2}, 3], "none": null, "text": "x"})");
  const JsonReader reader("f", json);
  int sum = 0;
  const auto add = [&](const JsonReader& one) { sum += one.small_integer("a").value_or(0); };
  test::expect_error(
      ErrorCode::malformed_file, [&] { reader.for_each_object("list", add); },
      "'f', key 'list[2]' holds 3");
  EXPECT_EQ(sum, 3);  // a reader of all of them would take many times their memory
  reader.for_each_object("none", add);
  EXPECT_EQ(sum, 3);
  test::expect_error(
      ErrorCode::malformed_file, [&] { reader.for_each_object("text", add); },
      "key 'text' holds \"x\"");
}

}  // namespace
}  // namespace hpcboot

// Event files: this checks their frames; TensorBoard checks their content if Python has it.
#include "record/tensorboard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/paths.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::record {
namespace {

using ::testing::HasSubstr;

std::uint64_t number_at(const std::string& text, std::size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)])}
             << 8 * i;
  }
  return value;
}

TEST(Tensorboard, AFrameHasLengthAndChecksums) {
  const test::TemporaryFolder folder;
  TensorboardEvents events(folder.path());
  events.flush();
  const std::string text = test::read_text(events.path());
  const std::uint64_t length = number_at(text, 0, 8);
  ASSERT_EQ(text.size(), 8 + 4 + length + 4);
  EXPECT_EQ(length, 24U);  // a double, and "brain.Event:2", each with its tag
  // The masked CRC-32C of 24 as eight bytes, from TensorFlow's own files, which all start with it.
  EXPECT_EQ(number_at(text, 8, 4), 0x224b7fa3U) << std::hex << number_at(text, 8, 4);
  EXPECT_THAT(text, HasSubstr("brain.Event:2"));
  EXPECT_THAT(events.path().filename().string(), ::testing::StartsWith("events.out.tfevents."));
}

TEST(Tensorboard, EventsAreWrittenBeforeTheEnd) {
  const test::TemporaryFolder folder;
  TensorboardEvents events(folder.path());
  EpochRecord epoch;
  epoch.epoch = 1;
  epoch.train_loss = 0.5;
  events.add(epoch, 20);
  EXPECT_THAT(test::read_text(events.path()), HasSubstr("epoch/train_loss"));
  EXPECT_THAT(test::read_text(events.path()), ::testing::Not(HasSubstr("accuracy")));
}

TEST(Tensorboard, AMissingFolderIsNamed) {
  test::expect_error(
      ErrorCode::unwritable_output, [] { TensorboardEvents events("/no/such/folder"); },
      "/no/such/folder");
}

TEST(Tensorboard, ARestartIsAStartOfASessionAtItsFirstStep) {
  const test::TemporaryFolder folder;
  TensorboardEvents events(folder.path());
  events.add_restart(12);
  events.flush();
  // step = 12; session_log { status: START }
  EXPECT_THAT(test::read_text(events.path()), HasSubstr("\x10\x0c\x3a\x02\x08\x01"));
}

// Fields of Protocol Buffers, all shorter than 128 bytes.
std::string field(int number, const std::string& content) {
  EXPECT_LT(content.size(), 128U);
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} +
         content;
}

std::string small(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

template <typename T>
std::string fixed(int number, T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return static_cast<char>(number << 3 | (sizeof value == 8 ? 1 : 5)) + bytes;
}

std::string event_of_hparams(const std::string& tag, const std::string& data) {
  return field(
      5, field(1, field(1, tag) + field(8, small(1, 1) + field(2, field(2, small(1, 0)))) +
                      field(9, field(1, field(1, "hparams") + field(2, data)) + small(4, 2))));
}

// The events after the first one, each without its frame and its time.
std::vector<std::string> events_in(const std::string& text) {
  std::vector<std::string> events;
  std::size_t length = 0;
  for (std::size_t at = 0; at < text.size(); at += 8 + 4 + length + 4) {
    length = number_at(text, at, 8);
    const std::string event = text.substr(at + 8 + 4, length);
    EXPECT_EQ(event[0], '\x09');  // wall_time, a double
    events.push_back(event.substr(1 + 8));
  }
  return {events.begin() + 1, events.end()};
}

// The numbers are those of TensorFlow's event.proto, summary.proto, tensor.proto and types.proto,
// of the plugin_data.proto of TensorBoard's hparams, and of Google's struct.proto.
TEST(Tensorboard, EventsHaveTheFieldsOfTheirProtocols) {
  const test::TemporaryFolder folder;
  TensorboardEvents events(folder.path());
  EpochRecord epoch;
  epoch.train_loss = 0.5;
  events.add(epoch, 20);
  events.add_config({{"n", 2}, {"m", "x"}, {"b", true}}, 1.5e9);
  events.add_end(true);
  events.add_end(false);
  const auto found = events_in(test::read_text(events.path()));
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0],
            small(2, 20) + field(5, field(1, field(1, "epoch/train_loss") + fixed(2, 0.5F))));
  const std::string table = "| option | value |\n|---|---|\n| n | 2 |\n| m | x |\n| b | true |\n";
  EXPECT_EQ(found[1], field(5, field(1, field(1, "config") +
                                            field(8, small(1, 7) + field(2, field(2, small(1, 1))) +
                                                         field(8, table)) +
                                            field(9, field(1, field(1, "text"))))));
  EXPECT_EQ(found[2],
            event_of_hparams(
                "_hparams_/session_start_info",
                field(3, field(1, field(1, "n") + field(2, fixed(2, 2.0))) +
                             field(1, field(1, "m") + field(2, field(3, "x"))) +
                             field(1, field(1, "b") + field(2, small(4, 1))) + fixed(5, 1.5e9))));
  for (const int status : {1, 2}) {
    const std::string& end = found[static_cast<std::size_t>(2 + status)];
    double ended = 0;  // it is followed by the class of the data
    std::memcpy(&ended, end.data() + end.size() - 2 - sizeof ended, sizeof ended);
    EXPECT_GT(ended, 1.5e9);
    EXPECT_EQ(end, event_of_hparams("_hparams_/session_end_info",
                                    field(4, small(1, status) + fixed(2, ended))));
  }
}

TEST(Tensorboard, IsReadByTensorBoard) {
  const test::TemporaryFolder folder;
  {
    TensorboardEvents events(folder.path());
    events.add_config({{"model", "resnet50"},
                       {"lr", 0.5},
                       {"sync_bn", true},
                       {"site", nullptr},
                       {"comment", "a|b"}},
                      1.5e9);
    for (int step = 1; step <= 3; ++step) {
      events.add(StepMetrics{1, step, 2.5 / step, 1e-4, 640, 0.01, 0.1});
    }
    EpochRecord epoch;
    epoch.epoch = 2;
    epoch.measures = {{"accuracy", 0.875, true}};
    events.add(epoch, 3);
    for (int step = 4; step <= 5; ++step) events.add(StepMetrics{2, step, 77.0, 1e-4, 640});
    epoch.epoch = 3;
    epoch.measures = {{"accuracy", 0.77, true}};
    events.add(epoch, 5);
  }
  {
    TensorboardEvents resumed(folder.path());
    resumed.add_restart(4);
    resumed.add(StepMetrics{2, 4, 0.5, 1e-4, 640, 0.01, 0.1});
    resumed.add_end(true);
  }
  const std::string pypi_python = test::built_file("tests/pypi-venv/bin/python");
  const auto read = test::run_program(
      {pypi_python, test::source_file("tests/support/read_events.py"), folder.path().string()}, {});
  if (!read || read->exit_code != 0) {
    GTEST_SKIP() << "no Python with the package tensorboard at " << pypi_python;
  }
  EXPECT_THAT(read->text, HasSubstr("step/loss 1 2.5\nstep/loss 2 1.25\nstep/loss 3 0.833333\n"));
  EXPECT_THAT(read->text, HasSubstr("step/loss 4 0.5\n"));
  EXPECT_THAT(read->text, ::testing::Not(HasSubstr("77"))) << "steps, and an epoch, done again";
  EXPECT_THAT(read->text, HasSubstr("step/learning_rate 3 0.0001\n"));
  EXPECT_THAT(read->text, HasSubstr("step/images_per_second 1 640\n"));
  for (const StepColumn& column : kStepColumns)
    EXPECT_THAT(read->text, HasSubstr("step/" + std::string(column.name) + " 1 "));
  EXPECT_THAT(read->text, HasSubstr("step/bytes_reduced 1 "));
  EXPECT_THAT(read->text, HasSubstr("epoch/validation_accuracy 3 0.875\n"));
  EXPECT_THAT(read->text, HasSubstr("config text | comment | a\\|b |"));
  EXPECT_THAT(read->text, HasSubstr("_hparams_/session_start_info lr 0.5\n"
                                    "_hparams_/session_start_info model resnet50\n"
                                    "_hparams_/session_start_info sync_bn True\n"));
  EXPECT_THAT(read->text, HasSubstr("_hparams_/session_end_info status 1\n"));
}

}  // namespace
}  // namespace hpcboot::record

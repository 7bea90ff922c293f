#include "loop/lr_schedule.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>

#include "loop/train_options.hpp"
#include "support/paths.hpp"
#include "support/run_program.hpp"

namespace hpcboot::train {
namespace {

constexpr int kSkip = 77;
constexpr double kRate = 0.5;  // as in support/lr_schedules.py

struct Case {
  const char* schedule;
  int steps;
  int warmup;
  int decay_every;
};

LrSchedule schedule_of(const Case& c) {
  OptimizationOptions options;
  options.lr = kRate;
  options.schedule = c.schedule;
  options.warmup_steps = c.warmup;
  options.decay_epochs = c.decay_every;
  return {options, 1, c.steps, 1};
}

TEST(LrSchedule, EqualsPyTorchsSchedulers) {
  const Case cases[] = {{"constant", 6, 0, 1}, {"constant", 9, 4, 1}, {"step", 12, 0, 3},
                        {"step", 12, 2, 3},    {"cosine", 10, 0, 1},  {"cosine", 50, 7, 1},
                        {"linear", 10, 0, 1},  {"linear", 25, 3, 1}};
  std::vector<std::string> command{test::python,
                                   test::source_file("tests/support/lr_schedules.py")};
  for (const Case& c : cases) {
    command.insert(command.end(), {c.schedule, std::to_string(c.steps), std::to_string(c.warmup),
                                   std::to_string(c.decay_every)});
  }
  const auto reference = test::run_program(command, {});
  if (!reference) GTEST_SKIP() << test::python << " was not found";
  if (reference->exit_code == kSkip) GTEST_SKIP() << reference->text;
  ASSERT_EQ(reference->exit_code, 0) << reference->text;

  std::istringstream lines(reference->text);
  for (const Case& c : cases) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    std::istringstream words(line);
    const std::vector<double> expected{std::istream_iterator<double>(words), {}};
    ASSERT_EQ(expected.size(), static_cast<std::size_t>(c.steps));
    const LrSchedule schedule = schedule_of(c);
    for (int step = 0; step < c.steps; ++step) {
      EXPECT_NEAR(schedule.at(step), expected[static_cast<std::size_t>(step)], 1e-12)
          << c.schedule << ", warm-up " << c.warmup << ", step " << step;
    }
  }
}

TEST(LrSchedule, ScalesWithTheDevices) {
  OptimizationOptions options;
  options.lr = 0.1;
  const auto peak = [&](const char* rule, int devices) {
    options.scale_lr = rule;
    return LrSchedule(options, 10, 1, devices).peak();
  };
  EXPECT_DOUBLE_EQ(peak("none", 4), 0.1);
  EXPECT_DOUBLE_EQ(peak("linear", 4), 0.4);
  EXPECT_DOUBLE_EQ(peak("sqrt", 4), 0.2);
  EXPECT_DOUBLE_EQ(peak("linear", 1), 0.1);
}

TEST(LrSchedule, EpochsAreStepsOfTheRun) {
  OptimizationOptions options;
  options.lr = 1;
  options.schedule = "step";
  options.warmup_epochs = 0.5;
  options.decay_epochs = 2;
  const LrSchedule schedule(options, 10, 6, 1);
  EXPECT_DOUBLE_EQ(schedule.at(0), 1.0 / 6);
  EXPECT_DOUBLE_EQ(schedule.at(5), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(24), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(25), 0.1);
}

TEST(LrSchedule, BeyondItsEndItStaysWhereItEnded) {
  EXPECT_DOUBLE_EQ(schedule_of({"cosine", 10, 0, 1}).at(11), 0.0);
  EXPECT_DOUBLE_EQ(schedule_of({"linear", 10, 0, 1}).at(30), 0.0);
}

TEST(LrSchedule, RefusesWhatCannotBe) {
  const auto message = [](OptimizationOptions options) {
    try {
      LrSchedule(options, 10, 2, 1);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  OptimizationOptions options;
  options.warmup_epochs = 1e300;
  EXPECT_NE(message(options).find("the warm-up takes"), std::string::npos) << message(options);
  options = {};
  options.schedule = "polynomial";
  EXPECT_NE(message(options).find("polynomial"), std::string::npos);
  options = {};
  options.scale_lr = "cubic";
  EXPECT_NE(message(options).find("cubic"), std::string::npos);
  options = {};
  options.warmup_steps = 20;
  EXPECT_NE(message(options).find("20 steps"), std::string::npos) << message(options);
}

}  // namespace
}  // namespace hpcboot::train

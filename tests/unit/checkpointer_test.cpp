// When a run saves a checkpoint and when it stops, by a clock that the test sets.
#include "loop/checkpointer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "loop/checkpoint_folder.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::train {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Resolution alone() {
  Resolution resolution;
  resolution.placement = {0, 1, 0, 1, 0, 1};
  return resolution;
}

TrainOptions small(const std::string& checkpoint_every, const std::string& time_limit) {
  TrainOptions options;
  options.model = "mnistnet";
  options.image_size = 28;
  options.data = "synthetic:32x1x28x28";
  options.epochs = 9;
  options.checkpoint_every = checkpoint_every;
  options.time_limit = time_limit;
  options.keep_checkpoints = 100;
  return options;
}

/// A run of one process with 8 steps an epoch, each of which takes `step_seconds` of its clock.
class ClockedRun {
 public:
  explicit ClockedRun(std::chrono::milliseconds step_seconds, const std::string& checkpoint_every,
                      const std::string& time_limit = "")
      : step_(step_seconds), options_(small(checkpoint_every, time_limit)) {
    torch::set_num_threads(1);  // with steps of 4 images, threads would only wait for each other
    checkpointer_.emplace(options_, record::RunFolder(folder_.path()), identity_, trainer_,
                          communicator_, now_, 0.0, [this] { return now_; });
  }

  /// @return whether the epoch was completed
  bool train_epoch() {
    ProgressBar bar(false);
    const auto after_step = [this](double, bool last) {
      now_ += step_;
      return checkpointer_->after_step(std::chrono::duration<double>(step_).count(), last);
    };
    const auto stepped = [](const record::StepMetrics& /*step*/) {};
    const auto save = [this] { checkpointer_->save(); };
    return trainer_.run({nullptr, nullptr, bar, stepped, after_step, save}).has_value();
  }

  void end_epoch(double accuracy) {
    const int epoch = trainer_.state().epoch;
    trainer_.end_epoch();
    checkpointer_->end_epoch({epoch, accuracy, 1.0});
  }

  /// The steps after which a checkpoint was saved, in order.
  std::vector<std::int64_t> saved() {
    checkpointer_->finish();
    std::vector<std::int64_t> steps;
    for (const auto& file : checkpoints_in(record::RunFolder(folder_.path()).checkpoints())) {
      steps.insert(steps.begin(), read_checkpoint(file).state.step);
    }
    return steps;
  }

  const std::string& stop_reason() const { return checkpointer_->stop_reason(); }

 private:
  const std::chrono::milliseconds step_;
  const test::TemporaryFolder folder_;
  const Json identity_ = Json::object();
  const TrainOptions options_;
  Communicator communicator_{alone(), std::nullopt};
  std::unique_ptr<tasks::Task> task_ = tasks::make_task(options_, torch::kCPU);
  ParallelModel model_{options_, *task_, "single", {torch::Device(torch::kCPU)}, communicator_};
  EpochTrainer trainer_{model_, *task_, options_, plan_batches({4, {}, {}}, 1), 1, communicator_};
  Checkpointer::Clock::time_point now_ = Checkpointer::Clock::now();
  std::optional<Checkpointer> checkpointer_;
};

TEST(Checkpointer, SavesByMinutesAfterTheFirstStepThatEndsThem) {
  ClockedRun run(std::chrono::seconds(25), "1m");
  EXPECT_TRUE(run.train_epoch());
  EXPECT_THAT(run.saved(), ElementsAre(3, 6));
}

TEST(Checkpointer, SavesByMinutesNotBeforeTheyAreOver) {
  ClockedRun run(std::chrono::milliseconds(14999), "2m");
  EXPECT_TRUE(run.train_epoch());
  EXPECT_THAT(run.saved(), IsEmpty());
  ClockedRun exactly(std::chrono::milliseconds(15000), "2m");
  EXPECT_TRUE(exactly.train_epoch());
  EXPECT_THAT(exactly.saved(), ElementsAre(8));
}

TEST(Checkpointer, CountsMinutesOverTheEndsOfEpochsThoughTheBestIsSavedThere) {
  ClockedRun run(std::chrono::seconds(6), "1m");
  EXPECT_TRUE(run.train_epoch());
  run.end_epoch(0.5);
  EXPECT_THAT(run.saved(), IsEmpty()) << "the best one is not among the newest";
  EXPECT_TRUE(run.train_epoch());
  EXPECT_THAT(run.saved(), ElementsAre(10));
}

TEST(Checkpointer, SavesByStepsWhateverTheTime) {
  ClockedRun run(std::chrono::hours(1), "3s");
  EXPECT_TRUE(run.train_epoch());
  run.end_epoch(0.5);
  EXPECT_TRUE(run.train_epoch());
  EXPECT_THAT(run.saved(), ElementsAre(3, 6, 9, 12, 15));
}

TEST(Checkpointer, LeavesSoThatAStepMoreAndASaveFitIntoTheTimeLimit) {
  // After step 4, at 40 s, two steps, a save and 2 s to spare fit in; after step 5 they do not.
  ClockedRun run(std::chrono::seconds(10), "0", "66");
  EXPECT_FALSE(run.train_epoch());
  EXPECT_EQ(run.stop_reason(), "time limit");
  EXPECT_THAT(run.saved(), ElementsAre(5));
  ClockedRun longer(std::chrono::seconds(10), "0", "2:00");
  EXPECT_TRUE(longer.train_epoch());
  EXPECT_EQ(longer.stop_reason(), "");
  EXPECT_THAT(longer.saved(), IsEmpty());
}

}  // namespace
}  // namespace hpcboot::train

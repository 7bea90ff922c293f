#include <gtest/gtest.h>
#include <torch/types.h>

#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "loop/checkpoint_file.hpp"
#include "loop/checkpoint_folder.hpp"
#include "loop/checkpoint_interval.hpp"
#include "loop/checkpoint_writer.hpp"
#include "loop/finite_checkpoint.hpp"
#include "loop/optimizer.hpp"
#include "loop/train_options.hpp"
#include "models/model.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::train {
namespace {

using test::expect_error;
using test::TemporaryFolder;

/// A model and its optimizer, in training.
struct Training {
  explicit Training(const std::string& name) {
    options.optimizer = name;
    torch::manual_seed(1);
    model = models::make_model("mnistnet");
    optimizer = make_optimizer(model->parameters(), options);
  }

  void step(int number) {
    torch::manual_seed(static_cast<std::uint64_t>(number));
    const torch::Tensor images = torch::rand({4, 1, 28, 28});
    optimizer->zero_grad();
    model->forward(images).square().sum().backward();
    optimizer->step();
  }

  std::vector<NamedTensor> tensors() const { return training_tensors(*model, *optimizer); }

  OptimizationOptions options;
  std::shared_ptr<models::Model> model;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
};

TrainingState some_state() {
  TrainingState state;
  state.epoch = 3;
  state.step = 25;
  state.progress.steps = 5;
  state.progress.loss_sum = 0.1 + 0.2;
  state.progress.loss_images = 1.0 / 3;
  state.scaler = GradScalerState{1024, 7, 2};
  state.best = BestValidation{2, 0.75, 0.5};
  state.world_size = 4;
  state.devices = 8;
  state.identity = {{"lr", 1e-4}, {"model", "mnistnet"}};
  return state;
}

Checkpoint copy_of(const Training& training) {
  Checkpoint checkpoint{some_state(), {}};
  for (const NamedTensor& one : training.tensors()) {
    checkpoint.tensors.push_back({one.name, one.tensor.detach().clone()});
  }
  return checkpoint;
}

void expect_equal(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_TRUE(torch::equal(a[i].tensor, b[i].tensor)) << a[i].name;
  }
}

TEST(CheckpointInterval, IsParsed) {
  using Unit = CheckpointInterval::Unit;
  const auto is = [](const char* text, std::int64_t count, Unit unit) {
    const CheckpointInterval interval = parse_checkpoint_interval(text);
    EXPECT_EQ(interval.count, count) << text;
    EXPECT_EQ(interval.unit, unit) << text;
  };
  is("1e", 1, Unit::epochs);
  is("3", 3, Unit::epochs);
  is("500s", 500, Unit::steps);
  is("10m", 10, Unit::minutes);
  is("0", 0, Unit::epochs);
  for (const char* bad : {"", "e", "x", "-1", "1h", "1.5e", "1 e", "99999999999s"}) {
    EXPECT_THROW(parse_checkpoint_interval(bad), UsageError) << bad;
  }
}

TEST(TimeLimit, IsParsed) {
  const std::pair<const char*, int> cases[] = {
      {"90", 90},    {"90s", 90},       {"30m", 1800},   {"2h", 7200},
      {"2:30", 150}, {"1:02:03", 3723}, {"90:00", 5400}, {"48:00:00", 172800}};
  for (const auto& [text, seconds] : cases) {
    EXPECT_EQ(parse_time_limit(text).count(), seconds) << text;
  }
  for (const char* bad : {"", "0", "0m", ":", "1:", "1:60", "1:00:60", "1:2:3:4", "-5", "5d"}) {
    EXPECT_THROW(parse_time_limit(bad), UsageError) << bad;
  }
}

TEST(CheckpointFile, BringsBackEveryBitOfEveryOptimizer) {
  const TemporaryFolder folder;
  for (const char* name : {"adam", "adamw", "sgd"}) {
    Training whole(name);
    for (int i = 0; i < 3; ++i) whole.step(i);
    write_checkpoint(copy_of(whole), folder.path() / "c.safetensors");
    for (int i = 3; i < 6; ++i) whole.step(i);

    Training resumed(name);
    resumed.step(99);
    const Checkpoint read =
        read_checkpoint(folder.path() / "c.safetensors", [&](const auto& state, const auto& list) {
          EXPECT_EQ(state.step, 25);
          EXPECT_EQ(list.size(), whole.tensors().size());
          require_shapes(list, training_shapes(*resumed.model, *resumed.optimizer), "c");
        });
    restore_training_tensors(read.tensors, *resumed.model, *resumed.optimizer, "c");
    for (int i = 3; i < 6; ++i) resumed.step(i);
    expect_equal(whole.tensors(), resumed.tensors());
  }
}

TEST(CheckpointFile, BringsBackTheStateExactly) {
  const TemporaryFolder folder;
  const TrainingState before = some_state();
  write_checkpoint({before, {{"model.x", torch::arange(3)}}}, folder.path() / "c.safetensors");
  const TrainingState after = read_checkpoint(folder.path() / "c.safetensors").state;
  EXPECT_EQ(to_json(after), to_json(before));
  EXPECT_EQ(after.progress.loss_sum, before.progress.loss_sum);
  EXPECT_EQ(after.progress.loss_images, before.progress.loss_images);
  EXPECT_EQ(after.scaler->scale, 1024);
  EXPECT_EQ(after.best->epoch, 2);
}

// r2 is NaN if all targets are equal.
TEST(TrainingState, AMeasureThatIsNoNumberIsTheWorstAndCanBeSaved) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  const BestValidation ordinary{2, -5, 100};
  for (const BestValidation& odd : {validation_of(1, nan, nan), validation_of(1, infinity, 1)}) {
    EXPECT_TRUE(odd.is_beaten_by(ordinary));
    EXPECT_FALSE(ordinary.is_beaten_by(odd));
    TrainingState state = some_state();
    state.best = odd;
    const TrainingState read = training_state_from_json(Json::parse(to_json(state).dump()), "c");
    EXPECT_EQ(read.best->score, odd.score);
    EXPECT_EQ(read.best->loss, odd.loss);
  }
}

// A hostile checkpoint can have a correct checksum, and batches are counted from these numbers.
TEST(CheckpointFile, WithCountsThatNoRunHasIsRefused) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "c.safetensors";
  const std::function<void(TrainingState&)> changes[] = {
      [](TrainingState& state) { state.progress.steps = -1; },
      [](TrainingState& state) { state.progress.steps = kMostSteps + 1; },
      [](TrainingState& state) { state.step = -1; },
      [](TrainingState& state) { state.step = std::numeric_limits<std::int64_t>::max(); },
      [](TrainingState& state) { state.epoch = 0; },
      [](TrainingState& state) { state.epoch = std::numeric_limits<int>::max(); },
      [](TrainingState& state) { state.devices = 0; },
      [](TrainingState& state) { state.progress.images_seen = -1; },
      [](TrainingState& state) { state.scaler->skipped_steps = -1; }};
  for (const auto& change : changes) {
    TrainingState state = some_state();
    change(state);
    write_checkpoint({state, {{"model.x", torch::arange(3)}}}, file);
    expect_error(
        ErrorCode::malformed_file, [&] { read_checkpoint(file); }, file.string());
  }
}

TEST(CheckpointFile, IsRefusedWhenAnyByteIsWrong) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "c.safetensors";
  write_checkpoint({some_state(), {{"model.x", torch::arange(40)}}}, file);
  const std::string good = test::read_text(file);
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
    try {
      read_checkpoint(file);
    } catch (const Error& error) {
      return error.code() == ErrorCode::malformed_file;
    }
    return false;
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    // Padding and the key "format" may change: they are not read.
    if (good[i] == ' ' || (i > 0 && good.substr(8, i).find("\"format\"") != std::string::npos &&
                           i < good.find("\"pt\"") + 4)) {
      continue;
    }
    EXPECT_TRUE(refused(bad)) << "byte " << i << " of " << good.size();
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, good.size() / 2, good.size() - 1}) {
    EXPECT_TRUE(refused(good.substr(0, size))) << size;
  }
  EXPECT_TRUE(refused(good + "x"));
  EXPECT_FALSE(refused(good));
}

TEST(CheckpointFile, OfAnotherModelIsRefusedAndChangesNothing) {
  Training adam("adam");
  adam.step(0);
  Checkpoint checkpoint = copy_of(adam);
  Training other("sgd");
  other.step(1);
  const Checkpoint before = copy_of(other);
  const auto restore = [&](const std::vector<NamedTensor>& tensors) {
    return [&other, tensors] {
      restore_training_tensors(tensors, *other.model, *other.optimizer, "file");
    };
  };
  auto missing = before.tensors;
  missing.erase(missing.begin());
  expect_error(ErrorCode::malformed_file, restore(missing), "no tensor 'model.conv1.weight'");
  auto reshaped = before.tensors;
  reshaped[0].tensor = reshaped[0].tensor.flatten();
  expect_error(ErrorCode::malformed_file, restore(reshaped), "of shape");
  auto more = before.tensors;
  more.push_back({"model.other", torch::zeros(1)});
  expect_error(ErrorCode::malformed_file, restore(more), "which this model does not have");
  expect_equal(other.tensors(), before.tensors);
}

TEST(CheckpointWriter, WritesWhatWasThereWhenItWasCalled) {
  const TemporaryFolder folder;
  CheckpointWriter writer(folder.path() / "checkpoints", 2);
  torch::Tensor tensor = torch::zeros({1000});
  TrainingState state = some_state();
  for (int i = 0; i < 5; ++i) {
    tensor.fill_(i);
    state.step = i;
    writer.save(state, {{"model.x", tensor}}, {true, i == 2});
    tensor.fill_(-1);  // training continues
  }
  writer.finish();
  const auto files = checkpoints_in(folder.path() / "checkpoints");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(writer.newest(), files[0]);
  EXPECT_GT(writer.longest_save_seconds(), 0);
  EXPECT_TRUE(
      torch::equal(read_checkpoint(files[0]).tensors.at(0).tensor, torch::full({1000}, 4.F)));
  EXPECT_TRUE(
      torch::equal(read_checkpoint(files[1]).tensors.at(0).tensor, torch::full({1000}, 3.F)));
  EXPECT_TRUE(torch::equal(
      read_checkpoint(folder.path() / "checkpoints" / kBestCheckpoint).tensors.at(0).tensor,
      torch::full({1000}, 2.F)));
}

TEST(CheckpointWriter, TellsAFailureAtTheNextOccasion) {
  const TemporaryFolder folder;
  CheckpointWriter writer(folder.path() / "checkpoints", 2);
  std::filesystem::remove_all(folder.path() / "checkpoints");
  writer.save(some_state(), {{"model.x", torch::zeros(1)}}, {true, false});
  expect_error(
      ErrorCode::unwritable_output, [&] { writer.finish(); }, "checkpoints");
  writer.check();  // reported once only
}

TEST(FiniteCheckpoint, IsNamedByTheErrorOfARunThatHasDiverged) {
  const TemporaryFolder folder;
  const Error diverged(ErrorCode::diverged, "a loss", "a number", "lower --lr");
  const auto remedy = [&] { return with_finite_checkpoint(diverged, folder.path()).remedy(); };
  EXPECT_EQ(remedy(), "lower --lr");
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  CheckpointWriter writer(folder.path(), 9);
  TrainingState state = some_state();
  for (const float value : {1.F, kNan, 3.F, kNan, std::numeric_limits<float>::infinity()}) {
    ++state.step;
    writer.save(state, {{"model.x", torch::tensor({0.F, value})}, {"model.y", torch::ones({2})}},
                {true, state.step == 26});
    writer.finish();
  }
  const auto remedy_with = [&](const std::string& name) {
    return "lower --lr; start a new run for this, as --resume refuses changed options; the last "
           "checkpoint with finite numbers is " +
           (folder.path() / name).string() + ", whose model `trainer convert` extracts";
  };
  EXPECT_EQ(remedy(), remedy_with(checkpoint_name(2, 28)));
  for (const std::int64_t step : {26, 28})
    std::filesystem::remove(folder.path() / checkpoint_name(2, step));
  EXPECT_EQ(remedy(), remedy_with(kBestCheckpoint));
  std::filesystem::remove(folder.path() / kBestCheckpoint);
  EXPECT_EQ(remedy(), "lower --lr");
}

}  // namespace
}  // namespace hpcboot::train

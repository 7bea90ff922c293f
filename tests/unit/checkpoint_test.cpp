#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <future>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hpcboot/torch/distributed_sampler.hpp"
#include "loop/agreement.hpp"
#include "loop/background_writer.hpp"
#include "loop/checkpoint_file.hpp"
#include "loop/checkpoint_folder.hpp"
#include "loop/checkpoint_interval.hpp"
#include "loop/checkpoint_writer.hpp"
#include "loop/finite_checkpoint.hpp"
#include "loop/optimizer.hpp"
#include "loop/run_identity.hpp"
#include "loop/train_options.hpp"
#include "models/model.hpp"
#include "record/atomic_file.hpp"
#include "record/disk_sync.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_ranks.hpp"

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

TEST(CheckpointFolder, IsListedNewestFirstAndCleaned) {
  const TemporaryFolder folder;
  const auto touch = [&](const std::string& name) { std::ofstream(folder.path() / name) << "x"; };
  for (const auto& [epochs, step] : {std::pair{0, 20}, {1, 20}, {0, 9}, {1, 100}}) {
    touch(checkpoint_name(epochs, step));
  }
  touch(kBestCheckpoint);
  touch("epoch_1_step_2.safetensors");
  touch("." + checkpoint_name(2, 200) + ".1-0.tmp");
  const auto names = [&] {
    std::vector<std::string> list;
    for (const auto& path : checkpoints_in(folder.path())) list.push_back(path.filename().string());
    return list;
  };
  EXPECT_EQ(names(), (std::vector<std::string>{checkpoint_name(1, 100), checkpoint_name(1, 20),
                                               checkpoint_name(0, 20), checkpoint_name(0, 9)}));
  keep_newest_checkpoints(folder.path() / checkpoint_name(1, 100), 2);
  EXPECT_EQ(names(), (std::vector<std::string>{checkpoint_name(1, 100), checkpoint_name(1, 20)}));
  keep_newest_checkpoints(folder.path() / checkpoint_name(9, 9), 1);
  EXPECT_EQ(names().size(), 2U) << "a listing without the newest one is stale";
  keep_newest_checkpoints(folder.path() / checkpoint_name(1, 20), 2);
  EXPECT_EQ(names(), std::vector<std::string>{checkpoint_name(1, 20)})
      << "the later one is removed";
  remove_unfinished_checkpoints(folder.path());
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder.path())) {
    ++files;
  }
  EXPECT_EQ(files, 3U) << "one, the best and the foreign one";
  EXPECT_TRUE(checkpoints_in(folder.path() / "absent").empty());
}

TEST(CheckpointFolder, ABestCheckpointIsSparedUnlessItIsLater) {
  const TemporaryFolder folder;
  const auto path = [&](int epochs) {
    return folder.path() / sharded_checkpoint_name(epochs, 10 * epochs);
  };
  const auto epochs_kept = [&] {
    std::vector<int> list;
    for (int epochs = 1; epochs <= 9; ++epochs) {
      if (std::filesystem::exists(path(epochs))) list.push_back(epochs);
    }
    return list;
  };
  for (int epochs = 1; epochs <= 5; ++epochs) std::filesystem::create_directories(path(epochs));
  mark_as_best(path(1), true);
  keep_newest_checkpoints(path(5), 2);
  EXPECT_EQ(epochs_kept(), (std::vector<int>{1, 4, 5}));
  mark_as_best(path(5), true);
  EXPECT_EQ(epochs_kept(), (std::vector<int>{1, 4, 5})) << "a regular one is removed by its age";
  EXPECT_EQ(checkpoint_path(folder.path(), kBestCheckpoint), path(5));
  keep_newest_checkpoints(path(4), 2);
  EXPECT_EQ(epochs_kept(), (std::vector<int>{1, 4}));
  EXPECT_EQ(checkpoint_path(folder.path(), kBestCheckpoint), folder.path() / kBestCheckpoint);
  // Those that were saved only because they were the best replace each other.
  for (int epochs = 6; epochs <= 8; ++epochs) {
    std::filesystem::create_directories(path(epochs));
    mark_as_best(path(epochs), false);
    mark_as_best(path(epochs), false);
  }
  EXPECT_EQ(epochs_kept(), (std::vector<int>{1, 4, 8}));
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
  EXPECT_EQ(remedy(), "lower --lr; the last checkpoint with finite numbers is " +
                          (folder.path() / checkpoint_name(2, 28)).string());
  for (const std::int64_t step : {26, 28})
    std::filesystem::remove(folder.path() / checkpoint_name(2, step));
  EXPECT_EQ(remedy(), "lower --lr; the last checkpoint with finite numbers is " +
                          (folder.path() / kBestCheckpoint).string());
  std::filesystem::remove(folder.path() / kBestCheckpoint);
  EXPECT_EQ(remedy(), "lower --lr");
}

TEST(BackgroundWriter, IsWaitedForAsLongAsTheDiskCompletesSomething) {
  constexpr std::chrono::milliseconds kLimit(2);
  std::promise<void> disk;
  BackgroundWriter writer(std::chrono::milliseconds(1));
  writer.start([&] { disk.get_future().wait(); });
  for (int i = 0; i < 3; ++i) {
    record::sync_folder(testing::TempDir());
    EXPECT_FALSE(writer.finish(kLimit)) << "nothing is completed within the patience after this";
  }
  // The disk hangs from now on: the wait has no limit.
  std::atomic<bool> is_released{false};
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    is_released = true;
    disk.set_value();
  });
  EXPECT_TRUE(writer.finish(kLimit));
  EXPECT_TRUE(is_released);
  later.join();
}

TEST(BackgroundWriter, TellsAFailureInsteadOfBeingDone) {
  BackgroundWriter writer;
  writer.start([] { throw std::runtime_error("a full disk"); });
  EXPECT_THROW(while (!writer.finish(std::chrono::milliseconds(10))){}, std::runtime_error);
  EXPECT_TRUE(writer.finish(std::chrono::milliseconds(10)));
}

TEST(BackgroundWriter, KnowsThatAFileIsWritten) {
  const TemporaryFolder folder;
  const std::uint64_t before = record::disk_progress();
  record::write_file_atomically(folder.path() / "file", "text");
  EXPECT_EQ(record::disk_progress(), before + 3) << "its bytes, its sync, its name";
}

TEST(Communicator, WaitsForTheSlowestRankBeyondTheCollectiveTimeout) {
  std::atomic<bool> is_done{false};
  const auto thrown = testing_support::run_ranks({0, 1}, 2, [&](const Resolution& me) {
    ProcessGroupOptions options;
    options.collective_timeout = std::chrono::seconds(3);
    Communicator ranks(me, make_process_group(me, Env(), options));
    const auto begin = std::chrono::steady_clock::now();
    ranks.wait_until_all([&](std::chrono::milliseconds limit) {
      if (me.placement.rank == 0) return true;
      std::this_thread::sleep_for(limit);
      is_done = std::chrono::steady_clock::now() - begin > std::chrono::seconds(5);
      return is_done.load();
    });
    EXPECT_TRUE(is_done);
    ranks.finish();
  });
  for (const auto& one : thrown) EXPECT_EQ(one, nullptr);
}

TEST(RunIdentity, NamesWhatDiffers) {
  const Json a = {{"lr", 0.1}, {"model", "mnistnet"}, {"batch_size", 32}};
  Json b = a;
  EXPECT_TRUE(differences(a, b).empty());
  b["lr"] = 0.2;
  b["batch_size"] = 64;
  b["sync_bn"] = true;
  EXPECT_EQ(differences(a, b),
            (std::vector<std::string>{"--batch-size is 32, but 64 in the run",
                                      "--lr is 0.1, but 0.2 in the run",
                                      "--sync-bn is not set, but true in the run"}));
  Json labels = a;
  labels["labels"] = "12345678; 9abcdef0";
  EXPECT_TRUE(differences(labels, a).empty()) << "older versions did not record it";
  Json changed = labels;
  changed["labels"] = "12345679; 9abcdef0";
  EXPECT_EQ(differences(labels, changed),
            std::vector<std::string>{"the labels' checksum is 12345678; 9abcdef0, but 12345679; "
                                     "9abcdef0 in the run"});
  // Older versions did not record it.
  Json passes = a;
  passes["micro_batch"] = "8";
  EXPECT_TRUE(differences(passes, a).empty());
  EXPECT_EQ(differences(a, passes),
            std::vector<std::string>{"--micro-batch is not set, but 8 in the run"});
  // Identities leave out first values of later options.
  EXPECT_EQ(differences(a, {{"lr", 0.1},
                            {"model", "mnistnet"},
                            {"batch_size", 32},
                            {"task", "cifar"},
                            {"augment", "crop-flip"}}),
            (std::vector<std::string>{"--augment is none, but crop-flip in the run",
                                      "--task is mnist, but cifar in the run"}));
}

// EpochTrainer relies on this: a step of a global batch takes the same samples on any number of
// ranks.
TEST(Resuming, OnOtherRanksLeavesOutNoSampleAndRepeatsNone) {
  constexpr std::int64_t kSamples = 100;
  constexpr std::int64_t kBatch = 12;
  const auto samples = [](int ranks, std::int64_t from_step, std::int64_t to_step) {
    std::vector<std::int64_t> all;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto own = DistributedSampler(kSamples, ranks, rank, {true, 5}).indices(3);
      const std::int64_t local = kBatch / ranks;
      for (std::int64_t i = from_step * local;
           i < std::min<std::int64_t>(to_step * local, static_cast<std::int64_t>(own.size()));
           ++i) {
        all.push_back(own[static_cast<std::size_t>(i)]);
      }
    }
    return all;
  };
  for (const auto& [before, after] : {std::pair{1, 2}, {2, 1}, {4, 3}, {3, 4}, {1, 12}}) {
    for (std::int64_t step = 0; step <= 9; ++step) {
      std::vector<std::int64_t> seen = samples(before, 0, step);
      const std::vector<std::int64_t> rest = samples(after, step, 9);
      seen.insert(seen.end(), rest.begin(), rest.end());
      const std::set<std::int64_t> distinct(seen.begin(), seen.end());
      EXPECT_EQ(distinct.size(), static_cast<std::size_t>(kSamples));
      // Any excess is at most the padding of the ranks that end the epoch.
      EXPECT_LT(seen.size() - distinct.size(), static_cast<std::size_t>(std::max(before, after)));
    }
  }
}

TEST(Agreement, BringsEveryRankToTheSameDecisionAtTheSameStep) {
  constexpr int kRanks = 3;
  constexpr int kSteps = 200;
  std::vector<int> stopped_at(kRanks, -1);
  std::vector<int> saved_at(kRanks, -1);
  std::vector<int> signals(kRanks, 0);
  const auto thrown = testing_support::run_ranks({0, 1, 2}, kRanks, [&](const Resolution& me) {
    const auto rank = static_cast<std::size_t>(me.placement.rank);
    Communicator communicator(me, make_process_group(me, Env()));
    Agreement agreement(communicator);
    for (int step = 1; step <= kSteps; ++step) {
      StopFlags own;
      // The signals arrive at different steps; only the clock of rank 0 counts.
      if (rank > 0 && step > 20 * static_cast<int>(rank)) own.signal = SIGUSR1;
      own.checkpoint = rank == 0 ? step > 5 && saved_at[0] < 0 : true;
      const StopFlags all = agreement.ask(own, rank == 0 ? 0.1 : 0.3, step == kSteps);
      if (all.checkpoint && saved_at[rank] < 0) saved_at[rank] = step;
      if (all.stop()) {
        stopped_at[rank] = step;
        signals[rank] = all.signal;
        break;
      }
    }
    communicator.finish();
  });
  for (const auto& failure : thrown) EXPECT_FALSE(failure);
  EXPECT_EQ(stopped_at, std::vector<int>(kRanks, stopped_at[0]));
  EXPECT_EQ(saved_at, std::vector<int>(kRanks, saved_at[0]));
  EXPECT_EQ(signals, std::vector<int>(kRanks, SIGUSR1));
  // The ranks ask every fifth step of 0.1 s.
  EXPECT_GT(stopped_at[0], 20);
  EXPECT_LE(stopped_at[0], 26);
  EXPECT_LE(saved_at[0], 11);
}

}  // namespace
}  // namespace hpcboot::train

// What --resume finds in a runs folder.
#include "loop/resume.hpp"

#include <gmock/gmock.h>

#include <new>
#include <stdexcept>

#include "loop/best_at_resume.hpp"
#include "loop/checkpoint_folder.hpp"
#include "support/expect_error.hpp"
#include "support/saved_run.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::train {
namespace {

using test::expect_error;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

const record::LockHolder kSelf{"host", 1, "77"};

/// A run with checkpoints after steps 2, 3 and 4; its first epoch is the best.
class Resume : public ::testing::Test {
 protected:
  Resume() { add_run("run", 2); }

  record::RunFolder add_run(const std::string& name, std::int64_t best) {
    const record::RunFolder folder(runs_.path() / name);
    std::filesystem::create_directories(folder.checkpoints());
    record::RunRecord record = saved_run::record_after(4);
    record.run = name;
    record.write(folder.run_json());
    for (const int step : {2, 3, 4}) save(folder.checkpoints() / name_after(step), step);
    save(folder.checkpoints() / kBestCheckpoint, best);
    record::MetricsCsv metrics(folder.metrics_csv());
    for (const int step : {1, 2, 3, 4}) metrics.append(saved_run::row_of(step));
    return folder;
  }

  static std::string name_after(std::int64_t step) {
    return checkpoint_name(saved_run::epochs_after(step), step);
  }

  static void save(const std::filesystem::path& file, std::int64_t step) {
    write_checkpoint({saved_run::state_after(step), saved_run::tensors_after(step)}, file);
  }

  void damage_all_regular() {
    for (const auto& file : checkpoints_in(run_.checkpoints())) test::write_text(file, "damaged");
  }

  std::optional<ResumePoint> find(const std::string& resume) {
    notes_.clear();
    return find_resume_point(saved_run::options(runs_.path(), resume), saved_run::configuration(),
                             kSelf, notes_);
  }

  const test::TemporaryFolder runs_;
  const record::RunFolder run_{runs_.path() / "run"};
  const std::string best_ = (run_.checkpoints() / kBestCheckpoint).string();
  std::vector<std::string> notes_;
};

TEST_F(Resume, TakesTheNewestCheckpoint) {
  for (const std::string& resume : {std::string("auto"), std::string("run"), run_.path().string(),
                                    run_.path().string() + "/"}) {
    const auto point = find(resume);
    ASSERT_TRUE(point) << resume;
    EXPECT_EQ(point->checkpoint.state.step, 4);
    EXPECT_FALSE(point->goes_back);
    EXPECT_EQ(point->steps_again, 0);
  }
}

TEST_F(Resume, ACommentIsComparedAsItIsRecorded) {
  TrainOptions options = saved_run::options(runs_.path(), "auto");
  options.comment = "caf\xe9 \"\n";
  const auto finds = [&] {
    return find_resume_point(options, saved_run::configuration(), kSelf, notes_).has_value();
  };
  EXPECT_FALSE(finds());
  record::RunRecord record = saved_run::record_after(4);
  record.config["comment"] = options.comment;
  record.write(run_.run_json());
  EXPECT_TRUE(finds());
}

TEST_F(Resume, GoesBackToTheBestOrToANamedCheckpoint) {
  for (const std::string& resume :
       {std::string("best"), std::string("run/checkpoints/best.safetensors"), best_,
        "run/checkpoints/" + name_after(2)}) {
    const auto point = find(resume);
    ASSERT_TRUE(point) << resume;
    EXPECT_EQ(point->folder.path(), run_.path());
    EXPECT_EQ(point->checkpoint.state.step, 2);
    EXPECT_TRUE(point->goes_back);
    EXPECT_EQ(point->steps_again, 2);
    EXPECT_EQ(point->record.epochs.size(), 1U) << "the second is trained again";
  }
}

TEST_F(Resume, BestIsThatOfTheRunThatAutoTakes) {
  record::RunRecord record = saved_run::record_after(4);
  record.started = "2026-11-21T00:00:00Z";
  record.write(add_run("newer", 2).run_json());
  EXPECT_EQ(find("best")->folder.name(), "newer");
  // A run whose best checkpoint is damaged is skipped, as auto skips a run without a checkpoint.
  test::write_text(runs_.path() / "newer" / "checkpoints" / kBestCheckpoint, "damaged");
  EXPECT_EQ(find("best")->folder.name(), "run");
  EXPECT_THAT(notes_, Contains(HasSubstr("best.safetensors cannot be used")));
}

TEST_F(Resume, OffersTheBestWhereAllElseIsDamaged) {
  damage_all_regular();
  const std::string offer = "--resume " + best_ + " continues from its best epoch, 1 (step 2)";
  expect_error(
      ErrorCode::malformed_file, [&] { find("run"); }, offer, "cannot be used");
  EXPECT_FALSE(find("auto"));
  EXPECT_THAT(notes_, Contains(HasSubstr(offer)));
  EXPECT_EQ(find(best_)->checkpoint.state.step, 2);
  EXPECT_TRUE(find("best")->goes_back);
  // Checkpoints that cannot be used are not offered.
  test::write_text(best_, "damaged");
  expect_error(
      ErrorCode::malformed_file, [&] { find("run"); }, "start a new run");
  EXPECT_FALSE(find("auto"));
  EXPECT_THAT(notes_, Not(Contains(HasSubstr("--resume"))));
  expect_error(
      ErrorCode::malformed_file, [&] { find(best_); }, "best.safetensors cannot be used");
  // No new run starts if the best checkpoint was requested.
  expect_error(
      ErrorCode::unreadable_file, [&] { find("best"); }, "with a usable best.safetensors",
      "cannot be used: ");
}

TEST_F(Resume, ComparesWhatACheckpointClaimsBeforeItIsRead) {
  const auto newest = run_.checkpoints() / name_after(6);
  const std::pair<const char*, const char*> cases[] = {
      {"model.weight", "has tensor 'model.weight' of shape [274877906944], but this model has [8]"},
      {"model.other", "has tensor 'model.other', which this model does not have"},
      {"random.cpu", "has tensor 'random.cpu', which this model does not have"}};
  for (const auto& [name, reason] : cases) {
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 40U;  // more than the memory
    const Json header = {{"__metadata__", notes_of(saved_run::state_after(6))},
                         {name,
                          {{"dtype", "F32"},
                           {"shape", {kBytes / 4}},
                           {"data_offsets", {std::uint64_t{0}, kBytes}}}}};
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    test::write_text(newest,
                     std::string(reinterpret_cast<const char*>(&length), sizeof length) + text);
    std::filesystem::resize_file(newest, sizeof length + length + kBytes);
    const auto point = find("auto");
    ASSERT_TRUE(point) << name;
    EXPECT_EQ(point->checkpoint.state.step, 4);
    EXPECT_TRUE(point->goes_back);
    EXPECT_THAT(notes_, ElementsAre(AllOf(HasSubstr(newest.filename().string()),
                                          HasSubstr("cannot be used: "), HasSubstr(reason))));
  }
}

TEST_F(Resume, ACheckpointWithoutATensorOfTheModelIsNotUsed) {
  const auto newest = run_.checkpoints() / name_after(6);
  write_checkpoint({saved_run::state_after(6), {{"model.bias", torch::zeros({3})}}}, newest);
  const auto point = find("auto");
  ASSERT_TRUE(point);
  EXPECT_EQ(point->checkpoint.state.step, 4);
  EXPECT_THAT(notes_, ElementsAre(AllOf(HasSubstr(newest.filename().string()),
                                        HasSubstr("has no tensor 'model.weight'"))));
}

TEST_F(Resume, OnlyShortMemoryIsNoDamage) {
  const auto find_with = [&](const std::function<TrainingShapes()>& shapes) {
    return find_resume_point(saved_run::options(runs_.path(), "auto"),
                             {saved_run::identity(), shapes}, kSelf, notes_);
  };
  EXPECT_FALSE(find_with([]() -> TrainingShapes { throw std::runtime_error("a failure"); }));
  EXPECT_THAT(notes_, Contains(EndsWith("cannot be used: a failure")));
  EXPECT_THROW(find_with([]() -> TrainingShapes { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST_F(Resume, OffersTheBestWhereItIsTheOnlyOne) {
  for (const auto& file : checkpoints_in(run_.checkpoints())) std::filesystem::remove(file);
  EXPECT_FALSE(find("auto"));
  EXPECT_THAT(notes_, Contains(HasSubstr("--resume " + best_)));
  EXPECT_TRUE(find("best")->goes_back);
}

TEST_F(Resume, AJobGoesBackOnce) {
  record::RunRecord record = saved_run::record_after(4);
  record.resumed.emplace_back();
  record.resumed.back().checkpoint = kBestCheckpoint;
  record.resumed.back().went_back_to = kBestCheckpoint;
  record.resumed.back().job_id = kSelf.job_id;
  record.resumed.emplace_back();
  record.resumed.back().checkpoint = name_after(3);
  record.resumed.back().job_id = kSelf.job_id;
  record.write(run_.run_json());
  for (const std::string& resume : {std::string("best"), best_}) {
    EXPECT_EQ(find(resume)->checkpoint.state.step, 4) << resume;
    EXPECT_THAT(notes_, Contains(HasSubstr("job 77 has already gone back to best.safetensors")));
  }
  record.resumed.front().job_id = "76";
  record.write(run_.run_json());
  EXPECT_EQ(find("best")->checkpoint.state.step, 2) << "another job may go back";
  const std::string named = "run/checkpoints/" + name_after(3);
  EXPECT_EQ(find(named)->checkpoint.state.step, 3) << "the job has only continued from it";
  EXPECT_EQ(find(named)->went_back_to, name_after(3));
  EXPECT_EQ(find("best")->went_back_to, kBestCheckpoint);
  EXPECT_EQ(find("auto")->went_back_to, "");
}

TEST_F(Resume, ABestCheckpointLaterThanThePointIsRemoved) {
  save(best_, 4);
  auto point = find("run/checkpoints/" + name_after(3));
  point->checkpoint.state.progress.images_seen = 16;
  point->checkpoint.state.best = BestValidation{1, 0.5, 1.0};
  agree_on_best(*point);
  EXPECT_FALSE(std::filesystem::exists(best_));
  EXPECT_FALSE(point->checkpoint.state.best) << "the next epoch counts, for there is no file";
}

TEST_F(Resume, ThePointBecomesTheBestIfItsEpochIs) {
  for (const std::int64_t best : {4, 1, 0}) {
    if (best == 0) std::filesystem::remove(best_);
    if (best > 0) save(best_, best);
    auto point = find("run/checkpoints/" + name_after(2));
    point->checkpoint.state.best = BestValidation{1, 0.5, 1.0};
    agree_on_best(*point);
    EXPECT_EQ(read_state(best_).step, 2) << best;
    EXPECT_TRUE(point->checkpoint.state.best) << best;
  }
}

TEST_F(Resume, ABestCheckpointOfARunThatGoesOnStays) {
  save(best_, 5);
  auto point = find("auto");
  point->checkpoint.state.best = BestValidation{2, 0.5, 1.0};
  agree_on_best(*point);
  EXPECT_EQ(read_state(best_).step, 5) << "of an epoch that a crash has made the run repeat";
  EXPECT_TRUE(point->checkpoint.state.best);
  test::write_text(best_, "damaged");
  point->checkpoint.state.best = BestValidation{1, 0.5, 1.0};
  agree_on_best(*point);
  EXPECT_TRUE(std::filesystem::exists(best_));
  EXPECT_TRUE(point->checkpoint.state.best);
}

TEST_F(Resume, NamesWhatItTakesWhereThereIsNoRun) {
  for (const char* wrong : {"nowhere", "run/checkpoints", "run/best.safetensors"}) {
    expect_error(
        ErrorCode::unreadable_file, [&] { find(wrong); }, "no run in", "auto or best");
  }
  expect_error(
      ErrorCode::malformed_file, [&] { find("run/checkpoints/none.safetensors"); },
      "none.safetensors");
}

}  // namespace
}  // namespace hpcboot::train

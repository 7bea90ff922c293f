// What plots show of runs, and the programs that gnuplot gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "hpcboot/error.hpp"
#include "monitor/read_monitor.hpp"
#include "plots/gnuplot_script.hpp"
#include "plots/plots.hpp"
#include "plots/repetitions.hpp"
#include "plots/run_groups.hpp"
#include "support/expect_error.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::plots {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

RunData run_of(const std::string& method, int devices, double runtime, int samples = 1000) {
  static int number = 0;
  RunData run;
  run.run = "run" + std::to_string(++number);
  run.folder = "runs/" + run.run;
  run.started = "2026-11-2" + std::to_string(number % 10) + "T10:00:00Z";
  run.training = "resnet50";
  run.about = "resnet50, 128 px, fp32, 5 epochs";
  run.work = "resnet50 " + std::to_string(samples);
  run.method = method;
  run.devices = devices;
  run.devices_per_node = devices;
  run.device_kind = "cpu";
  run.samples = samples;
  run.sample = "image";
  run.runtime_seconds = runtime;
  run.images_per_second = 5.0 * samples / runtime;
  return run;
}

std::vector<double> ys(const Series& series) {
  std::vector<double> values;
  for (const Point& point : series.points) values.push_back(point.y);
  return values;
}

const Series& series_named(const Panel& panel, const std::string& name) {
  for (const Series& series : panel.series) {
    if (series.name == name) return series;
  }
  throw std::runtime_error("no series " + name);
}

template <typename Make>
std::string reason_of(Make make, const std::vector<RunData>& runs) {
  try {
    make(runs);
  } catch (const NothingToPlot& reason) {
    return reason.what();
  }
  return "";
}

TEST(Repetitions, ThreeHaveAMedianAndARange) {
  const Point three = median_point(1, {3, 1, 2});
  EXPECT_EQ(three.y, 2);
  EXPECT_THAT(three.low, Optional(1.0));
  EXPECT_THAT(three.high, Optional(3.0));
  const Point two = median_point(1, {3, 1});
  EXPECT_EQ(two.y, 2);
  EXPECT_FALSE(two.low || two.high);
  EXPECT_EQ(median_point(1, {4, 1, 2, 3}).y, 2.5);
}

TEST(Repetitions, ManyPointsAreMediansOfIntervals) {
  std::vector<Point> points;
  for (int i = 0; i < 1000; ++i) points.push_back({static_cast<double>(i), i % 2 == 0 ? 1.0 : 3.0});
  const std::vector<Point> few = binned(points, 10);
  ASSERT_EQ(few.size(), 10U);
  EXPECT_EQ(few[0].y, 2);
  EXPECT_THAT(few[0].high, Optional(3.0));
  EXPECT_EQ(binned(points, 1000).size(), 1000U);
  EXPECT_EQ(binned(std::vector<Point>(5, {1, 2}), 2).size(), 5U) << "at the same time";
  EXPECT_TRUE(binned({}, 2).empty());
}

TEST(PlotKinds, AreDocumented) {
  const std::string page = test::read_text(test::source_file("runs/README.md"));
  for (const PlotKind& kind : plot_kinds())
    EXPECT_THAT(page, HasSubstr("\n| `" + kind.name + "` | "));
}

TEST(RunGroups, AreNamedByWhatDiffers) {
  const auto names = [](const std::vector<RunData>& runs) {
    std::vector<std::string> all;
    for (const RunGroup& group : groups_of(runs)) all.push_back(group.name);
    return all;
  };
  EXPECT_THAT(names({run_of("DDP", 2, 9), run_of("single", 1, 9), run_of("DDP", 2, 8)}),
              ElementsAre("single 1x1 (1)", "DDP 1x2 (2)"));
  EXPECT_THAT(names({run_of("DDP", 2, 9), run_of("DDP", 2, 9, 2000)}),
              ElementsAre("DDP 1x2, 1000 images (1)", "DDP 1x2, 2000 images (1)"));
  EXPECT_THAT(names({}), IsEmpty());
  RunData slow = run_of("single", 1, 9);
  slow.settings = {{"batch_size", "64"}, {"lr", "0.1"}};
  RunData fast = slow;
  fast.settings["lr"] = "0.2";
  EXPECT_THAT(names({slow, fast, slow}),
              ElementsAre("single 1x1, lr=0.1 (2)", "single 1x1, lr=0.2 (1)"));
  RunData on_gpu = run_of("single", 1, 9);
  on_gpu.device_kind = "cuda";
  EXPECT_THAT(names({on_gpu, run_of("single", 1, 9)}),
              ElementsAre("single 1x1 cpu (1)", "single 1x1 cuda (1)"));
}

TEST(RuntimePlot, HasMediansAndSingleRuns) {
  const Plot plot = runtime_plot({run_of("single", 1, 100), run_of("single", 1, 110),
                                  run_of("single", 1, 120), run_of("DDP", 2, 60)});
  ASSERT_EQ(plot.panels.size(), 2U);
  const Panel& runtime = plot.panels[0];
  EXPECT_THAT(runtime.categories, ElementsAre("single 1x1 (3)", "DDP 1x2 (1)"));
  EXPECT_THAT(ys(runtime.series[0]), ElementsAre(110, 60));
  EXPECT_THAT(runtime.series[0].points[0].high, Optional(120.0));
  EXPECT_EQ(runtime.series.size(), 1U) << "one run is its own median";
  const Plot two = runtime_plot({run_of("single", 1, 100), run_of("single", 1, 110)});
  EXPECT_THAT(ys(two.panels[0].series[1]), ElementsAre(100, 110)) << "fewer than three are points";
  EXPECT_THAT(plot.title, HasSubstr("resnet50, 128 px"));
  EXPECT_THAT(plot.source, HasSubstr("4 runs of 2026-11-2"));
  EXPECT_THAT(plot.source, HasSubstr("in runs"));
  EXPECT_NE(reason_of(runtime_plot, {RunData()}), "");
}

TEST(StrongScaling, ComparesEqualWorkOnMoreDevices) {
  const Plot plot =
      strong_scaling_plot({run_of("single", 1, 100), run_of("DDP", 2, 50), run_of("DDP", 4, 40),
                           run_of("DP", 2, 80), run_of("DDP", 8, 1, 9999)});
  const Panel& speedup = plot.panels[0];
  EXPECT_TRUE(speedup.is_log_x && speedup.is_log_y);
  EXPECT_THAT(ys(series_named(speedup, "ideal")), ElementsAre(1, 2, 4));
  EXPECT_THAT(ys(series_named(speedup, "DDP")), ElementsAre(1, 2, 2.5));
  EXPECT_THAT(ys(series_named(speedup, "DP")), ElementsAre(1, 1.25));
  EXPECT_THAT(ys(series_named(plot.panels[1], "DDP")), ElementsAre(100, 100, 62.5));
  EXPECT_THAT(plot.source, HasSubstr("4 runs")) << "the other work has one size only";
}

TEST(StrongScaling, StartsAtTheFewestDevicesThatThereAre) {
  const Plot plot = strong_scaling_plot({run_of("DDP", 2, 100), run_of("DDP", 4, 50)});
  EXPECT_THAT(ys(series_named(plot.panels[0], "DDP")), ElementsAre(2, 4));
  EXPECT_THAT(ys(series_named(plot.panels[1], "DDP")), ElementsAre(100, 100));
  EXPECT_THAT(plot.panels[0].y_label, HasSubstr("fewest devices"));
  EXPECT_THAT(reason_of(strong_scaling_plot, {run_of("DDP", 2, 1), run_of("DDP", 2, 2)}),
              HasSubstr("two different numbers of devices"));
}

TEST(StrongScaling, TakesTheMedianOfRuntimesBeforeItDivides) {
  const Plot plot = strong_scaling_plot({run_of("single", 1, 100), run_of("single", 1, 110),
                                         run_of("DDP", 2, 50), run_of("DDP", 2, 55)});
  EXPECT_THAT(ys(series_named(plot.panels[0], "DDP")), ElementsAre(1, 2));
  const Panel ranges = strong_scaling_plot({run_of("single", 1, 100), run_of("DDP", 2, 40),
                                            run_of("DDP", 2, 50), run_of("DDP", 2, 80)})
                           .panels[0];
  const Point& two = series_named(ranges, "DDP").points[1];
  EXPECT_EQ(two.y, 2);
  EXPECT_THAT(two.low, Optional(1.25));
  EXPECT_THAT(two.high, Optional(2.5));
}

TEST(StrongScaling, ComparesTheSameKindOfDevice) {
  RunData slow = run_of("single", 1, 1000);
  RunData fast = run_of("single", 1, 100);
  fast.device_kind = "cuda";
  RunData two = run_of("DDP", 2, 50);
  two.device_kind = "cuda";
  EXPECT_THAT(ys(series_named(strong_scaling_plot({slow, fast, two}).panels[0], "DDP")),
              ElementsAre(1, 2));
}

TEST(StrongScaling, ComparesRunsOfTheSameSiteIfItHasAny) {
  RunData slow = run_of("single", 1, 100);
  slow.site = "slow";
  RunData fast = run_of("single", 1, 20);
  fast.site = "fast";
  RunData four = run_of("DDP", 4, 5);
  four.site = "fast";
  EXPECT_THAT(ys(series_named(strong_scaling_plot({slow, fast, four}).panels[0], "DDP")),
              ElementsAre(1, 4));
  RunData other = run_of("DDP", 4, 30);
  other.site = "none of its own";
  const Panel both = strong_scaling_plot({slow, fast, four, other}).panels[0];
  const std::string work = ", resnet50, 128 px, fp32, 5 epochs, 1000 images, cpu at ";
  EXPECT_THAT(ys(series_named(both, "DDP" + work + "fast")), ElementsAre(1, 4));
  EXPECT_THAT(ys(series_named(both, "DDP" + work + "none of its own")), ElementsAre(1, 2));
}

TEST(StrongScaling, ShowsTheNewestOfManyLines) {
  std::vector<RunData> runs;
  for (int samples = 1; samples < 30; ++samples) {
    runs.push_back(run_of("single", 1, 100, samples));
    runs.push_back(run_of("DDP", 2, 50, samples));
  }
  runs.push_back(run_of("single", 1, 1e-9));
  const Plot plot = strong_scaling_plot(runs);
  EXPECT_EQ(plot.panels[0].series.size(), kMostLines + 1);
  EXPECT_THAT(plot.source, HasSubstr("8 newest of 29 lines"));
}

TEST(WeakScaling, NamesLinesByTheSamplesOfADevice) {
  RunData unknown = run_of("DDP", 4, 1);
  unknown.samples.reset();
  const Plot plot =
      weak_scaling_plot({run_of("single", 1, 100, 1000), run_of("DDP", 2, 110, 2001),
                         run_of("single", 1, 50, 500), run_of("DDP", 2, 55, 1000), unknown});
  EXPECT_THAT(
      ys(series_named(plot.panels[1],
                      "DDP, resnet50, 128 px, fp32, 5 epochs, 500 images for each device, cpu")),
      ElementsAre(100, DoubleNear(90.909, 1e-3)));
  EXPECT_EQ(plot.panels[0].series.size(), 2U) << "no common ideal runtime";
}

TEST(WeakScaling, ComparesAsManySamplesForEachDevice) {
  const Plot plot = weak_scaling_plot({run_of("single", 1, 100, 1000), run_of("DDP", 2, 110, 2000),
                                       run_of("DDP", 4, 125, 4000), run_of("DDP", 4, 50, 1000)});
  EXPECT_THAT(ys(series_named(plot.panels[0], "DDP")), ElementsAre(100, 110, 125));
  EXPECT_THAT(ys(series_named(plot.panels[0], "ideal")), ElementsAre(100, 100, 100));
  EXPECT_THAT(ys(series_named(plot.panels[1], "DDP")),
              ElementsAre(100, DoubleNear(90.909, 1e-3), 80));
  EXPECT_THAT(reason_of(weak_scaling_plot, {run_of("single", 1, 1), run_of("DDP", 2, 1)}),
              HasSubstr("--limit-samples"));
}

record::EpochRecord epoch_of(int number, double loss, double accuracy) {
  record::EpochRecord epoch;
  epoch.epoch = number;
  epoch.train_loss = loss;
  epoch.validation_loss = loss + 1;
  epoch.measures = {{"accuracy", accuracy, true}};
  epoch.steps = 10;
  epoch.train_seconds = 1;
  epoch.data_wait_seconds = 0.1;
  epoch.forward_seconds = 0.2;
  epoch.backward_seconds = 0.4;
  epoch.communication_seconds = 0.05;
  epoch.optimizer_seconds = 0.05;
  return epoch;
}

TEST(Curves, ShowLossAndMeasuresByEpoch) {
  RunData run = run_of("single", 1, 10);
  run.epochs = {epoch_of(1, 2, 0.5), epoch_of(2, 1, 0.75)};
  const Plot plot = curves_plot({run});
  EXPECT_THAT(ys(series_named(plot.panels[0], run.run + ", training")), ElementsAre(2, 1));
  EXPECT_THAT(ys(series_named(plot.panels[0], run.run + ", validation")), ElementsAre(3, 2));
  EXPECT_EQ(plot.panels[1].y_label, "accuracy, %");
  EXPECT_THAT(ys(plot.panels[1].series[0]), ElementsAre(50, 75));
  EXPECT_NE(reason_of(curves_plot, {run_of("single", 1, 10)}), "");
}

TEST(Curves, RepetitionsAreOneLineAndTooManyRunsAreLeftOut) {
  std::vector<RunData> runs;
  for (const double loss : {1.0, 3.0, 2.0}) {
    runs.push_back(run_of("single", 1, 10));
    runs.back().epochs = {epoch_of(1, loss, 0.5)};
  }
  const Plot three = curves_plot(runs);
  ASSERT_EQ(three.panels[1].series.size(), 1U);
  EXPECT_EQ(three.panels[0].series[0].points[0].y, 2);
  EXPECT_THAT(three.panels[0].series[0].points[0].high, Optional(3.0));
  for (int devices = 2; devices < 30; ++devices) {
    runs.push_back(run_of("DDP", devices, 10));
    runs.back().epochs = {epoch_of(1, 1, 0.5)};
  }
  const Plot many = curves_plot(runs);
  EXPECT_EQ(many.panels[1].series.size(), 8U);
  EXPECT_THAT(many.source, HasSubstr("the newest of 31"));
}

TEST(Steps, AreStackedOfTheirParts) {
  RunData run = run_of("single", 1, 10);
  run.epochs = {epoch_of(1, 2, 0.5), epoch_of(2, 2, 0.5)};
  const Panel panel = steps_plot({run, run_of("DDP", 2, 5)}).panels[0];
  EXPECT_THAT(panel.categories, ElementsAre("single 1x1 (1)"));
  std::vector<double> parts;
  for (const Series& series : panel.series) parts.push_back(series.points[0].y);
  EXPECT_THAT(parts, ElementsAre(DoubleNear(10, 1e-9), DoubleNear(20, 1e-9), DoubleNear(40, 1e-9),
                                 DoubleNear(5, 1e-9), DoubleNear(5, 1e-9), DoubleNear(20, 1e-9)));
  EXPECT_EQ(panel.series.back().name, "other");
  EXPECT_NE(reason_of(steps_plot, {run_of("DDP", 2, 5)}), "");
}

TEST(Steps, MayBeMoreThanAnIntegerHolds) {
  RunData run = run_of("single", 1, 10);
  run.epochs.assign(2048, epoch_of(1, 2, 0.5));
  for (record::EpochRecord& epoch : run.epochs) epoch.steps = std::int64_t{1} << 53U;
  const Panel panel = steps_plot({run}).panels[0];
  EXPECT_NEAR(panel.series[1].points[0].y * 0x1p53, 200, 1e-6);
}

RunData monitored(const std::filesystem::path& folder, const std::string& rows) {
  test::write_text(folder / "monitor.csv", monitor::monitor_header() + rows);
  RunData run = run_of("DDP", 2, 10);
  run.folder = folder;
  return run;
}

std::string row(double seconds, int rank, double load, double memory) {
  monitor::MonitorRow one;
  one.seconds = seconds;
  one.rank = rank;
  one.host = "n,\"1\"";
  one.device = "cuda:0";
  one.gpu_load_percent = load;
  one.gpu_memory_bytes = memory;
  one.gpu_temperature_celsius = 50;
  return monitor::monitor_line(one);
}

TEST(MonitorRows, AreReadAsTheyWereWritten) {
  const test::TemporaryFolder folder;
  const RunData run = monitored(folder.path(), row(1.5, 3, 80, 2e9) + "1,2,cut short");
  const auto rows = monitor::read_monitor(run.folder / "monitor.csv");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(monitor::monitor_line(rows[0]), row(1.5, 3, 80, 2e9));
  EXPECT_THROW(monitor::read_monitor(folder.path() / "none.csv"), Error);
  EXPECT_THROW(monitor::read_monitor(folder.path()), Error);
  test::write_text(folder.path() / "other.csv", "a,b\n1,2\n");
  EXPECT_THROW(monitor::read_monitor(folder.path() / "other.csv"), Error);
}

TEST(MonitorRows, OfImpossibleNumbersAreLeftOut) {
  const test::TemporaryFolder folder;
  std::string rows = row(5, 0, 1.7e308, 1e18) + row(6, 0, -1.7e308, 3);
  for (const double seconds : {-1.7e308, -1.0, 1.1e9, 1.7e308}) rows += row(seconds, 0, 80, 2);
  const auto read = monitor::read_monitor(monitored(folder.path(), rows).folder / "monitor.csv");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].seconds, 5);
  EXPECT_EQ(read[0].gpu_load_percent, std::nullopt);
  EXPECT_THAT(read[0].gpu_memory_bytes, Optional(1e18));
  EXPECT_EQ(read[1].gpu_load_percent, std::nullopt);
}

TEST(MonitorPlot, HasALineForEachRankAndADiagramForEachValue) {
  const test::TemporaryFolder folder;
  const RunData run = monitored(
      folder.path(), row(1, 0, 80, 0) + row(1, 1, 90, 0) + row(2, 0, 70, 0) + row(2, 1, 60, 0));
  const Plot plot = monitor_plot({run});
  ASSERT_EQ(plot.panels.size(), 2U) << "load and temperature: memory is 0 throughout";
  EXPECT_EQ(plot.panels[0].y_label, "GPU load, %");
  EXPECT_EQ(plot.panels[0].series[1].name, "rank 1 (n,\"1\", cuda:0)");
  EXPECT_THAT(ys(plot.panels[0].series[1]), ElementsAre(90, 60));
  EXPECT_THAT(reason_of(monitor_plot, {run, run}), HasSubstr("name one run folder"));
}

TEST(MonitorPlot, OfManyRanksShowsTheMedianAndTheRange) {
  const test::TemporaryFolder folder;
  std::string rows;
  for (int rank = 0; rank < 100; ++rank) rows += row(1, rank, rank, 1);
  const Plot plot = monitor_plot({monitored(folder.path(), rows)});
  EXPECT_EQ(plot.panels[0].series[0].points.size(), 100U) << "all at the same time";
  std::string later;
  for (int rank = 0; rank < 100; ++rank) {
    later += row(1 + 0.001 * rank, rank, rank, 1);
    if (rank > 0) later += row(9, rank, 50, 1);  // the first rank has fewer rows
  }
  const Series summary = monitor_plot({monitored(folder.path(), later)}).panels[0].series[0];
  ASSERT_EQ(summary.points.size(), 2U);
  EXPECT_EQ(summary.points[0].y, 49.5);
  EXPECT_THAT(summary.points[0].high, Optional(99.0));
  EXPECT_EQ(summary.points[1].y, 50);
}

TEST(CorrelationPlot, IsOneForWhatChangesTogether) {
  const test::TemporaryFolder folder;
  std::string rows;
  for (int i = 0; i < 6; ++i) rows += row(i, 0, 10 + 5 * i, 1e9 - i);
  const Panel panel = correlation_plot({monitored(folder.path(), rows)}).panels[0];
  EXPECT_THAT(panel.categories, ElementsAre("GPU load", "GPU memory", "time"))
      << "the temperature does not change";
  EXPECT_NEAR(panel.series[0].points[2].y, 1, 1e-9);
  EXPECT_NEAR(panel.series[0].points[1].y, -1, 1e-9);
  EXPECT_THAT(reason_of(correlation_plot, {monitored(folder.path(), row(1, 0, 1, 1))}),
              HasSubstr("1 row"));
}

TEST(GnuplotScript, TextFromOutsideIsNoProgram) {
  EXPECT_EQ(gnuplot_string("it's `date`\n\"x\""), "'it''s `date`\\n\"x\"'");
  RunData run = run_of("DDP", 2, 10);
  run.about = "`touch /tmp/x` $(date) 'a' \"b\"\nset output '/etc/passwd'";
  const std::string script = gnuplot_script(runtime_plot({run}), Picture::svg, "it's.svg");
  EXPECT_THAT(script, HasSubstr("set output 'it''s.svg'"));
  EXPECT_EQ(script.find("\nset output '/etc"), std::string::npos);
  EXPECT_THAT(script, HasSubstr("''a''"));
}

/// The values after a word of the script, each once.
std::set<std::string> values_of(const std::string& script, const std::string& word) {
  std::set<std::string> values;
  for (auto at = script.find(word); at != std::string::npos; at = script.find(word, at + 1)) {
    const auto begin = at + word.size();
    values.insert(script.substr(begin, script.find_first_of(" ,\n", begin) - begin));
  }
  return values;
}

TEST(GnuplotScript, LinesAndBarsDifferWithoutColours) {
  std::vector<RunData> runs;
  for (int devices = 1; devices < 6; ++devices) {
    runs.push_back(run_of("DDP", devices, 10));
    runs.back().epochs = {epoch_of(1, 1, 0.5), epoch_of(2, 1, 0.5)};
  }
  const std::string lines = gnuplot_script(curves_plot(runs), Picture::png, "x.png");
  EXPECT_GE(values_of(lines, "pointtype ").size(), 5U) << "one for each run";
  EXPECT_GE(values_of(lines, "dashtype ").size(), 5U);
  EXPECT_THAT(lines, HasSubstr("set terminal pngcairo"));
  const std::string bars = gnuplot_script(steps_plot(runs), Picture::svg, "x.svg");
  EXPECT_EQ(values_of(bars, "fillstyle pattern ").size(), 6U);
}

TEST(GnuplotScript, LongNamesAndTitlesFit) {
  RunData run = run_of("DDP", 2, 10);
  run.run = std::string(300, 'n');
  run.epochs = {epoch_of(1, 1, 0.5)};
  const std::string script = gnuplot_script(curves_plot({run}), Picture::png, "x.png");
  EXPECT_EQ(script.find(std::string(60, 'n')), std::string::npos);
  EXPECT_THAT(script, HasSubstr("nnn…"));
}

TEST(GnuplotScript, LongNamesAreCutBetweenCharacters) {
  RunData run = run_of("DDP", 2, 10);
  run.epochs = {epoch_of(1, 1, 0.5)};
  const auto script_of = [&](const std::string& part, int times) {
    run.run.clear();
    for (int i = 0; i < times; ++i) run.run += part;
    return gnuplot_script(curves_plot({run}), Picture::svg, "x.svg");
  };
  const std::string narrow = script_of("é", 40);
  EXPECT_THAT(narrow, HasSubstr("'" + run.run + "'")) << "40 columns of 80 bytes";
  const std::string wide = script_of("模型", 20);
  EXPECT_THAT(wide, HasSubstr("'模型模型模型模型模型模型模型…模型模型模型模型模型模型模型'"));
  EXPECT_EQ(wide.find("\\x"), std::string::npos) << "a byte that is no character";
}

TEST(GnuplotScript, APngHasNoMoreRowsThanCairoDraws) {
  RunData run = run_of("DDP", 2, 10);
  run.epochs = {epoch_of(1, 1, 0.5)};
  for (int i = 0; i < 89; ++i)
    run.epochs[0].measures.push_back({"measure" + std::to_string(i), 0.5});
  const Plot plot = curves_plot({run});
  const auto draw = [&] { gnuplot_script(plot, Picture::png, "x.png"); };
  test::expect_error(ErrorCode::unwritable_output, draw, "a .png of 91 diagrams", "svg");
  EXPECT_THAT(gnuplot_script(plot, Picture::svg, "x.svg"), HasSubstr("$panel90series0"));
  run.epochs[0].measures.resize(60);
  EXPECT_THAT(gnuplot_script(curves_plot({run}), Picture::png, "x.png"), HasSubstr("pngcairo"));
}

TEST(GnuplotScript, NumbersThatAreNotFiniteAreGaps) {
  Plot plot;
  Panel panel;
  panel.series = {{"s", Series::Style::line, {{1, NAN}, {2, INFINITY}, {3, 4}}}};
  plot.panels = {panel};
  const std::string script = gnuplot_script(plot, Picture::svg, "x.svg");
  EXPECT_THAT(script, HasSubstr("1 NaN NaN NaN\n2 NaN"));
  EXPECT_EQ(script.find("inf"), std::string::npos);
}

}  // namespace
}  // namespace hpcboot::plots

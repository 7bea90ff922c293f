#include "record/runtime_table.hpp"

#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <random>
#include <set>
#include <sstream>
#include <tuple>

#include "record/table_format.hpp"
#include "support/errors.hpp"
#include "support/temporary_folder.hpp"
#include "text/display_width.hpp"

namespace hpcboot::record {
namespace {

using test::TemporaryFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

RunRecord run(const std::string& name, const std::string& mode, int nodes, int devices,
              double runtime) {
  RunRecord record;
  record.run = name;
  record.started = "2026-11-20T10:00:00Z";
  record.finished = "2026-11-20T11:00:00Z";
  record.exit_reason = kFinished;
  record.config = Json{{"mode", mode},      {"model", "mnistnet"}, {"epochs", 2},
                       {"image_size", 128}, {"precision", "fp32"}, {"batch_size", 64}};
  record.train_samples = 60000;
  record.nodes = nodes;
  record.devices_per_node = devices;
  record.totals.runtime_seconds = runtime;
  return record;
}

const RuntimeRow& row_named(const std::vector<RuntimeRow>& rows, const std::string& name) {
  for (const RuntimeRow& row : rows) {
    if (row.run == name) return row;
  }
  throw std::runtime_error("no row " + name);
}

TEST(RuntimeRows, SpeedupIsRuntimeOfTheBaselineOverOwn) {
  const auto rows = runtime_rows({run("b", "single", 1, 1, 100.0), run("d", "ddp", 2, 4, 20.0)});
  EXPECT_DOUBLE_EQ(row_named(rows, "b").speedup.value(), 1.0);
  EXPECT_DOUBLE_EQ(row_named(rows, "b").efficiency.value(), 1.0);
  EXPECT_DOUBLE_EQ(row_named(rows, "d").speedup.value(), 5.0);
  EXPECT_DOUBLE_EQ(row_named(rows, "d").efficiency.value(), 0.625);
}

TEST(RuntimeRows, TheSpeedupOfABaselineIsOneWhateverItsRuntime) {
  for (double runtime = 1e-3; runtime < 1e6; runtime *= 3.7) {
    const auto rows = runtime_rows({run("b", "single", 1, 1, runtime)});
    EXPECT_EQ(rows[0].speedup, 1.0);
    EXPECT_EQ(rows[0].efficiency, 1.0);
  }
}

TEST(FormatRows, TheRateIsNamedAfterWhatTheRunsTrainOn) {
  const auto titles = [](const std::vector<const char*>& kinds) {
    std::vector<RunRecord> runs;
    for (const char* kind : kinds) {
      runs.push_back(run(std::to_string(runs.size()), "single", 1, 1, 10.0));
      if (*kind != '\0') runs.back().config["sample"] = kind;
    }
    const std::string text = format_rows(runtime_rows(runs), TableFormat::md, {}).str();
    return text.substr(0, text.find('\n'));
  };
  EXPECT_THAT(titles({}), HasSubstr("| Images/s |"));
  EXPECT_THAT(titles({"", "images of 1x28x28"}), HasSubstr("| Images/s |"));
  EXPECT_THAT(titles({"sequences of 1x512 to 20x512"}), HasSubstr("| Sequences/s |"));
  EXPECT_THAT(titles({"sequences of 1x512 to 20x512", ""}), HasSubstr("| Samples/s |"));
  EXPECT_THAT(titles({"<b>images"}), HasSubstr("| Samples/s |"));
}

TEST(RuntimeRows, ARunOfOtherWorkHasNoBaseline) {
  const std::pair<const char*, std::function<void(RunRecord&)>> differences[] = {
      {"task", [](RunRecord& r) { r.config["task"] = "cifar"; }},
      {"model", [](RunRecord& r) { r.config["model"] = "resnet50"; }},
      {"image size", [](RunRecord& r) { r.config["image_size"] = 28; }},
      {"epochs", [](RunRecord& r) { r.config["epochs"] = 3; }},
      {"precision", [](RunRecord& r) { r.config["precision"] = "bf16"; }},
      {"precision unknown", [](RunRecord& r) { r.config.erase("precision"); }},
      {"samples", [](RunRecord& r) { r.train_samples = 512; }},
      {"samples unknown", [](RunRecord& r) { r.train_samples.reset(); }},
  };
  for (const auto& [what, change] : differences) {
    RunRecord other = run("d", "ddp", 1, 2, 50.0);
    change(other);
    const auto rows = runtime_rows({run("b", "single", 1, 1, 100.0), other});
    EXPECT_EQ(row_named(rows, "d").speedup, std::nullopt) << what;
    EXPECT_EQ(row_named(rows, "d").efficiency, std::nullopt) << what;
  }
}

TEST(RuntimeRows, RunsOfVersionsWithoutTasksAreOfMnist) {
  RunRecord later = run("d", "ddp", 1, 2, 50.0);
  later.config["task"] = "mnist";
  later.config["sample"] = "images of 1x28x28";
  const auto rows = runtime_rows({run("b", "single", 1, 1, 100.0), later});
  EXPECT_EQ(row_named(rows, "d").speedup, 2.0);
}

TEST(RuntimeRows, OfOtherTasksCompareIfTheirSamplesAreEqual) {
  RunRecord baseline = run("b", "single", 1, 1, 100.0);
  RunRecord equal = run("equal", "ddp", 1, 2, 50.0);
  RunRecord longer = run("longer", "ddp", 1, 2, 50.0);
  for (RunRecord* record : {&baseline, &equal, &longer}) {
    record->config["task"] = "transformer";
    record->config["sample"] = "sequences of 1x512 to 20x512";
  }
  longer.config["sample"] = "sequences of 1x512 to 40x512";
  const auto rows = runtime_rows({baseline, equal, longer});
  EXPECT_EQ(row_named(rows, "equal").speedup, 2.0);
  EXPECT_EQ(row_named(rows, "longer").speedup, std::nullopt);
}

TEST(RuntimeRows, BatchSizeSeedAndSiteMayDiffer) {
  RunRecord other = run("d", "ddp", 1, 2, 50.0);
  other.config["batch_size"] = 128;
  other.config["seed"] = 5;
  other.site = "sockeye";
  const auto rows = runtime_rows({run("b", "single", 1, 1, 100.0), other});
  EXPECT_EQ(row_named(rows, "d").speedup, 2.0);
}

TEST(RuntimeRows, WithoutSampleCountsTheLimitDecides) {
  RunRecord baseline = run("b", "single", 1, 1, 100.0);
  RunRecord equal = run("equal", "ddp", 1, 2, 50.0);
  RunRecord unequal = run("unequal", "ddp", 1, 2, 50.0);
  for (RunRecord* record : {&baseline, &equal, &unequal}) record->train_samples.reset();
  baseline.config["limit_samples"] = equal.config["limit_samples"] = 512;
  unequal.config["limit_samples"] = 1024;
  const auto rows = runtime_rows({baseline, equal, unequal});
  EXPECT_EQ(row_named(rows, "equal").speedup, 2.0);
  EXPECT_EQ(row_named(rows, "unequal").speedup, std::nullopt);
}

// The rule of runtime_rows() again, without an index: for each run, examine all others.
std::optional<double> expected_speedup(const RunRecord& run, const std::vector<RunRecord>& all) {
  const auto kind = [](const RunRecord& one) {
    return one.ranks.empty() ? "" : one.ranks[0].device.substr(0, one.ranks[0].device.find(':'));
  };
  const RunRecord* best = nullptr;
  const auto preference = [&](const RunRecord& one) {
    const bool is_single = one.mode() == "single";
    const bool has_same_name = !run.ranks.empty() && run.ranks[0].device_name.has_value() &&
                               one.ranks[0].device_name == run.ranks[0].device_name;
    return std::tuple(is_single, has_same_name, kind(one) == kind(run), one.site == run.site,
                      one.started);
  };
  for (const RunRecord& one : all) {
    if (one.config["model"] != run.config["model"]) continue;  // each is of one device
    if (best == nullptr || preference(*best) < preference(one)) best = &one;
  }
  if (best == nullptr) return std::nullopt;
  return *best->totals.runtime_seconds / *run.totals.runtime_seconds;
}

TEST(RuntimeRows, ManyRunsHaveTheBaselinesThatTheRuleGives) {
  std::mt19937 random(5);
  const auto any = [&](auto... choices) {
    const std::array<const char*, sizeof...(choices)> all = {choices...};
    return all[random() % all.size()];
  };
  std::vector<RunRecord> runs;
  for (int i = 0; i < 400; ++i) {
    RunRecord record = run("r" + std::to_string(i), any("single", "ddp", "ddp"), 1, 1, 1.0 + i);
    record.config["model"] = any("a", "b", "c", "rare");
    record.ranks.resize(1);
    record.ranks[0].device = any("cpu", "cuda:0", "cuda:1");
    if (record.ranks[0].device != "cpu" && random() % 2 != 0)
      record.ranks[0].device_name = any("NVIDIA H200", "Tesla V100");
    if (random() % 3 != 0) record.site = any("cedar", "sockeye", "");
    record.started = std::string("2026-11-") + any("01", "02", "03", "04") + "T10:00:00Z";
    runs.push_back(std::move(record));
  }
  const auto rows = runtime_rows(runs);
  for (const RunRecord& one : runs)
    EXPECT_EQ(row_named(rows, one.run).speedup, expected_speedup(one, runs)) << one.run;
}

TEST(RuntimeRows, OnlyASingleDeviceWithoutDpIsABaseline) {
  for (const RunRecord& other :
       {run("x", "ddp", 1, 2, 10.0), run("x", "dp", 1, 1, 10.0), run("x", "single", 1, 2, 10.0)}) {
    const auto rows = runtime_rows({other, run("d", "ddp", 1, 2, 50.0)});
    EXPECT_EQ(row_named(rows, "d").speedup, std::nullopt);
  }
}

TEST(RuntimeRows, ARunResumedOnAnotherNumberOfDevicesHasNoSpeedupAndIsNoBaseline) {
  RunRecord mixed = run("m", "single", 1, 1, 70.0);
  mixed.started = "2026-11-21T10:00:00Z";
  mixed.resumed.emplace_back().devices_before = 1;
  EXPECT_EQ(row_named(runtime_rows({mixed, run("d", "ddp", 1, 4, 35.0)}), "d").speedup, 2.0);
  mixed.resumed.emplace_back().devices_before = 4;
  const auto rows =
      runtime_rows({run("b", "single", 1, 1, 140.0), mixed, run("d", "ddp", 1, 4, 35.0)});
  EXPECT_EQ(row_named(rows, "d").speedup, 4.0);
  EXPECT_FALSE(row_named(rows, "m").speedup);
  EXPECT_THAT(format_rows(rows, TableFormat::table).str(),
              AllOf(HasSubstr("‡–"), HasSubstr("‡ The run was resumed on another")));
}

TEST(RuntimeRows, OneRankOfModeDdpIsABaselineIfThereIsNoneOfModeSingle) {
  std::vector<RunRecord> runs = {run("one", "ddp", 1, 1, 100.0), run("two", "ddp", 1, 2, 50.0)};
  EXPECT_EQ(row_named(runtime_rows(runs), "one").speedup, 1.0);
  EXPECT_EQ(row_named(runtime_rows(runs), "two").speedup, 2.0);
  runs.push_back(run("single", "single", 1, 1, 90.0));
  EXPECT_EQ(row_named(runtime_rows(runs), "one").speedup, 0.9);
  EXPECT_EQ(row_named(runtime_rows(runs), "two").speedup, 1.8);
}

TEST(RuntimeRows, AmongBaselinesDeviceThenSiteThenAgeDecide) {
  const auto single = [](double runtime, const char* device, const char* site,
                         const char* started) {
    RunRecord record = run("single " + std::to_string(runtime), "single", 1, 1, runtime);
    record.ranks.resize(1);
    record.ranks[0].device = device;
    record.site = site;
    record.started = started;
    return record;
  };
  RunRecord subject = run("d", "ddp", 1, 1, 1.0);
  subject.ranks.resize(1);
  subject.ranks[0].device = "cuda:1";
  subject.site = "cedar";
  std::vector<RunRecord> runs = {subject};
  const auto speedup = [&runs] { return row_named(runtime_rows(runs), "d").speedup.value(); };
  runs.push_back(single(2.0, "cpu", "sockeye", "2026-11-20T09:00:00Z"));
  EXPECT_EQ(speedup(), 2.0) << "any baseline is better than none";
  runs.push_back(single(3.0, "cpu", "sockeye", "2026-11-20T10:00:00Z"));
  runs.push_back(single(4.0, "cpu", "sockeye", "2026-11-20T08:00:00Z"));
  EXPECT_EQ(speedup(), 3.0) << "the newest";
  runs.push_back(single(5.0, "cpu", "cedar", "2026-11-20T07:00:00Z"));
  EXPECT_EQ(speedup(), 5.0) << "the same site before a newer one";
  runs.push_back(single(6.0, "cuda:0", "sockeye", "2026-11-20T06:00:00Z"));
  EXPECT_EQ(speedup(), 6.0) << "the same kind of device before the same site";
  runs.push_back(single(7.0, "cuda:0", "cedar", "2026-11-20T05:00:00Z"));
  runs.back().ranks[0].device_name = "Tesla V100";
  EXPECT_EQ(speedup(), 7.0) << "of unknown name is any CUDA device";
  runs.push_back(single(8.0, "cuda:0", "sockeye", "2026-11-20T04:00:00Z"));
  runs.back().ranks[0].device_name = "NVIDIA H200";
  runs.front().ranks[0].device_name = "NVIDIA H200";
  EXPECT_EQ(speedup(), 8.0) << "the same GPU before another one of the same site";
}

TEST(RuntimeRows, UnevenNodesCountTheirRanks) {
  RunRecord uneven = run("d", "ddp", 2, 4, 20.0);
  uneven.ranks.resize(6);
  const auto rows = runtime_rows({run("b", "single", 1, 1, 120.0), uneven});
  EXPECT_DOUBLE_EQ(row_named(rows, "d").efficiency.value(), 1.0);
}

TEST(RuntimeRows, UnknownRuntimesGiveNoFigures) {
  RunRecord unknown = run("u", "single", 1, 1, 0.0);
  unknown.totals.runtime_seconds.reset();
  const auto rows =
      runtime_rows({unknown, run("zero", "ddp", 1, 2, 0.0), run("b", "single", 1, 1, 100.0)});
  EXPECT_EQ(row_named(rows, "u").speedup, std::nullopt);
  EXPECT_EQ(row_named(rows, "zero").speedup, std::nullopt);
  EXPECT_EQ(row_named(rows, "b").speedup, 1.0);
}

TEST(RuntimeRows, AreSortedByDevicesNodesMethodAndName) {
  const auto rows = runtime_rows({run("g", "ddp", 2, 2, 1.0), run("f", "ddp", 1, 4, 1.0),
                                  run("e", "ddp", 1, 2, 1.0), run("d", "dp", 1, 2, 1.0),
                                  run("b", "single", 1, 1, 1.0), run("a", "single", 1, 1, 1.0),
                                  run("c", "ddp", 1, 1, 1.0)});
  std::vector<std::string> names;
  for (const RuntimeRow& row : rows) names.push_back(row.run);
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d", "e", "f", "g"));
}

TEST(RuntimeTable, ReadsRunsFoldersRunFoldersAndFilesOnce) {
  const TemporaryFolder folder;
  const auto runs = folder.path() / "runs";
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directories(runs / name / "checkpoints");
    run(name, "single", 1, 1, 1.0).write(runs / name / "run.json");
  }
  std::filesystem::create_directories(runs / ".cache");
  const std::pair<std::vector<std::filesystem::path>, std::size_t> cases[] = {
      {{runs}, 2},
      {{runs / "a"}, 1},
      {{runs / "a" / "run.json"}, 1},
      {{runs, runs / "a", runs / "a" / "run.json", runs / "b" / ".." / "a"}, 2},
      {{}, 0},
  };
  for (const auto& [places, rows] : cases) {
    const RuntimeTable table = read_runtime_table(places);
    EXPECT_EQ(table.rows.size(), rows);
    EXPECT_THAT(table.skipped, IsEmpty());
  }
}

TEST(RuntimeTable, ReadsAFolderOfRunsAmongRuns) {
  const TemporaryFolder folder;
  const auto runs = folder.path() / "runs";
  const auto group = runs / "compare_4711";
  for (const auto& path : {runs / "a", group / "b", group / "c", group / ".hidden", group / "b/in",
                           runs / "deep/deeper/e"}) {
    std::filesystem::create_directories(path);
    run(path.filename(), "single", 1, 1, 1.0).write(path / "run.json");
  }
  std::filesystem::create_directories(group / "lost");
  RuntimeTable table = read_runtime_table({runs});
  std::set<std::string> names;
  for (const RuntimeRow& row : table.rows) names.insert(row.run);
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
  EXPECT_THAT(table.skipped,
              ElementsAre("'" + (group / "lost").string() + "' contains no run.json",
                          "'" + (runs / "deep").string() + "' contains no run.json"));
  run("stray", "single", 1, 1, 1.0).write(runs / "run.json");
  table = read_runtime_table({runs, group});
  EXPECT_EQ(table.rows.size(), 4U);
}

TEST(RuntimeTable, LooksIntoAFolderOfRunsOnceWhateverLinksLeadThere) {
  const TemporaryFolder folder;
  const auto runs = folder.path() / "runs";
  const auto group = folder.path() / "elsewhere";
  constexpr std::size_t kMany = 300;
  for (std::size_t i = 0; i < kMany; ++i)
    std::filesystem::create_directories(group / ("lost_" + std::to_string(i)));
  std::filesystem::create_directories(group / "b");
  std::filesystem::create_directories(runs);
  run("b", "single", 1, 1, 1.0).write(group / "b/run.json");
  std::filesystem::create_directory_symlink(".", runs / "loop");
  std::filesystem::create_directory_symlink("nowhere", runs / "dangling");
  std::filesystem::create_directory_symlink("endless", runs / "endless");
  for (std::size_t i = 0; i < kMany; ++i)
    std::filesystem::create_directory_symlink(group, runs / ("link_" + std::to_string(i)));
  const RuntimeTable table = read_runtime_table({runs});
  EXPECT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.skipped.size(), kMany) << "a line for each run that it lacks";
}

TEST(RuntimeTable, AMissingPlaceIsNamed) {
  const auto error = test::error_of([] { read_runtime_table({"/nowhere/runs"}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unreadable_file);
  EXPECT_THAT(error->found(), HasSubstr("'/nowhere/runs': No such file or directory"));
}

TEST(TableFormat, NamesAreKnownExactly) {
  EXPECT_EQ(table_format("md"), TableFormat::md);
  EXPECT_EQ(table_format("MD"), std::nullopt);
  EXPECT_EQ(table_format(""), std::nullopt);
  EXPECT_THAT(table_formats(), testing::ElementsAre("table", "md", "csv", "json", "html"));
}

TEST(TableFormat, RuntimesAreReadable) {
  const std::pair<double, const char*> cases[] = {
      {0.04, "0.0 s"},     {12.34, "12.3 s"},   {59.94, "59.9 s"},      {59.96, "0:01:00"},
      {3599.6, "1:00:00"}, {3723.4, "1:02:03"}, {360000.0, "100:00:00"}};
  for (const auto& [seconds, shown] : cases) {
    const std::string text =
        format_rows(runtime_rows({run("r", "single", 1, 1, seconds)}), TableFormat::md).str();
    EXPECT_THAT(text, HasSubstr("| " + std::string(shown) + " |"));
  }
}

TEST(TableFormat, NoRowsAreValidInEveryFormat) {
  EXPECT_EQ(format_rows({}, TableFormat::json).str(), "[]\n");
  EXPECT_EQ(format_rows({}, TableFormat::csv).str(),
            "nodes,devices_per_node,method,model,launcher,site,epochs,runtime_seconds,"
            "images_per_second,speedup,efficiency,run,busy_hosts\n");
  EXPECT_THAT(format_rows({}, TableFormat::table).str(), HasSubstr("Speed-up"));
}

TEST(TableFormat, JsonHasTheKeysOfTheContractAndTheModel) {
  const auto json =
      Json::parse(format_rows(runtime_rows({run("r", "ddp", 1, 2, 1.0)}), TableFormat::json).str());
  std::vector<std::string> keys;
  for (const auto& item : json.at(0).items()) keys.push_back(item.key());
  EXPECT_THAT(keys, testing::UnorderedElementsAre("run", "method", "nodes", "devices_per_node",
                                                  "model", "launcher", "site", "epochs",
                                                  "runtime_seconds", "images_per_second", "speedup",
                                                  "efficiency", "busy_hosts"));
  EXPECT_TRUE(json[0]["speedup"].is_null());
  EXPECT_EQ(json[0]["method"], "DDP");
}

TEST(TableFormat, ARunBesideOtherProgramsIsMarked) {
  RunRecord busy = run("r", "single", 1, 1, 12.3);
  busy.hosts.resize(3);
  busy.hosts[0].host = "n1";
  busy.hosts[1].host = "n2";
  busy.hosts[2].host = "n3";
  busy.hosts[0].busy = busy.hosts[2].busy = true;
  const auto rows = runtime_rows({busy});
  EXPECT_THAT(format_rows(rows, TableFormat::table).str(),
              AllOf(HasSubstr("  *12.3 s  "), HasSubstr("\n* Other programs kept hosts")));
  EXPECT_THAT(format_rows(rows, TableFormat::md).str(),
              AllOf(HasSubstr("| \\*12.3 s |"), HasSubstr("\n\n\\* Other programs kept hosts")));
  EXPECT_THAT(format_rows(rows, TableFormat::html).str(),
              AllOf(HasSubstr(">*12.3 s</td>"), HasSubstr("<p>* Other programs kept hosts")));
  EXPECT_THAT(format_rows(rows, TableFormat::csv).str(), HasSubstr(",r,n1 n3\n"));
  EXPECT_EQ(Json::parse(format_rows(rows, TableFormat::json).str())[0]["busy_hosts"],
            (Json{"n1", "n3"}));
}

TEST(TableFormat, ANarrowTerminalGetsWhatIsEqualOnceAndNamesBelowTheFigures) {
  RunRecord busy = run("20261124_120000_ddp_1x2_a_comment", "ddp", 1, 2, 2.0);
  busy.hosts.resize(1);
  busy.hosts[0].host = "n1";
  busy.hosts[0].busy = true;
  const auto rows = runtime_rows({run("20261124_115900_single_1x1", "single", 1, 1, 3.0), busy});
  const std::string text = format_rows(rows, TableFormat::table, {80, false}).str();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
  EXPECT_THAT(text, AllOf(StartsWith("All runs: nodes 1, model "), HasSubstr("Devices/"),
                          HasSubstr("\n    20261124_120000_ddp_1x2_a_comment\n")));
  EXPECT_THAT(format_rows(rows, TableFormat::table).str(), StartsWith("Nodes  Devices/node  "));
}

TEST(TableFormat, AnEfficiencyAboveAllNoiseIsMarked) {
  const auto shown = [](double runtime) {
    return format_rows(
               runtime_rows({run("a", "single", 1, 1, 100), run("b", "ddp", 1, 2, runtime)}),
               TableFormat::table)
        .str();
  };
  EXPECT_THAT(shown(48), AllOf(HasSubstr("  104%"), Not(HasSubstr("†"))));  // noise
  EXPECT_THAT(shown(40), AllOf(HasSubstr(" †125%"), HasSubstr("  100%"),
                               HasSubstr("\n† Above 100% by more than noise (5%) explains")));
}

}  // namespace
}  // namespace hpcboot::record

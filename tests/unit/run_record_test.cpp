#include "record/run_record.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <functional>
#include <limits>
#include <sstream>

#include "record/run_phases.hpp"
#include "support/errors.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::record {
namespace {

using test::error_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

RunRecord full_record() {
  RunRecord record;
  record.run = "20261120_235901_ddp_2x1_1234_my-comment";
  record.started = "2026-11-20T23:59:01Z";
  record.finished = "2026-11-21T00:01:02Z";
  record.exit_reason = kFinished;
  record.config = Json{{"mode", "ddp"}, {"model", "mnistnet"}, {"batch_size", 128}, {"lr", 1e-4}};
  record.train_samples = 60000;
  record.validation_samples = 10000;
  record.launcher = "openmpi";
  record.scheduler = "slurm";
  record.job_id = "1234";
  record.site = "cedar";
  record.nodes = 2;
  record.devices_per_node = 1;
  for (int rank = 0; rank < 2; ++rank) {
    RankRecord one;
    one.placement = {rank, 2, 0, 1, rank, 2};
    one.host = "node0" + std::to_string(rank);
    one.pid = 4000 + rank;
    one.device = "cuda:0";
    one.device_name = "NVIDIA H200";
    one.interface = "ib0";
    one.backend = "nccl";
    one.provenance["rank"] = {"openmpi", "OMPI_COMM_WORLD_RANK"};
    record.ranks.push_back(one);
  }
  record.hosts = {{"node00", 4, 14.5, 6.25, 12.0, 1.5, true},
                  {"node01", {}, {}, {}, {}, {}, false}};
  record.versions = {{"hpcboot", "0.1.0"}, {"libtorch", "1.13.1"}};
  record.epochs.push_back({1,
                           469,
                           50.5,
                           4.25,
                           0.31,
                           0.12,
                           {{"accuracy", 0.964, true}, {"r2", -0.5}},
                           1188.1,
                           0.5,
                           15.0,
                           30.5,
                           2.0,
                           2.25,
                           4096,
                           3});
  record.epochs.push_back({2, 469, 50.0, {}, 0.1, {}, {}, 1200.0, 0.25, {}, {}, {}, {}, {}, {}});
  record.totals = {121.0, 2.5, 2.75, 100.5, 4.25, 0.75, 120000, 1194.0, 1.5, 3.25};
  record.resumed = {{"2026-11-21T00:00:01Z", "epoch_0001_step_00000469.safetensors", 2, 469, 8, 4,
                     "1234", 1, 12, "best.safetensors"}};
  record.identity = {{"lr", 1e-4}, {"model", "resnet50"}};
  return record;
}

TEST(RunRecord, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "run.json";
  const RunRecord record = full_record();
  record.write(file);
  const RunRecord back = RunRecord::read(file);
  EXPECT_EQ(to_json(back), to_json(record));
  EXPECT_THAT(test::read_text(file), StartsWith("{\n  \"schema\": 1,\n")) << "for people too";
  EXPECT_EQ(back.mode(), "ddp");
  EXPECT_EQ(back.ranks.at(1).placement.node_rank, 1);
  EXPECT_EQ(back.ranks.at(1).provenance.at("rank").variable, "OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(back.epochs.at(0).train_seconds, 50.5);
  EXPECT_EQ(back.epochs.at(1).validation_loss, std::nullopt);
  ASSERT_EQ(back.epochs.at(0).measures.size(), 2U);
  EXPECT_EQ(back.epochs.at(0).measures[1].name, "r2");
  EXPECT_EQ(back.epochs.at(0).measures[1].value, -0.5);
  EXPECT_EQ(back.epochs.at(0).communication_seconds, 2.0);
  EXPECT_EQ(back.epochs.at(0).skipped_steps, 3);
  EXPECT_EQ(back.epochs.at(1).skipped_steps, std::nullopt);
  EXPECT_EQ(back.totals.images, 120000);
  EXPECT_EQ(back.totals.first_step_seconds, 2.75);
  EXPECT_EQ(back.totals.launch_seconds, 3.25);
  ASSERT_EQ(back.hosts.size(), 2U);
  EXPECT_EQ(back.hosts[0].load_at_start, 14.5);
  EXPECT_TRUE(back.hosts[0].busy);
  EXPECT_EQ(back.resumed.at(0).steps_again, 12);
  EXPECT_EQ(back.resumed.at(0).devices_before, 4);
  EXPECT_EQ(back.resumed.at(0).went_back_to, "best.safetensors");
}

TEST(RunRecord, TheOriginIsThatOfTheFirstStart) {
  RunRecord record = full_record();
  record.resumed.clear();
  const auto origin = origin_of(record);
  ASSERT_TRUE(origin);
  for (const auto& change : std::vector<std::function<void(RunRecord&)>>{
           [](RunRecord& r) { r.job_id = "1235"; }, [](RunRecord& r) { r.job_id.reset(); },
           [](RunRecord& r) { r.ranks[0].host = "node07"; },
           [](RunRecord& r) { r.ranks[0].pid = 1; }}) {
    RunRecord other = record;
    change(other);
    EXPECT_NE(origin_of(other), origin);
    other.origin = origin;  // as a later start records it
    EXPECT_EQ(origin_of(run_record_from_json(to_json(other), "run.json")), origin);
  }
  EXPECT_EQ(origin_of(full_record()), std::nullopt)
      << "resumed by a version that did not record it";
  record.ranks[0].pid = 0;
  EXPECT_EQ(origin_of(record), std::nullopt);
  record.ranks.clear();
  EXPECT_EQ(origin_of(record), std::nullopt);
}

TEST(RunRecord, AFreshRecordIsWrittenAndReadToo) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "run.json";
  RunRecord record;
  record.run = "r";
  record.started = "2026-11-20T23:59:01Z";
  record.config["mode"] = "single";
  record.write(file);
  const RunRecord back = RunRecord::read(file);
  EXPECT_EQ(back.exit_reason, kRunning);
  EXPECT_EQ(back.finished, std::nullopt);
  EXPECT_EQ(back.totals.runtime_seconds, std::nullopt);
}

TEST(RunRecord, KeysOfTheContractAreThere) {
  const Json json = to_json(full_record());
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["config"]["mode"], "ddp");
  for (const char* key : {"launcher", "scheduler", "job_id", "site", "nodes", "devices_per_node",
                          "ranks", "versions", "totals", "exit_reason", "started", "finished"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (const char* key :
       {"epoch", "train_seconds", "validation_seconds", "train_loss", "validation_loss",
        "validation_accuracy", "images_per_second", "data_wait_seconds"}) {
    EXPECT_TRUE(json["epochs"][0].contains(key)) << key;
  }
  for (const char* key :
       {"rank", "world_size", "local_rank", "local_size", "node_rank", "num_nodes", "host", "pid",
        "device", "interface", "backend", "provenance"}) {
    EXPECT_TRUE(json["ranks"][0].contains(key)) << key;
  }
}

TEST(RunRecord, UnknownAndNonFiniteNumbersAreNull) {
  RunRecord record = full_record();
  record.totals.images_per_second = std::numeric_limits<double>::quiet_NaN();
  record.epochs[0].train_loss = std::numeric_limits<double>::infinity();
  const Json json = to_json(record);
  EXPECT_TRUE(json["totals"]["images_per_second"].is_null());
  EXPECT_TRUE(json["epochs"][0]["train_loss"].is_null());
  EXPECT_TRUE(json["epochs"][1]["validation_loss"].is_null());
}

TEST(RunRecord, ConfigKeepsItsOrderAndSpellsKeysInOneWay) {
  RunRecord record = full_record();
  record.config = Json::object();
  record.config["mode"] = "ddp";
  record.config["image-size"] = 128;
  record.config["batch_size"] = 64;
  EXPECT_EQ(to_json(record)["config"].dump(), R"({"mode":"ddp","image_size":128,"batch_size":64})");
}

TEST(RunRecord, TextThatIsNotUtf8CostsNoRecord) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "run.json";
  RunRecord record = full_record();
  record.ranks[0].host = "node\xff";
  record.write(file);
  EXPECT_EQ(RunRecord::read(file).ranks[0].host, "node\xEF\xBF\xBD");
}

TEST(RunRecord, UnknownKeysAreIgnored) {
  Json json = to_json(full_record());
  json["later"] = Json{{"x", 1}};
  json["totals"]["energy_joules"] = 5;
  json["ranks"][0]["gpu"] = "H200";
  EXPECT_EQ(to_json(run_record_from_json(json, "f")), to_json(full_record()));
}

TEST(RunRecord, ManyMembersAreReadAndKeepTheirOrder) {
  Json json = to_json(full_record());
  json["versions"] = Json::object();
  for (int i = 100; i < 200; ++i) {
    const std::string name = std::to_string(i);
    json["config"]["option-" + name] = i;
    json["versions"]["library" + name] = "1." + name;
    json["epochs"][0]["validation_m" + name] = i;
    json["ranks"][1]["provenance"]["field" + name] = {{"source", "s" + name}, {"variable", "V"}};
  }
  json["config"]["option_150"] = "later";
  const RunRecord record = run_record_from_json(json, "f");
  EXPECT_EQ(record.config.size(), 104U);
  EXPECT_EQ(std::prev(record.config.end()).key(), "option_199");
  EXPECT_EQ(record.config["option_150"], "later");
  EXPECT_EQ(record.versions.at("library142"), "1.142");
  ASSERT_EQ(record.epochs[0].measures.size(), 102U);
  EXPECT_EQ(record.epochs[0].measures[44].name, "m142");
  EXPECT_EQ(record.epochs[0].measures[44].value, 142);
  EXPECT_EQ(record.ranks[1].provenance.at("field142").source, "s142");
  EXPECT_EQ(to_json(run_record_from_json(to_json(record), "f")), to_json(record));
  json["versions"]["library142"] = 5;
  const auto error = error_of([&] { run_record_from_json(json, "f"); });
  EXPECT_THAT(error->found(), HasSubstr("key 'versions.library142' holds 5"));
}

TEST(RunRecord, ARankTravelsAsText) {
  const RankRecord rank = full_record().ranks[1];
  const std::string text = to_json(rank).dump();
  EXPECT_EQ(to_json(rank_record_from_json(Json::parse(text), "rank 1")), to_json(rank));
}

TEST(RunRecord, ValuesOfAnEpochAreThoseThatAreKnown) {
  EpochRecord epoch;
  epoch.train_loss = 0.5;
  epoch.data_wait_seconds = 0.25;
  epoch.measures = {{"accuracy", 0.875, true}, {"r2", -0.5}};
  EXPECT_THAT(epoch_values(epoch),
              ElementsAre(Pair("train_loss", 0.5), Pair("data_wait_seconds", 0.25),
                          Pair("validation_accuracy", 0.875), Pair("validation_r2", -0.5)));
}

struct BadRecord {
  std::function<void(Json&)> damage;
  std::string found;
  std::string expected;
};

Json many_names(const std::string& prefix) {
  Json object = Json::object();
  for (int i = 0; i < 1001; ++i) object[prefix + std::to_string(i)] = 1;
  return object;
}

TEST(RunRecord, DamageIsNamedByFileAndKey) {
  const BadRecord cases[] = {
      {[](Json& j) { j["schema"] = 2; }, "'f', key 'schema' holds 2", "schema 1"},
      {[](Json& j) { j.erase("schema"); }, "'f' has no key 'schema'", "schema 1"},
      {[](Json& j) { j["schema"] = "1"; }, "key 'schema' holds \"1\"", "whole number"},
      {[](Json& j) { j.erase("run"); }, "no key 'run'", "name"},
      {[](Json& j) { j["run"] = 5; }, "key 'run' holds 5", "string"},
      {[](Json& j) { j["started"] = "yesterday"; }, "key 'started' holds \"yesterday\"", "UTC"},
      {[](Json& j) { j["finished"] = "2026"; }, "key 'finished' holds \"2026\"", "UTC"},
      {[](Json& j) { j["exit_reason"] = nullptr; }, "'exit_reason' holds null", "finished"},
      {[](Json& j) { j["config"] = "ddp"; }, "key 'config' holds \"ddp\"", "object"},
      {[](Json& j) { j["config"].erase("mode"); }, "no key 'config.mode'", "single, dp or ddp"},
      {[](Json& j) { j["config"]["mode"] = 1; }, "key 'config.mode' holds 1", "string"},
      {[](Json& j) { j["nodes"] = 0; }, "key 'nodes' holds 0", "at least 1"},
      {[](Json& j) { j["nodes"] = -1; }, "key 'nodes' holds -1", "from 0"},
      {[](Json& j) { j["nodes"] = 1.5; }, "key 'nodes' holds 1.5", "whole number"},
      {[](Json& j) { j["nodes"] = 4294967296; }, "holds 4294967296", "2147483647"},
      {[](Json& j) { j["ranks"] = 7; }, "key 'ranks' holds 7", "array"},
      {[](Json& j) { j["ranks"][1] = "x"; }, "key 'ranks[1]' holds \"x\"", "object"},
      {[](Json& j) { j["ranks"][1].erase("rank"); }, "no key 'ranks[1].rank'", "number"},
      {[](Json& j) { j["ranks"][0]["provenance"]["rank"] = 1; },
       "key 'ranks[0].provenance.rank' holds 1", "object"},
      {[](Json& j) { j["hosts"][0]["load_at_end"] = -1; }, "'hosts[0].load_at_end' holds -1",
       "from 0"},
      {[](Json& j) { j["hosts"][0].erase("host"); }, "no key 'hosts[0].host'", "name of a host"},
      {[](Json& j) { j["resumed"][0].erase("time"); }, "no key 'resumed[0].time'", "UTC"},
      {[](Json& j) {
         j["hosts"] = std::vector<Json>(200'001, {{"host", "n"}});
       },
       "key 'hosts' holds an array", "at most 200000"},
      {[](Json& j) { j["config"].update(many_names("option")); }, "key 'config' holds an object",
       "at most 1000 keys"},
      {[](Json& j) { j["versions"] = many_names("library"); }, "key 'versions' holds an object",
       "at most 1000 keys"},
      {[](Json& j) { j["epochs"][1].update(many_names("validation_m")); },
       "key 'epochs[1].validation_m", "at most 1000 measures"},
      {[](Json& j) { j["epochs"][1]["train_loss"] = "low"; },
       "key 'epochs[1].train_loss' holds \"low\"", "number or null"},
      {[](Json& j) { j["totals"]["images"] = 18446744073709551615U; },
       "key 'totals.images' holds 18446744073709551615", "whole number"},
      {[](Json& j) { j["totals"]["runtime_seconds"] = -5; }, "'totals.runtime_seconds' holds -5",
       "seconds from 0"},
      {[](Json& j) { j["totals"]["runtime_seconds"] = 1e308; }, "holds 1e+308", "seconds from 0"},
      {[](Json& j) { j["versions"]["mpi"] = 4; }, "key 'versions.mpi' holds 4", "string"},
      {[](Json& j) { j = Json::array(); }, "'f' holds []", "object"},
  };
  for (const BadRecord& one : cases) {
    Json json = to_json(full_record());
    one.damage(json);
    const auto error = error_of([&] { run_record_from_json(json, "f"); });
    ASSERT_TRUE(error) << one.found;
    EXPECT_EQ(error->code(), ErrorCode::malformed_file) << one.found;
    EXPECT_THAT(error->found(), HasSubstr("'f'"));
    EXPECT_THAT(error->found(), HasSubstr(one.found));
    EXPECT_THAT(error->expected(), HasSubstr(one.expected)) << one.found;
  }
}

TEST(RunRecord, EveryTruncationIsAnErrorThatNamesTheFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "run.json";
  const std::string whole = to_json(full_record()).dump();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    test::write_text(file, whole.substr(0, size));
    const auto error = error_of([&] { RunRecord::read(file); });
    ASSERT_TRUE(error) << size;
    EXPECT_EQ(error->code(), ErrorCode::malformed_file);
    EXPECT_THAT(error->found(), HasSubstr(file.string()));
  }
}

TEST(RunRecord, FilesThatCannotBeReadAreDistinguished) {
  const TemporaryFolder folder;
  const auto missing = error_of([&] { RunRecord::read(folder.path() / "missing"); });
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->code(), ErrorCode::unreadable_file);
  EXPECT_THAT(missing->found(), HasSubstr("No such file or directory"));
  const auto fifo = folder.path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto waits = error_of([&] { RunRecord::read(fifo); });
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->code(), ErrorCode::unreadable_file);
  const auto directory = error_of([&] { RunRecord::read(folder.path()); });
  ASSERT_TRUE(directory);
  EXPECT_EQ(directory->code(), ErrorCode::unreadable_file);
  test::write_text(folder.path() / "huge", R"({"schema": 1e999})");
  const auto huge = error_of([&] { RunRecord::read(folder.path() / "huge"); });
  ASSERT_TRUE(huge);
  EXPECT_EQ(huge->code(), ErrorCode::malformed_file);
}

// "training 100.5" for each, "-" for an unknown one; indented by their level.
std::string phases_of(const RunRecord& record) {
  std::ostringstream text;
  for (const Phase& phase : run_phases(record)) {
    text << std::string(2 * static_cast<std::size_t>(phase.level), ' ') << phase.name << ' ';
    if (phase.seconds) {
      text << *phase.seconds << '\n';
    } else {
      text << "-\n";
    }
  }
  return text.str();
}

TEST(RunPhases, AreTheSameForAllRunsAndWhatIsLeftIsOther) {
  EXPECT_EQ(phases_of(full_record()),
            "launch 3.25\n"
            "runtime 121\n"
            "  start-up 2.5\n"
            "  training 100.5\n"
            "    data 0.75\n"
            "    forward 15\n"
            "    backward 30.5\n"
            "    exposed communication 2\n"
            "    optimizer 2.25\n"
            "    other training 50\n"
            "  validation 4.25\n"
            "  checkpoints 1.5\n"
            "  other 12.25\n");
  EXPECT_EQ(phases_of(RunRecord{}),
            "launch -\n"
            "runtime -\n"
            "  start-up -\n"
            "  training -\n"
            "    data -\n"
            "    forward -\n"
            "    backward -\n"
            "    exposed communication -\n"
            "    optimizer -\n"
            "    other training -\n"
            "  validation -\n"
            "  checkpoints -\n"
            "  other -\n");
}

}  // namespace
}  // namespace hpcboot::record

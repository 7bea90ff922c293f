#include "json/capture_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "hpcboot/redact.hpp"
#include "json/facts_json.hpp"
#include "json/resolution_json.hpp"
#include "support/expect_error.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot {
namespace {

using test::expect_error;
using test::write_text;
using testing::ElementsAre;

// PBS_JOBCOOKIE and PMI_SHARED_SECRET give access to the job, the transport key to Open MPI's
// messages; command lines, comments and job names may contain anything.
constexpr const char* kGoldenSecrets =
    "PBS_JOBCOOKIE|PMI_SHARED_SECRET|OMPI_ARGV|OMPI_COMMAND|OMPI_MCA_orte_precondition_transports|"
    "LSB_JOBNAME|SLURM_JOB_COMMENT|SUBMITIT_LOCAL_COMMAND";

TEST(CaptureFolder, RanksByNumberThenTheOthers) {
  const test::TemporaryFolder folder;
  for (const char* file :
       {"rank10.env", "rank2.env", "n1-77.env", "rank3.hostname", "rank2.hostname", "expected.json",
        "rank2.facts.json", "rank4.env.partial"}) {
    write_text(folder.path() / file, "");
  }
  EXPECT_THAT(list_capture(folder.path()), ElementsAre("rank2", "rank3", "rank10", "n1-77"));
}

TEST(CaptureFolder, AFolderWithoutRanksIsAnError) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path();
  expect_error(
      ErrorCode::unreadable_file, [&] { list_capture(path); }, "no captured rank in " + path);
  expect_error(
      ErrorCode::unreadable_file, [&] { list_capture(path + "/none"); }, path + "/none");
}

TEST(CaptureFolder, ReadsWhatIsThere) {
  const test::TemporaryFolder folder;
  Facts facts;
  facts.user_id = 4242;
  facts.device_count = 4;
  facts.device_distance = {{32, 32, 10, 10}};
  facts.pmi_fd_is_open_socket = true;
  facts.interfaces = {{"ib0", "10.0.0.1", false, true, 100000},
                      {"eth0", "fd00::1", true, false, 0}};
  facts.interfaces->at(0).kind = "";
  facts.interfaces->at(0).has_device = true;
  facts.interfaces->at(0).infiniband = true;
  facts.interfaces->at(1).port_kinds = {"", "veth"};
  facts.routes = {{"0.0.0.0", 0, "eth0", 100}, {"fd00::", 64, "ib0", 4294967295}};
  facts.ancestors = {{"bash", 0, {{"slurm"}}, true}, {"slurmstepd", 0, {}, false}};
  write_text(folder.path() / "rank0.env", "PBS_JOBID=7.s\nPBS_NODEFILE=/not/read\n");
  write_text(folder.path() / "rank0.hostname", "n1.cluster\n");
  write_text(folder.path() / "rank0.facts.json", to_json(facts).dump());
  write_text(folder.path() / "rank0.nodefile", "n1\nn2\n");
  const CapturedRank rank = read_captured_rank(folder.path(), "rank0");
  EXPECT_EQ(rank.facts.hostname, "n1.cluster");
  EXPECT_EQ(to_json(rank.facts), to_json(facts));
  EXPECT_EQ(rank.facts.user_id, 4242);
  EXPECT_EQ(rank.facts.interfaces->at(1).address, "fd00::1");
  EXPECT_THAT(resolve(rank.env, rank.facts, rank.options).hosts, ElementsAre("n1", "n2"));
}

TEST(CaptureFolder, FactsOfOlderVersionsLoad) {
  const test::TemporaryFolder folder;
  write_text(folder.path() / "rank0.env", "A=1\n");
  write_text(folder.path() / "rank0.hostname", "n1\n");
  write_text(
      folder.path() / "rank0.facts.json",
      R"({"user_id":1,"device_count":0,"interfaces":[{"name":"docker0","address":"172.17.0.1",)"
      R"("ipv6":false,"up":true,"speed_mbps":10000},{"name":"eth0","address":"10.0.0.1",)"
      R"("ipv6":false,"up":true,"speed_mbps":0}]})");
  const CapturedRank rank = read_captured_rank(folder.path(), "rank0");
  EXPECT_FALSE(rank.facts.routes);
  EXPECT_FALSE(rank.facts.interfaces->at(0).kind);
  EXPECT_EQ(resolve(rank.env, rank.facts, rank.options).interface, "eth0");
}

// A capture proves what the live process proved.
TEST(CaptureFolder, AProofOfNestingReplays) {
  const test::TemporaryFolder folder;
  const std::string env =
      "OMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=2\nOMPI_COMM_WORLD_LOCAL_RANK=1\n"
      "TORCHELASTIC_RUN_ID=r\nRANK=0\nWORLD_SIZE=1\nLOCAL_RANK=0\nGROUP_WORLD_SIZE=1\n"
      "MASTER_ADDR=127.0.0.1\nMASTER_PORT=29400\n";
  write_text(folder.path() / "rank0.env", env);
  write_text(folder.path() / "rank0.hostname", "n1\n");
  const auto replayed = [&] {
    const CapturedRank rank = read_captured_rank(folder.path(), "rank0");
    return resolve(rank.env, rank.facts, rank.options);
  };
  Facts facts;
  for (const char* outer : {"torchrun", "openmpi"}) {
    facts.ancestors = {{"mpirun", 0, {{outer}}, false}, {"bash", 0, {{}}, false}};
    write_text(folder.path() / "rank0.facts.json", to_json(facts).dump());
    EXPECT_EQ(to_json(replayed()), to_json(resolve(Env::parse(env), [&] {
                Facts live = facts;
                live.hostname = "n1";
                return live;
              }())));
    EXPECT_NE(replayed().launcher, outer);
  }
  // Captures of earlier versions have only the names.
  write_text(folder.path() / "rank0.facts.json", "{\"ancestry\":[\"mpirun\",\"bash\"]}");
  expect_error(
      ErrorCode::ambiguous_environment, [&] { replayed(); },
      "torchrun reports rank=0 world_size=1");
}

TEST(CaptureFolder, ANodefileForAllRanks) {
  const test::TemporaryFolder folder;
  write_text(folder.path() / "rank0.env", "PBS_JOBID=7.s\nPBS_NODEFILE=/not/read\n");
  write_text(folder.path() / "rank0.hostname", "\n");
  write_text(folder.path() / "nodefile", "n3\n");
  const CapturedRank rank = read_captured_rank(folder.path(), "rank0");
  EXPECT_FALSE(rank.facts.hostname);
  EXPECT_THAT(resolve(rank.env, rank.facts, rank.options).hosts, ElementsAre("n3"));
}

// Another user's folder may contain a pipe, which would block, or a link to a file of the reader.
TEST(CaptureFolder, EachFileIsAFile) {
  for (const char* name : {"rank0.env", "rank0.hostname", "rank0.facts.json", "rank0.nodefile",
                           "nodefile", "rank0.apinfo", "apinfo"}) {
    const test::TemporaryFolder folder;
    write_text(folder.path() / "rank0.env", "PBS_JOBID=7.s\nPBS_NODEFILE=/not/read\n");
    write_text(folder.path() / "rank0.hostname", "n1\n");
    write_text(folder.path() / "of_the_reader", "{}");
    const std::string file = folder.path() / name;
    const auto read = [&] { read_captured_rank(folder.path(), "rank0"); };
    ::unlink(file.c_str());
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    expect_error(ErrorCode::unreadable_file, read, file + " is not a regular file");
    ::unlink(file.c_str());
    ASSERT_EQ(::symlink("of_the_reader", file.c_str()), 0);
    expect_error(ErrorCode::unreadable_file, read, file + " is not a regular file");
  }
}

TEST(CaptureFolder, AFileThatCannotBeAskedForIsNamed) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path();
  const auto write = [&](const std::string& name) {
    write_text(path + "/" + name + ".env", "A=1\n");
    write_text(path + "/" + name + ".hostname", "n1\n");
    return [path, name] { read_captured_rank(path, name); };
  };
  const auto read = write("rank0");
  for (const char* file : {"/rank0.facts.json", "/nodefile"}) {
    const std::string link = path + file;
    ASSERT_EQ(::symlink(link.c_str(), link.c_str()), 0);
    expect_error(ErrorCode::unreadable_file, read, link);
    ::unlink(link.c_str());
    EXPECT_NO_THROW(read());
  }
  const std::string long_name(246, 'n');  // long enough for .hostname, too long for .facts.json
  expect_error(ErrorCode::unreadable_file, write(long_name), "facts.json: ");
  EXPECT_THAT(list_capture(path), testing::Contains("rank0"));
}

TEST(CaptureFolder, WhatIsMissingOrDamagedIsNamed) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path();
  const auto read = [&] { read_captured_rank(path, "rank0"); };
  expect_error(ErrorCode::unreadable_file, read, "rank0.hostname");
  write_text(path + "/rank0.hostname", "n1\n");
  expect_error(ErrorCode::unreadable_file, read, "rank0.env");
  write_text(path + "/rank0.env", "A=1\n");
  EXPECT_NO_THROW(read());
  for (const char* facts :
       {"", "{", "[]", "{\"user_id\":\"x\"}", "{\"interfaces\":[{}]}", "{\"interfaces\":7}",
        "{\"routes\":[{}]}",
        "{\"routes\":[{\"destination\":\"::\",\"prefix_length\":129,"
        "\"interface\":\"a\",\"metric\":0}]}",
        "{\"device_count\":2000000000}", "{\"device_count\":-1}", "{\"ancestors\":[7]}",
        "{\"ancestors\":[{\"name\":\"sh\",\"held\":[1],\"is_slurm_task\":true}]}"}) {
    write_text(path + "/rank0.facts.json", facts);
    expect_error(ErrorCode::malformed_file, read, "rank0.facts.json");
  }
}

// Redaction removes nothing that a resolution depends on.
TEST(CaptureFolder, GoldenCasesResolveTheSameWhenRedacted) {
  int checked = 0;
  for (const auto& folder : std::filesystem::directory_iterator(test::golden_environments())) {
    for (const std::string& name : list_capture(folder.path())) {
      const CapturedRank rank = read_captured_rank(folder.path(), name);
      const auto answer = [&](const Env& env) {
        return to_json(resolve(env, rank.facts, rank.options));
      };
      EXPECT_EQ(answer(redact(rank.env)), answer(rank.env)) << folder.path() << " " << name;
      EXPECT_EQ(answer(redact(rank.env, Keep::all_variables)), answer(rank.env));
      ++checked;
    }
  }
  EXPECT_GT(checked, 0);
}

// The text with hosts that begin with `word` instead of `letters`: n1 and n[1-2], but not plan1.
std::string with_hosts_of(const std::string& word, const std::string& letters, std::string text) {
  constexpr std::string_view kInNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.-";
  for (std::size_t at = text.find(letters); at < text.size(); at = text.find(letters, at + 1)) {
    const std::string next = text.substr(at + letters.size(), 1);
    const bool is_inside = at > 0 && (kInNames.find(text[at - 1]) != std::string_view::npos ||
                                      (text[at - 1] >= '0' && text[at - 1] <= '9'));
    if (is_inside || next.find_first_of("0123456789[") == std::string::npos) continue;
    text.replace(at, letters.size(), word);
    at += word.size();
  }
  return text;
}

CapturedRank with_hosts_of(const std::string& word, const std::set<std::string>& letters,
                           CapturedRank rank) {
  std::map<std::string, std::string> variables(rank.env.variables().begin(),
                                               rank.env.variables().end());
  for (const std::string& own : letters) {
    for (auto& [name, value] : variables) value = with_hosts_of(word, own, value);
    if (rank.facts.hostname) rank.facts.hostname = with_hosts_of(word, own, *rank.facts.hostname);
  }
  rank.env = Env(variables);
  return rank;
}

TEST(CaptureFolder, GoldenCasesResolveTheSameWhateverTheirHostsAreCalled) {
  int checked = 0;
  for (const auto& folder : std::filesystem::directory_iterator(test::golden_environments())) {
    const CapturedRank first =
        read_captured_rank(folder.path(), list_capture(folder.path()).front());
    std::set<std::string> letters;  // "n" of n1
    for (const std::string& host : resolve(first.env, first.facts, first.options).hosts) {
      const std::size_t digit = host.find_first_of("0123456789");
      if (digit > 0 && digit < host.size()) letters.insert(host.substr(0, digit));
    }
    if (letters.empty()) continue;
    for (const char* word : {"token-classification-", "auth", "key-", "uni-passau-", "secret",
                             "MII-gpu-", "xai-gpu-of-the-whole-cluster-", "sk-"}) {
      const CapturedRank rank = with_hosts_of(word, letters, first);
      const auto answer = [&](const Env& env) {
        return to_json(resolve(env, rank.facts, rank.options));
      };
      const Env redacted = redact(rank.env, Keep::all_variables);
      EXPECT_EQ(answer(redact(rank.env)), answer(rank.env)) << folder.path() << " with " << word;
      EXPECT_EQ(answer(redacted), answer(rank.env)) << folder.path() << " with " << word;
      for (const auto& [variable, value] : rank.env.variables()) {
        if (is_private_name(variable)) continue;
        EXPECT_EQ(redacted.text(variable).value_or(""), value)
            << variable << " of " << folder.path() << " with " << word;
      }
      ++checked;
    }
  }
  EXPECT_GT(checked, 100);
}

// From real launchers, only declared secrets are removed. If the variables of a new golden case
// fail here, decide whether they are secrets.
TEST(CaptureFolder, GoldenCasesKeepEveryVariable) {
  int checked = 0;
  for (const auto& folder : std::filesystem::directory_iterator(test::golden_environments())) {
    for (const std::string& name : list_capture(folder.path())) {
      const Env env = read_captured_rank(folder.path(), name).env;
      const Env redacted = redact(env, Keep::all_variables);
      for (const auto& [variable, value] : env.variables()) {
        if (is_private_name(variable)) {
          EXPECT_THAT(variable, testing::MatchesRegex(kGoldenSecrets)) << folder.path();
        } else {
          EXPECT_EQ(redacted.text(variable).value_or(""), value)
              << variable << " of " << folder.path() << " " << name;
        }
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 1000);
}

}  // namespace
}  // namespace hpcboot

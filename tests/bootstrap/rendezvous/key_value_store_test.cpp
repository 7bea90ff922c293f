#include "hpcboot/key_value_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <thread>

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

// The other end of PMI_FD: answers each line, in its own thread, until the rank closes it.
class Launcher {
 public:
  using Answer = std::function<std::string(const std::string& line)>;

  explicit Launcher(Answer answer) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("socketpair");
    rank_end_ = ends[0];
    thread_ = std::thread([end = ends[1], answer = std::move(answer)] { serve(end, answer); });
  }
  ~Launcher() {
    close(rank_end_);
    thread_.join();
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  Env env() const {
    return Env(
        Variables{{"PMI_FD", std::to_string(rank_end_)}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}});
  }

 private:
  static void serve(int end, const Answer& answer) {
    std::string received;
    char byte = 0;
    while (read(end, &byte, 1) == 1) {
      received += byte;
      if (byte != '\n') continue;
      const std::string text = answer(received.substr(0, received.size() - 1));
      received.clear();
      if (text == "close") break;
      // One byte at a time: answers may arrive in any pieces.
      for (const char c : text) {
        if (send(end, &c, 1, MSG_NOSIGNAL) != 1) break;
      }
    }
    close(end);
  }

  int rank_end_ = -1;
  std::thread thread_;
};

// The answers of a correct launcher; stores what is put.
class GoodAnswers {
 public:
  std::string operator()(const std::string& line) {
    lines->push_back(line);
    const std::string name = line.substr(0, line.find(' '));
    if (name == "cmd=init") return "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n";
    if (name == "cmd=get_maxes") return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=64\n";
    if (name == "cmd=get_my_kvsname") return "cmd=my_kvsname kvsname=kvs_7_0\n";
    if (name == "cmd=barrier_in") return "cmd=barrier_out rc=0\n";
    if (name == "cmd=finalize") return "cmd=finalize_ack rc=0\n";
    const std::string key = word(line, " key=");
    if (name == "cmd=put") {
      (*values_)[key] = word(line, " value=");
      return "cmd=put_result rc=0 msg=success\n";
    }
    const auto found = values_->find(key);
    if (found == values_->end()) return "cmd=get_result rc=-1 msg=key_" + key + "_not_found\n";
    return "cmd=get_result rc=0 msg=success value=" + found->second + "\n";
  }

  std::shared_ptr<std::vector<std::string>> lines = std::make_shared<std::vector<std::string>>();

 private:
  static std::string word(const std::string& line, const std::string& name) {
    const std::size_t at = line.find(name);
    if (at == std::string::npos) return "";
    const std::string rest = line.substr(at + name.size());
    return rest.substr(0, rest.find(' '));
  }

  std::shared_ptr<std::map<std::string, std::string>> values_ =
      std::make_shared<std::map<std::string, std::string>>();
};

// A correct launcher except for one command.
Launcher::Answer answering(const std::string& command, const std::string& answer) {
  return [good = GoodAnswers(), command, answer](const std::string& line) mutable {
    return line.rfind("cmd=" + command, 0) == 0 ? answer : good(line);
  };
}

Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorCode::malformed_value, "-", "-", "-");
}

TEST(Pmi1Kvs, AnyBytesComeBackWhatTheServerHoldsIsPlain) {
  GoodAnswers answers;
  const auto lines = answers.lines;
  const std::string value = "127.0.0.1 4711;a=b %s\n\xff" + std::string(200, '_');
  {
    Launcher launcher(answers);
    ASSERT_EQ(offered_kvs(launcher.env()), "pmi1");
    const auto kvs = open_kvs(launcher.env());
    EXPECT_EQ(kvs->rank(), 0);
    EXPECT_EQ(kvs->world_size(), 2);
    kvs->put("a key; of=some kind", value);
    kvs->put("empty", "");
    kvs->commit(20s);
    EXPECT_EQ(kvs->get(0, "a key; of=some kind", 20s), value);
    EXPECT_EQ(kvs->get(0, "empty", 20s), "");
  }
  int puts = 0;
  for (const std::string& line : *lines) {
    if (line.rfind("cmd=put ", 0) != 0) continue;
    ++puts;
    const std::string text = line.substr(line.find(" value=") + 7);
    EXPECT_EQ(text.find_first_of(" ;=%"), std::string::npos) << line;
    EXPECT_LE(text.size(), 56U);
  }
  EXPECT_GT(puts, 10);
  EXPECT_EQ(lines->back(), "cmd=finalize");
}

TEST(Pmi1Kvs, TheNamesOfALongKeyFitTheServers) {
  GoodAnswers answers;
  const auto lines = answers.lines;
  Launcher launcher(answers);
  const auto kvs = open_kvs(launcher.env());
  const std::string key(32, 'k');
  kvs->put(key, std::string(7000, 'x'));
  EXPECT_EQ(kvs->get(0, key, 20s), std::string(7000, 'x'));
  EXPECT_THAT(error_of([&] { kvs->put(key + "k", ""); }).found(), HasSubstr("has 33 bytes"));
  EXPECT_THAT(error_of([&] { kvs->get(0, "", 20s); }).found(), HasSubstr("has 0 bytes"));
  for (const std::string& line : *lines) {
    const std::size_t at = line.find(" key=");
    if (at == std::string::npos) continue;
    const std::string name = line.substr(at + 5, line.find(' ', at + 5) - at - 5);
    // The rank may have nine digits more, and the part two.
    EXPECT_LT(name.size() + 9 + 2, 64U) << name;
  }
}

TEST(Pmi1Kvs, TheLongestDeadlineIsAwaitedAndANegativeOneIsOver) {
  constexpr auto kLongest = std::chrono::milliseconds::max();
  Launcher launcher([good = GoodAnswers()](const std::string& line) mutable {
    std::this_thread::sleep_for(5ms);
    return good(line);
  });
  const auto kvs = open_kvs(launcher.env(), kLongest);
  kvs->put("key", "value");
  kvs->commit(kLongest);
  EXPECT_EQ(kvs->get(0, "key", kLongest), "value");
  kvs->fence(kLongest);
  EXPECT_EQ(error_of([&] { kvs->fence(std::chrono::milliseconds::min()); }).code(),
            ErrorCode::deadline_exceeded);
}

TEST(Pmi1Kvs, HandedOverItIsNotFinalized) {
  GoodAnswers answers;
  const auto lines = answers.lines;
  {
    Launcher launcher(answers);
    open_kvs(launcher.env())->hand_over();
  }
  EXPECT_EQ(lines->back(), "cmd=get_my_kvsname");
}

TEST(Pmi1Kvs, AKeyThatIsNotThereNamesItsRank) {
  Launcher launcher{GoodAnswers()};
  const auto kvs = open_kvs(launcher.env());
  const Error error = error_of([&] { kvs->get(1, "endpoint", 20s); });
  EXPECT_EQ(error.code(), ErrorCode::exchange_failed);
  EXPECT_THAT(error.found(), HasSubstr("'endpoint' from rank 1"));
}

TEST(Pmi1Kvs, AValueWithoutEndIsDamaged) {
  for (const char* count : {"999999999999", "-1", "x"}) {
    Launcher launcher(answering("get ", "cmd=get_result rc=0 value=" + std::string(count) + "\n"));
    const auto kvs = open_kvs(launcher.env());
    const Error error = error_of([&] { kvs->get(1, "endpoint", 20s); });
    EXPECT_EQ(error.code(), ErrorCode::exchange_failed);
    EXPECT_THAT(error.found(), HasSubstr("arrived damaged"));
  }
  // A million parts of 60 kB.
  Launcher launcher([good = GoodAnswers(), first = true](const std::string& line) mutable {
    if (line.rfind("cmd=get ", 0) != 0) return good(line);
    const std::string value = first ? "1000000" : std::string(60000, 'x');
    first = false;
    return "cmd=get_result rc=0 value=" + value + "\n";
  });
  const auto kvs = open_kvs(launcher.env());
  EXPECT_THAT(error_of([&] { kvs->get(1, "endpoint", 20s); }).found(),
              HasSubstr("arrived damaged"));
  EXPECT_THROW(kvs->put("long", std::string((1U << 20U) + 1, 'x')), Error);
}

// It may be most of a secret.
TEST(Pmi1Kvs, ADamagedValueIsNotQuoted) {
  Launcher launcher([good = GoodAnswers(), first = true](const std::string& line) mutable {
    if (line.rfind("cmd=get ", 0) != 0) return good(line);
    const std::string value = first ? "1" : "0123456789abcdef_";
    first = false;
    return "cmd=get_result rc=0 value=" + value + "\n";
  });
  const auto kvs = open_kvs(launcher.env());
  const Error error = error_of([&] { kvs->get(1, "endpoint", 20s); });
  EXPECT_THAT(error.found(), HasSubstr("arrived damaged: 17 bytes"));
  EXPECT_THAT(std::string(error.what()), testing::Not(HasSubstr("0123")));
}

TEST(Pmi1Kvs, TheNodeMapIsTheServersProcessMapping) {
  const auto map_of = [](const std::string& answer) {
    Launcher launcher(answering("get kvsname=kvs_7_0 key=PMI_process_mapping", answer));
    return open_kvs(launcher.env())->node_map(20s);
  };
  using Nodes = std::vector<int>;
  EXPECT_EQ(map_of("cmd=get_result rc=0 value=(vector,(0,2,1))\n"), (Nodes{0, 1}));
  EXPECT_EQ(map_of("cmd=get_result rc=0 value=(vector,(7,1,2))\n"), (Nodes{7, 7}));
  EXPECT_EQ(map_of("cmd=get_result rc=-1 msg=key_not_found\n"), Nodes{});
  EXPECT_EQ(map_of("cmd=get_result rc=0 value=\n"), Nodes{});
  EXPECT_EQ(error_of([&] { map_of("cmd=get_result rc=0 value=(vector,(0,\n"); }).code(),
            ErrorCode::malformed_value);
}

TEST(Pmi1Kvs, WhatIsNoAnswerIsAnError) {
  for (const auto& [command, answer, part] : std::vector<std::array<std::string, 3>>{
           {"init", "close", "closed the connection"},
           {"init", "cmd=response_to_init rc=-1 msg=version\n", "rc=-1 version"},
           {"init", "cmd=fullinit-response;rc=0;\n", "is not an answer"},
           {"init", "HTTP/1.1 400 Bad Request\n", "is not an answer"},
           {"init", std::string(200000, 'x'), "unterminated answer"},
           {"get_maxes", "cmd=maxes kvsname_max=256\n", "without vallen_max"},
           {"get_maxes", "cmd=maxes vallen_max=-1\n", "vallen_max=-1"},
           {"get_my_kvsname", "cmd=my_kvsname\n", "without kvsname"},
           {"barrier_in", "close", "closed the connection"},
           {"get ", "cmd=get_result rc=0 msg=success\n", "without value"},
           {"get ", "cmd=get_result rc=0 value=_zz\n", "damaged"},
           {"get ", "cmd=get_result rc=0 value=-1\n", "damaged"},
           {"put ", "cmd=put_result rc=-1 msg=full\n", "rc=-1 full"}}) {
    SCOPED_TRACE(command + answer.substr(0, 50));
    Launcher launcher(answering(command, answer));
    const Error error = error_of([&] {
      const auto kvs = open_kvs(launcher.env(), 20s);
      kvs->put("k", "v");
      kvs->commit(20s);
      kvs->get(0, "k", 20s);
    });
    EXPECT_EQ(error.code(), ErrorCode::exchange_failed);
    EXPECT_THAT(error.found(), HasSubstr(part));
  }
}

// Hydra closes the connection after the first use; Flux may answer again.
TEST(Pmi1Kvs, AfterItsUseTheErrorNamesTheCause) {
  Launcher launcher(answering("finalize", "close"));
  open_kvs(launcher.env());
  for (int again = 0; again < 2; ++again) {
    const Error error = error_of([&] { open_kvs(launcher.env(), 20s); });
    EXPECT_EQ(error.code(), ErrorCode::exchange_failed);
    EXPECT_THAT(error.found(), HasSubstr("once a program of this rank has used it"));
  }
}

TEST(Pmi1Kvs, TheDeadlineHoldsAndTheConnectionIsLeft) {
  Launcher launcher(answering("barrier_in", ""));
  const auto kvs = open_kvs(launcher.env());
  const auto begin = std::chrono::steady_clock::now();
  const Error error = error_of([&] { kvs->commit(200ms); });
  EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  // A late answer would be taken for the answer to the next request.
  EXPECT_EQ(error_of([&] { kvs->fence(20s); }).code(), ErrorCode::exchange_failed);
}

TEST(OfferedKvs, IsThatOfTheInnermostLauncher) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const std::string fd = std::to_string(ends[0]);
  const std::string self = std::to_string(getpid());
  const Variables srun_pmi2 = {
      {"PMI_FD", fd}, {"SLURM_MPI_TYPE", "pmi2"}, {"SLURM_TASK_PID", self}};
  const auto with = [](Variables base, const Variables& more) {
    for (const auto& [name, value] : more) base[name] = value;
    return Env(std::move(base));
  };
  EXPECT_EQ(offered_kvs(Env()), "");
  EXPECT_EQ(offered_kvs(Env(Variables{{"PMI_FD", fd}})), "pmi1");
  EXPECT_EQ(offered_kvs(Env(Variables{{"PMI_FD", "999999"}})), "");
  EXPECT_EQ(offered_kvs(Env(Variables{{"PMI_FD", "-1"}})), "");
  EXPECT_EQ(offered_kvs(Env(Variables{{"PMI_FD", "1x"}})), "");
  EXPECT_EQ(offered_kvs(Env(Variables{{"PMIX_NAMESPACE", "7"}, {"PMIX_RANK", "0"}})), "pmix");
  EXPECT_EQ(offered_kvs(with(srun_pmi2, {})), "pmi2");
  // srun --mpi=pmi2 started by a rank of Hydra, and Hydra's proxies started by srun.
  EXPECT_EQ(offered_kvs(with(srun_pmi2, {{"MPI_LOCALRANKID", "0"}})), "pmi2");
  EXPECT_EQ(offered_kvs(with(srun_pmi2, {{"MPI_LOCALRANKID", "0"}, {"SLURM_TASK_PID", "1"}})),
            "pmi1");
  EXPECT_EQ(offered_kvs(Env(Variables{{"PMIX_NAMESPACE", "slurm.pmix.7.0"},
                                      {"PMIX_RANK", "0"},
                                      {"PMI_FD", fd},
                                      {"MPI_LOCALRANKID", "0"}})),
            "pmi1");
  EXPECT_EQ(offered_kvs(Env(Variables{{"HPCBOOT_EXCHANGE_DIR", "/x"}})), "file");
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace hpcboot

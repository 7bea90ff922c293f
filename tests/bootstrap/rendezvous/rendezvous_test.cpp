#include "rendezvous/store/rendezvous.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "a_rank.hpp"
#include "rendezvous/launch_identity.hpp"
#include "rendezvous/store/meet_by_openmpi.hpp"
#include "rendezvous/store/store_kvs.hpp"
#include "support/expect_error.hpp"
#include "support/free_port.hpp"

namespace hpcboot::rendezvous {
namespace {

using namespace std::chrono_literals;

// A file of mode 0600 with a secret.
class Launch : public testing::Test {
 protected:
  Launch() : path_("/tmp/hpcboot-meeting-test-" + std::to_string(getpid())) {
    std::ofstream(path_) << "the secret of this launch";
    chmod(path_.c_str(), 0600);
  }
  ~Launch() override { unlink(path_.c_str()); }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  Env env() const {
    return Env(std::map<std::string, std::string>{{"HPCBOOT_RENDEZVOUS_SECRET_FILE", path_}});
  }

  // Lets all ranks meet, each in its own thread.
  std::vector<Rendezvous> meet_all(const std::function<Resolution(int)>& rank_of, int world_size,
                                   const Env& env) const {
    std::vector<Rendezvous> meetings(static_cast<std::size_t>(world_size));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world_size; ++rank) {
      threads.emplace_back([&, rank] {
        meetings[static_cast<std::size_t>(rank)] =
            meet(rank_of(rank), env, nullptr, Purpose::training, 10s);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return meetings;
  }

  std::string path_;
};

TEST_F(Launch, ranks_of_several_hosts_meet_at_a_port_of_the_launch) {
  const auto meetings = meet_all([](int rank) { return a_rank(rank, 3); }, 3, env());
  const int port = meetings[0].server->place().port;
  EXPECT_GE(port, 20000);
  EXPECT_LE(port, 32767);
  EXPECT_NE(port, 29500);
  for (const Rendezvous& meeting : meetings) {
    EXPECT_EQ(meeting.client->place().port, port);
    EXPECT_EQ(meeting.description, "store at 127.0.0.1:" + std::to_string(port) +
                                       ", authenticated by HPCBOOT_RENDEZVOUS_SECRET_FILE");
    EXPECT_EQ(meeting.warning, "");
  }
  EXPECT_EQ(meetings[2].client->add("n", 1), 1);
  EXPECT_EQ(meetings[0].client->add("n", 1), 2);
}

// For example another user who listens at the first of the ports and does not answer.
TEST_F(Launch, a_port_that_somebody_else_has_is_passed_over) {
  Place first = meet_all([](int rank) { return a_rank(rank, 2); }, 2, env())[0].server->place();
  const Socket stranger = listen_at(first);
  ASSERT_TRUE(stranger.is_open());
  const auto meetings = meet_all([](int rank) { return a_rank(rank, 2); }, 2, env());
  EXPECT_NE(meetings[1].client->place().port, first.port);
  EXPECT_EQ(meetings[1].client->add("n", 1), 1);
}

TEST_F(Launch, two_launches_of_a_user_do_not_meet) {
  const auto one = meet_all([](int rank) { return a_rank(rank, 2); }, 2, env());
  const auto other = meet_all(
      [](int rank) {
        Resolution r = a_rank(rank, 2);
        r.launch_id = "1";
        return r;
      },
      2, env());
  one[0].client->set("k", "one");
  EXPECT_FALSE(other[1].client->check({"k"}));
}

// The two launches are indistinguishable: their ranks would find each other's store.
TEST_F(Launch, a_second_launch_that_looks_the_same_is_refused) {
  const Rendezvous first = meet(a_rank(0, 2), env(), nullptr, Purpose::training, 5s);
  test::expect_error(
      ErrorCode::exchange_failed,
      [&] { meet(a_rank(0, 2), env(), nullptr, Purpose::training, 300ms); },
      "another launch of this user", "one launch at a time", "HPCBOOT_MASTER_PORT");
  // An earlier run that is ending goes away.
  std::thread last([meeting = meet(a_rank(0, 1), env(), nullptr, Purpose::training, 5s)]() mutable {
    std::this_thread::sleep_for(200ms);
    meeting.server.reset();
  });
  const Rendezvous next = meet(a_rank(0, 1), env(), nullptr, Purpose::training, 5s);
  EXPECT_EQ(next.client->add("n", 1), 1);
  last.join();
  // A check before it has another identity.
  EXPECT_EQ(meet(a_rank(0, 2), env(), nullptr, Purpose::check, 5s).client->count(), 0);
}

TEST_F(Launch, a_named_port_is_the_place) {
  const int port = testing_support::free_port();
  const auto explicit_rank = [port](int rank) {
    Resolution r = a_rank(rank, 2);
    r.master_port = port;
    r.endpoint_is_explicit = true;
    return r;
  };
  EXPECT_EQ(meet_all(explicit_rank, 2, env())[1].client->place().port, port);
  // torchrun's agent uses that port itself.
  const auto under_agent = [&](int rank) {
    Resolution r = explicit_rank(rank);
    r.agent_store = true;
    return r;
  };
  EXPECT_NE(meet_all(under_agent, 2, env())[1].client->place().port, port);
}

TEST_F(Launch, rank_0_is_told_that_there_is_no_secret) {
  const auto meetings = meet_all([](int rank) { return a_rank(rank, 2); }, 2, Env());
  const bool is_proved = meetings[0].client->secret_kind() != SecretKind::none;
  EXPECT_EQ(meetings[0].warning.empty(), is_proved);
  EXPECT_EQ(meetings[1].warning, "");
}

TEST_F(Launch, a_rank_without_the_secret_says_what_it_lacks) {
  const Rendezvous served = meet(a_rank(0, 2), env(), nullptr, Purpose::training, 5s);
  test::expect_error(
      ErrorCode::deadline_exceeded,
      [&] { meet(a_rank(1, 2), Env(), nullptr, Purpose::training, 300ms); },
      "HPCBOOT_RENDEZVOUS_SECRET_FILE is set on rank 0, but not on this rank", "rank 0",
      "firewall");
}

TEST_F(Launch, nothing_that_says_where_is_an_error) {
  Resolution r = a_rank(1, 2);
  r.master_addr.reset();
  test::expect_error(
      ErrorCode::needs_exchange, [&] { meet(r, env(), nullptr, Purpose::training, 1s); },
      "have no way to find each other", "exchange", "HPCBOOT_MASTER_ADDR");
}

TEST_F(Launch, an_exchange_is_needed_by_several_ranks_without_an_endpoint) {
  const std::string below_a_file = path_ + "/x";  // where even root can make no folder
  const Env env(std::map<std::string, std::string>{{"HPCBOOT_EXCHANGE_DIR", below_a_file}});
  EXPECT_TRUE(needs_kvs(a_rank(0, 3), env));
  EXPECT_FALSE(needs_kvs(a_rank(0, 3), Env()));
  EXPECT_FALSE(needs_kvs(a_rank(0, 1), env));
  Resolution r = a_rank(0, 3);
  r.endpoint_is_explicit = true;
  EXPECT_FALSE(needs_kvs(r, env));
  // An exchange that is not needed is not opened, which would be an error here.
  EXPECT_EQ(open_kvs_for(r, env, 1s), nullptr);
  test::expect_error(
      ErrorCode::exchange_failed, [&] { open_kvs_for(a_rank(0, 3), env, 1s); }, below_a_file);
}

// mpirun over ssh passes an exported MASTER_ADDR only to the ranks of its own host.
TEST(Exchange, is_needed_if_another_rank_may_have_another_endpoint) {
  const Env env(
      std::map<std::string, std::string>{{"PMIX_NAMESPACE", "a-launch"}, {"PMIX_RANK", "0"}});
  Resolution r = a_rank(0, 3);
  r.launcher = "openmpi";
  r.endpoint_is_explicit = true;
  r.provenance["master_addr"] = {"environment", "MASTER_ADDR"};
  EXPECT_TRUE(needs_kvs(r, env));
  r.provenance["master_addr"].source = "explicit";
  EXPECT_FALSE(needs_kvs(r, env));
  EXPECT_FALSE(endpoint_may_differ(r, env));
  r.endpoint_is_explicit = false;
  EXPECT_TRUE(endpoint_may_differ(r, env)) << "of HPCBOOT_MASTER_ADDR alone";
}

TEST_F(Launch, a_store_serves_as_an_exchange) {
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto kvs =
          kvs_over(meet(a_rank(rank, 3), env(), nullptr, Purpose::training, 10s), rank, 3);
      kvs->put("k", "of " + std::to_string(rank));
      for (const auto& [key, size] :
           {std::pair{"", 0}, {"a/key/with/too/many/slashes", 0}, {"long", 1048577}}) {
        test::expect_error(
            ErrorCode::exchange_failed,
            [&, key = key, size = size] {
              kvs->put(key, std::string(static_cast<std::size_t>(size), 'x'));
            },
            "for the exchange has");
      }
      kvs->commit(5s);
      for (int other = 0; other < 3; ++other)
        EXPECT_EQ(kvs->get(other, "k", 5s), "of " + std::to_string(other));
      kvs->fence(5s);
      kvs->fence(5s);
      test::expect_error(
          ErrorCode::deadline_exceeded, [&] { kvs->get(1, "none", 10ms); }, "no 'none' from rank 1",
          "every rank", "output");
      kvs->fence(5s);
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

// In the format of Open MPI 4; the first ones are from real launches.
TEST(OpenMpi, names_its_hosts) {
  const auto hosts = [](const char* regex) {
    return openmpi_hosts(regex).value_or(std::vector<std::string>{"none"});
  };
  using Hosts = std::vector<std::string>;
  EXPECT_EQ(hosts("n[1:1-2]@0(2)"), (Hosts{"n1", "n2"}));
  EXPECT_EQ(hosts("n[1:0,2,1]@0(3)"), (Hosts{"n0", "n2", "n1"}));
  EXPECT_EQ(hosts("node[3:7,9-11],login@0(5)"),
            (Hosts{"node007", "node009", "node010", "node011", "login"}));
  EXPECT_EQ(hosts("login,n[2:1].cluster,10.0.0.1@0(3)"),
            (Hosts{"login", "n01.cluster", "10.0.0.1"}));
  for (const char* wrong :
       {"", "@0(2)", "n[1:1-2", "n[1-2]@0(2)", "n[x:1]", "n[1:2-1]", "n[1:a]", "n[99:1]",
        "n[1:1-99999999]", "n[1:9223372036854775807]", "n]1[", "a,,b"})
    EXPECT_EQ(hosts(wrong), Hosts{"none"}) << wrong;
  EXPECT_LE(hosts("n[4:1-1000],m[4:1-1000]@0(2000)").size(), 1024U);
}

class UnderOpenMpi : public testing::Test {
 protected:
  static Env rank(int rank, const char* random = "931cc8a29557b0a1-a7a6ba7a0b32abbd") {
    const std::string number = std::to_string(rank);
    return Env(std::map<std::string, std::string>{
        {"OMPI_COMM_WORLD_RANK", number},
        {"OMPI_COMM_WORLD_SIZE", "2"},
        {"PMIX_RANK", number},
        {"PMIX_NAMESPACE", "meeting-test-" + std::to_string(getpid())},
        {"OMPI_MCA_orte_precondition_transports", random},
        {"OMPI_MCA_orte_hnp_uri", "425656320.0;tcp://127.0.0.1,127.0.0.2:45289"}});
  }
};

TEST_F(UnderOpenMpi, ranks_meet_without_their_server) {
  EXPECT_TRUE(can_meet_by_openmpi(rank(0)));
  Rendezvous first = meet_by_openmpi(rank(0), {}, 5s);
  const Rendezvous second = meet_by_openmpi(rank(1), {}, 5s);
  second.client->set("k", "v");
  EXPECT_TRUE(first.client->check({"k"}));
  EXPECT_EQ(second.description.find("931cc8a2"), std::string::npos);
  test::expect_error(
      ErrorCode::deadline_exceeded,
      [] { meet_by_openmpi(rank(1, "931cc8a29557b0a1-0000000000000000"), {}, 200ms); },
      "has another secret", "rank 0", "firewall");
  // The hosts of the allocation are tried, too.
  test::expect_error(
      ErrorCode::deadline_exceeded,
      [] { meet_by_openmpi(rank(1, "931cc8a29557b0a1-0000000000000000"), {"n1.invalid"}, 200ms); },
      "n1.invalid");
}

TEST_F(UnderOpenMpi, what_is_no_rank_of_it_does_not) {
  EXPECT_FALSE(can_meet_by_openmpi(Env()));
  EXPECT_FALSE(can_meet_by_openmpi(rank(0, "of a user")));
  EXPECT_FALSE(can_meet_by_openmpi(rank(0, "")));
}

TEST(LaunchIdentity, is_of_what_all_ranks_know) {
  Resolution r = a_rank(1, 2);
  const std::string plain = launch_identity(r, Env());
  r.placement.rank = 0;
  EXPECT_EQ(launch_identity(r, Env()), plain);
  r.launch_id = "1";
  EXPECT_NE(launch_identity(r, Env()), plain);
  // mpirun over ssh passes the job's variables to the first host only.
  r.launcher = "openmpi";
  const std::string by_mpirun = launch_identity(r, Env());
  r.job_instance.clear();
  EXPECT_EQ(launch_identity(r, Env()), by_mpirun);
  // An agent may be started in the same way, and its run id is often "none".
  r.launcher = "torchrun";
  r.launch_id = "none";
  r.endpoint_is_explicit = true;
  r.agent_store = true;
  const std::string by_torchrun = launch_identity(r, Env());
  r.job_instance = "job 7";
  r.master_addr = "another name of that host";
  EXPECT_EQ(launch_identity(r, Env()), by_torchrun);
  const std::map<std::string, std::string> restarted = {{"TORCHELASTIC_RESTART_COUNT", "1"}};
  EXPECT_NE(launch_identity(r, Env(restarted)), by_torchrun);
  r.master_port = 29501;
  EXPECT_NE(launch_identity(r, Env()), by_torchrun);
}

}  // namespace
}  // namespace hpcboot::rendezvous

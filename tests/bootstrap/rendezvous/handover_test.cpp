#include "rendezvous/handover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "hpcboot/export.hpp"
#include "hpcboot/redact.hpp"
#include "hpcboot/sanitize.hpp"
#include "rendezvous/launch_identity.hpp"
#include "rendezvous/store/fresh_handover.hpp"
#include "rendezvous/store/rendezvous.hpp"
#include "support/expect_error.hpp"

namespace hpcboot::rendezvous {
namespace {

using namespace std::chrono_literals;
using test::expect_error;
using testing::Contains;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

// The environment of a rank as set by its parent: the handover of `run`, marked.
Env marked(const Variables& variables) {
  return with_marked_handover(Env(variables));
}

Variables two_ranks() {
  return fresh_handover(2, {"127.0.0.1"}).variables();
}

Resolution a_rank(int rank) {
  Resolution r;
  r.placement = {rank, 2, 0, 1, rank, 2};  // on two hosts, as far as they know
  r.launcher = "openmpi";
  return r;
}

TEST(Handover, is_read_as_it_was_written) {
  const Handover written = fresh_handover(3, {"n1", "fd00::1"});
  const auto read = handover_in(Env(written.variables()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->launch_id, written.launch_id);
  EXPECT_EQ(read->world_size, 3);
  EXPECT_EQ(read->secret, written.secret);
  EXPECT_EQ(read->hosts, written.hosts);
  EXPECT_FALSE(handover_in(Env()));
}

TEST(Handover, no_two_are_alike) {
  const Handover one = fresh_handover(2, {"n1"});
  const Handover other = fresh_handover(2, {"n1"});
  EXPECT_NE(one.launch_id, other.launch_id);
  EXPECT_NE(one.secret, other.secret);
  EXPECT_EQ(one.secret.size(), 64U);
}

TEST(Handover, that_is_there_in_part_is_an_error_that_shows_no_secret) {
  for (const char* name : {"HPCBOOT_RUN_SIZE", "HPCBOOT_RUN_SECRET", "HPCBOOT_RUN_HOSTS"}) {
    Variables variables = two_ranks();
    variables.erase(name);
    expect_error(
        ErrorCode::missing_variable, [&] { handover_in(Env(variables)); }, name);
  }
  Variables variables = two_ranks();
  variables["HPCBOOT_RUN_SECRET"] = "0123456789abcdefg";
  try {
    handover_in(Env(variables));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::malformed_value);
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("0123456789")));
  }
}

TEST(Handover, counts_for_the_launch_alone_that_it_was_marked_for) {
  const Variables variables = two_ranks();
  EXPECT_FALSE(handover_for(Env(variables), 2)) << "unmarked";
  EXPECT_FALSE(with_marked_handover(Env()).has("HPCBOOT_EXPORTED"));
  const Env rank = marked(variables);
  EXPECT_TRUE(handover_for(rank, 2));
  EXPECT_FALSE(handover_for(rank, 4)) << "of another size";
  // An mpirun of two ranks, started by this rank.
  Variables inner(rank.variables().begin(), rank.variables().end());
  inner["OMPI_COMM_WORLD_RANK"] = "0";
  inner["OMPI_COMM_WORLD_SIZE"] = "2";
  inner["PMIX_NAMESPACE"] = "prterun-n1-77@1";
  EXPECT_FALSE(handover_for(Env(inner), 2));
}

TEST(Handover, outlives_an_exec_inside_of_the_rank) {
  Resolution r = a_rank(1);
  r.launcher = "explicit";
  r.master_addr = "n1";
  r.master_port = 20001;
  const Env rank = marked(two_ranks());
  Variables inner(rank.variables().begin(), rank.variables().end());
  for (const auto& [name, value] : torch_env(r, rank)) inner[name] = value;
  EXPECT_TRUE(handover_for(Env(inner), 2));
}

TEST(Handover, is_neither_shown_nor_handed_to_the_next_launch) {
  const Env rank = marked(two_ranks());
  const std::vector<std::string> unset = variables_to_unset(rank, Inherit::allocation);
  for (const auto& [name, value] : rank.variables()) EXPECT_THAT(unset, Contains(name));
  const std::string secret(*rank.text("HPCBOOT_RUN_SECRET"));
  for (const Keep keep : {Keep::launch_variables, Keep::all_variables})
    EXPECT_THAT(redact(rank, keep).dump(), testing::Not(HasSubstr(secret)));
  EXPECT_THAT(launch_identity(a_rank(0), rank), testing::Not(HasSubstr(secret)));
}

TEST(Handover, lets_ranks_of_several_hosts_meet_without_the_launchers_server) {
  Variables variables = two_ranks();
  variables["PMIX_NAMESPACE"] = "nobody-answers@1";
  variables["PMIX_RANK"] = "0";
  variables["PMIX_SERVER_URI2"] = "nobody";
  const Env env = marked(variables);
  EXPECT_FALSE(needs_kvs(a_rank(0), env));
  EXPECT_EQ(open_served_kvs(a_rank(0), env, 1s), nullptr);
  Rendezvous first;
  std::thread rank0([&] { first = meet(a_rank(0), env, nullptr, Purpose::training, 10s); });
  const Rendezvous second = meet(a_rank(1), env, nullptr, Purpose::training, 10s);
  rank0.join();
  ASSERT_TRUE(first.server);
  EXPECT_EQ(first.server->place().address, "127.0.0.1");
  EXPECT_EQ(second.client->place().port, first.server->place().port);
  EXPECT_EQ(second.client->secret_kind(), SecretKind::run);
  EXPECT_THAT(second.description,
              HasSubstr("authenticated by a secret that hpcboot run handed over"));
}

TEST(Handover, rank_0_may_be_on_any_of_several_hosts) {
  const Env env = marked(fresh_handover(2, {"192.0.2.1", "127.0.0.1"}).variables());
  Rendezvous first;
  std::thread rank0([&] { first = meet(a_rank(0), env, nullptr, Purpose::check, 20s); });
  const Rendezvous second = meet(a_rank(1), env, nullptr, Purpose::check, 20s);
  rank0.join();
  EXPECT_EQ(second.client->place().address, "127.0.0.1");
}

TEST(Handover, another_secret_does_not_get_in) {
  Variables variables = two_ranks();
  const Env env = marked(variables);
  std::thread rank0([&] {
    expect_error(ErrorCode::deadline_exceeded, [&] {
      const Rendezvous meeting = meet(a_rank(0), env, nullptr, Purpose::training, 2s);
      std::vector<std::string> values;
      std::vector<std::string> missing;
      if (!meeting.client->get({"from rank 1"}, Clock::now() + 1s, values, missing))
        throw Error(ErrorCode::deadline_exceeded, "rank 1 did not arrive", "rank 1", "none");
    });
  });
  variables["HPCBOOT_RUN_SECRET"] = std::string(64, '0');
  const Env other = marked(variables);
  expect_error(ErrorCode::deadline_exceeded,
               [&] { meet(a_rank(1), other, nullptr, Purpose::training, 2s); });
  rank0.join();
}

// MASTER_PORT belongs to the program, and two processes on one host need no port.
TEST(Handover, ranks_of_one_host_meet_by_a_unix_socket_whatever_endpoint_the_program_has) {
  const Env env = marked(two_ranks());
  Resolution r = a_rank(0);
  r.placement = {0, 2, 0, 2, 0, 1};
  r.endpoint_is_explicit = true;
  EXPECT_TRUE(meets_on_one_host(r, env));
  EXPECT_FALSE(meets_on_one_host(r, Env()));
}

}  // namespace
}  // namespace hpcboot::rendezvous

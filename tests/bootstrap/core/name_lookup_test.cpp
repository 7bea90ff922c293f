#include "core/name_lookup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "support/pretended_name_server.hpp"

namespace hpcboot {
namespace {

using std::chrono::milliseconds;
using test::PretendedNameServer;
using Answers = PretendedNameServer::Answers;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NameLookup, AnAddressNeedsNoNameServer) {
  const PretendedNameServer server(Answers::never_and_awaited);
  for (const char* address : {"192.0.2.7", "::1"}) {
    EXPECT_THAT(look_up_address(address, 0)->addresses(), ElementsAre(address));
    EXPECT_THAT(look_up_name(address, 0, milliseconds(0))->addresses(), ElementsAre(address));
  }
  const auto lookup = look_up_address("192.0.2.7", 29500);
  ASSERT_NE(lookup->list, nullptr);
  EXPECT_EQ(reinterpret_cast<const sockaddr_in*>(lookup->list->ai_addr)->sin_port, htons(29500));
  EXPECT_NE(look_up_address("n1", 0)->error, 0);
}

TEST(NameLookup, AnAnswerMayBeThatThereIsNoSuchName) {
  const PretendedNameServer server(Answers::no_such_name);
  const auto lookup = look_up_name("n1", 0, kLongestLookup);
  EXPECT_TRUE(lookup->is_answered());
  EXPECT_EQ(lookup->error, EAI_NONAME);
  EXPECT_THAT(lookup->addresses(), IsEmpty());
}

TEST(NameLookup, ASilentNameServerIsNotAwaited) {
  const PretendedNameServer server(Answers::never_and_awaited);
  const auto lookup = look_up_name("n1", 0, milliseconds(10));
  EXPECT_FALSE(lookup->is_answered());
  EXPECT_THAT(lookup->addresses(), IsEmpty());
}

}  // namespace
}  // namespace hpcboot

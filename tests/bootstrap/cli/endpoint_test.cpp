#include <gtest/gtest.h>

#include <map>

#include "cli/rendezvous.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot::tool {
namespace {

using namespace std::chrono_literals;

// Rank 1's view of a rank 0 on another host, which has published this endpoint.
class Told : public KeyValueStore {
 public:
  explicit Told(std::string endpoint) : endpoint_(std::move(endpoint)) {}

  void put(const std::string&, const std::string&) override {}
  void commit(std::chrono::milliseconds) override {}
  std::string get(int rank, const std::string& key, std::chrono::milliseconds) override {
    if (key == "endpoint") return endpoint_;
    return rank == 0 ? "n1 10.0.0.1" : "n2 10.0.0.2";
  }
  void fence(std::chrono::milliseconds) override {}
  int rank() const override { return 1; }
  int world_size() const override { return 2; }
  std::string description() const override { return "told: test"; }

 private:
  std::string endpoint_;
};

Resolution resolve_told(const std::string& endpoint) {
  const Env env(std::map<std::string, std::string>{
      {"HPCBOOT_RANK", "1"}, {"HPCBOOT_WORLD_SIZE", "2"}, {"HPCBOOT_LOCAL_RANK", "0"}});
  Facts facts;
  facts.hostname = "n2";
  Told kvs(endpoint);
  return resolve_together(env, facts, kvs, 1s).resolution;
}

TEST(ResolveTogether, takes_rank_0s_endpoint) {
  for (const auto& [text, address] : std::map<std::string, std::string>{
           {"29500 n1", "n1"}, {"29500 10.0.0.1", "10.0.0.1"}, {"29500 fd00::1", "fd00::1"}}) {
    const Resolution r = resolve_told(text);
    EXPECT_EQ(r.master_addr, address);
    EXPECT_EQ(r.master_port, 29500);
  }
}

TEST(ResolveTogether, takes_nothing_else_for_an_endpoint) {
  const std::string with_nul = std::string("29500 a") + '\0' + "b";
  for (const std::string& text :
       {std::string(), std::string("29500"), std::string("29500 "), std::string("n1 29500"),
        std::string("0 n1"), std::string("65536 n1"), std::string("29500 n1:4000"),
        std::string("29500 n1\nLD_PRELOAD=x"), std::string("29500 \x1b[2J"), with_nul}) {
    try {
      ADD_FAILURE() << text << " gave " << resolve_told(text).master_addr.value_or("nothing");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::exchange_failed) << text;
    }
  }
}

}  // namespace
}  // namespace hpcboot::tool

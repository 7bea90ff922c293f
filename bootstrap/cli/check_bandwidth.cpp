#include "check_bandwidth.hpp"

#include <algorithm>
#include <memory>

#include "core/time_left.hpp"
#include "hpcboot/error.hpp"
#include "json/json_reader.hpp"
#include "link_speed.hpp"

// Rank 0 publishes the plan, the pairs in their order. Each rank of the plan publishes where it
// listens, and its token. The first rank of a pair measures once the pair before is done, and
// publishes the result.
namespace hpcboot::tool {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr const char* kPlan = "bandwidth/plan";
constexpr milliseconds kLook{200};
constexpr std::chrono::seconds kLongest{10};  // for one link

std::string end_key(int rank) {
  return "bandwidth/end/" + std::to_string(rank);
}

std::string result_key(std::size_t pair) {
  return "bandwidth/result/" + std::to_string(pair);
}

std::string get(rendezvous::Client& client, const std::string& key, Deadline end) {
  std::vector<std::string> values;
  std::vector<std::string> missing;
  if (client.get({key}, end, values, missing)) return values.front();
  throw Error(ErrorCode::deadline_exceeded, "the links were not measured in time",
              "all ranks to take part in check --bandwidth", "give it more time with --timeout");
}

// A link takes half a second, if all is well.
Deadline end_of(const Json& pairs, std::chrono::seconds patience) {
  return Clock::now() + patience + std::chrono::seconds(pairs.size());
}

// Ranks of one host use loopback, as their training does.
std::string address_of(const RankReport& report, bool is_one_host) {
  return is_one_host ? "127.0.0.1" : report.resolution.interface_address.value_or("127.0.0.1");
}

// @return bytes per second, or why not
Json measure_pair(rendezvous::Client& client, int peer, Deadline end) {
  try {
    const Json at = parse_json(get(client, end_key(peer), end));
    const rendezvous::Place place{at.at("address").get<std::string>(), at.at("port").get<int>()};
    return {{"bytes_per_second", measure_link(place, at.at("token").get<std::string>(),
                                              std::min(end, Clock::now() + kLongest))}};
  } catch (const Error& problem) {
    return {{"problem", problem.found()}};
  } catch (const std::exception& problem) {
    return {{"problem", problem.what()}};
  }
}

// Takes part in the pairs of the plan that this rank is in.
void follow_plan(rendezvous::Client& client, int rank, const std::string& address, const Json& plan,
                 Deadline end) {
  std::unique_ptr<LinkEnd> own;
  for (const Json& pair : plan) {
    if (own != nullptr || pair.at(1) != rank) continue;
    own = std::make_unique<LinkEnd>(address);
    client.set(end_key(rank), json_text(Json{{"address", own->place().address},
                                             {"port", own->place().port},
                                             {"token", own->token()}})
                                  .str());
  }
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const int first = plan[i].at(0).get<int>();
    const int second = plan[i].at(1).get<int>();
    if (first == rank) {
      if (i > 0) get(client, result_key(i - 1), end);
      client.set(result_key(i), json_text(measure_pair(client, second, end)).str());
    } else if (second == rank) {
      // Until the first rank has measured, or has failed to.
      while (!own->serve(kLook, std::min(end, Clock::now() + kLongest)) &&
             !client.check({result_key(i)})) {
        if (Clock::now() >= end) return;
      }
    }
  }
}

}  // namespace

std::vector<LinkResult> measure_links(rendezvous::Client& client,
                                      const std::vector<RankReport>& reports,
                                      std::chrono::seconds patience) {
  std::vector<std::string> hosts;
  for (const RankReport& report : reports) hosts.push_back(report.host);
  const std::vector<RankPair> pairs = links_to_measure(hosts);
  const bool is_one_host = std::all_of(hosts.begin(), hosts.end(),
                                       [&](const std::string& host) { return host == hosts[0]; });
  Json plan = Json::object();
  plan["one_host"] = is_one_host;
  plan["pairs"] = pairs;
  client.set(kPlan, json_text(plan).str());
  const Deadline end = end_of(plan["pairs"], patience);
  follow_plan(client, 0, address_of(reports[0], is_one_host), plan["pairs"], end);
  std::vector<LinkResult> results;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Json json = parse_json(get(client, result_key(i), end));
    const JsonReader reader("the result of a link", json);
    LinkResult link{pairs[i], reader.number("bytes_per_second").value_or(0),
                    reader.text("problem").value_or("")};
    if (link.problem.empty() && !(link.bytes_per_second > 0)) link.problem = "no bytes passed";
    results.push_back(link);
  }
  return results;
}

void take_part_in_links(rendezvous::Client& client, const RankReport& own,
                        std::chrono::seconds patience) {
  const Json plan = parse_json(get(client, kPlan, Clock::now() + patience));
  const Deadline end = end_of(plan.at("pairs"), patience);
  const bool is_one_host = plan.at("one_host").get<bool>();
  follow_plan(client, own.resolution.placement.rank, address_of(own, is_one_host), plan.at("pairs"),
              end);
}

}  // namespace hpcboot::tool

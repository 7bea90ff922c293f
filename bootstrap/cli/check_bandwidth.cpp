#include "check_bandwidth.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>

#include "core/bounded_call.hpp"
#include "core/time_left.hpp"
#include "gpu/cuda_driver.hpp"
#include "hpcboot/error.hpp"
#include "json/json_reader.hpp"
#include "link_speed.hpp"

// Rank 0 publishes the plan, the pairs in their order. Each rank of the plan publishes where it
// listens, its token, host and GPU. The first rank of a pair measures once the pair before is done,
// and publishes the result; if it does not, rank 0 does.
namespace hpcboot::tool {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr const char* kPlan = "bandwidth/plan";
constexpr milliseconds kLook{200};
constexpr std::chrono::seconds kLongest{10};  // for one link
constexpr std::chrono::seconds kSlack{3};
constexpr std::chrono::seconds kLongestOfDriver{5};

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

// A link takes half a second if all is well.
Deadline end_of(const Json& pairs, std::chrono::seconds patience) {
  return Clock::now() + patience + (kLongest + kSlack) * pairs.size();
}

// Ranks of one host use loopback, as their training does.
std::string address_of(const RankReport& report, bool is_one_host) {
  return is_one_host ? "127.0.0.1" : report.resolution.interface_address.value_or("127.0.0.1");
}

Json problem_of(const std::string& text) {
  return {{"problem", text}};
}

// What a driver answers; the default if that takes too long: drivers of broken GPUs hang.
template <typename Answer>
Answer ask_driver(const std::function<Answer()>& ask) {
  const auto answer = std::make_shared<Answer>();
  const bool is_in_time = bounded_call([ask, answer] { *answer = ask(); }, kLongestOfDriver);
  return is_in_time ? *answer : Answer();
}

// The PCI address of the rank's GPU; empty if it has none, or the driver does not tell.
std::string gpu_of(const RankReport& report) {
  const std::optional<int> device = report.resolution.device;
  if (!device) return "";
  return ask_driver<std::string>([device] { return gpu::pci_address_of(*device).value_or(""); });
}

Json json_of(const gpu::GpuLink& link) {
  return {{"kind", static_cast<int>(link.kind)},
          {"nvlinks", link.nvlinks},
          {"has_peer_access", link.has_peer_access}};
}

gpu::GpuLink gpu_link_of(const JsonReader& json) {
  const auto slowest = static_cast<std::int64_t>(gpu::LinkKind::across_sockets);
  return {static_cast<gpu::LinkKind>(
              json.require("kind", json.integer("kind", 0, slowest), "a kind of link")),
          json.small_integer("nvlinks").value_or(0),
          json.require("has_peer_access", json.boolean("has_peer_access"), "true or false")};
}

// A rank's part in the plan.
class Participant {
 public:
  Participant(rendezvous::Client& client, const RankReport& own, bool is_one_host, const Json& plan)
      : client_(client), rank_(own.resolution.placement.rank), host_(own.host), plan_(plan) {
    const auto is_in = [&](std::size_t end) {
      return std::any_of(plan.begin(), plan.end(),
                         [&](const Json& pair) { return pair.at(end) == rank_; });
    };
    if (is_in(0) || is_in(1)) gpu_ = gpu_of(own);
    if (is_in(1)) listen(address_of(own, is_one_host));
  }

  // Measures a pair, or is measured. Does nothing for pairs of others, and for those that rank 0
  // has given up.
  void take_part(std::size_t pair) {
    const bool measures = plan_[pair].at(0) == rank_;
    const bool serves = plan_[pair].at(1) == rank_;
    if ((!measures && !serves) || client_.check({result_key(pair)})) return;
    const Deadline end = Clock::now() + kLongest;
    if (measures) {
      const Json result = measure(plan_[pair].at(1).get<int>(), end);
      client_.compare_set(result_key(pair), "", json_text(result).str());
      return;
    }
    while (own_ != nullptr && Clock::now() < end && !client_.check({result_key(pair)})) {
      if (own_->serve(kLook, end)) return;
    }
  }

 private:
  void listen(const std::string& address) {
    Json place;
    try {
      own_ = std::make_unique<LinkEnd>(address);
      place = {{"address", own_->place().address},
               {"port", own_->place().port},
               {"token", own_->token()},
               {"host", host_},
               {"gpu", gpu_}};
    } catch (const Error& problem) {
      place = problem_of(problem.found());
    }
    client_.set(end_key(rank_), json_text(place).str());
  }

  // @return bytes per second and how the GPUs are joined, or why not
  Json measure(int peer, Deadline end) {
    try {
      const Json at = parse_json(get(client_, end_key(peer), end));
      if (at.contains("problem")) return at;
      const rendezvous::Place place{at.at("address").get<std::string>(), at.at("port").get<int>()};
      Json result = {
          {"bytes_per_second", measure_link(place, at.at("token").get<std::string>(), end)}};
      if (at.at("host") != host_) return result;
      const auto link = ask_driver<std::optional<gpu::GpuLink>>(
          [own = gpu_, other = at.at("gpu").get<std::string>()] {
            return gpu::link_of_gpus(own, other);
          });
      if (link) result["gpus"] = json_of(*link);
      return result;
    } catch (const Error& problem) {
      return problem_of(problem.found());
    } catch (const std::exception& problem) {
      return problem_of(problem.what());
    }
  }

  rendezvous::Client& client_;
  int rank_;
  std::string host_;
  std::string gpu_;  // PCI address
  const Json& plan_;
  std::unique_ptr<LinkEnd> own_;
};

LinkResult result_of(const std::string& text, RankPair ranks) {
  const Json json = parse_json(text);
  const JsonReader reader("the result of a link", json);
  LinkResult link{ranks, reader.number("bytes_per_second").value_or(0),
                  reader.text("problem").value_or("")};
  if (const auto gpus = reader.object("gpus")) link.gpus = gpu_link_of(*gpus);
  if (link.problem.empty() && !(link.bytes_per_second > 0)) link.problem = "no bytes passed";
  return link;
}

}  // namespace

std::vector<LinkResult> measure_links(rendezvous::Client& client,
                                      const std::vector<RankReport>& reports) {
  std::vector<std::string> hosts;
  for (const RankReport& report : reports) hosts.push_back(report.host);
  const std::vector<RankPair> pairs = links_to_measure(hosts);
  const bool is_one_host = std::all_of(hosts.begin(), hosts.end(),
                                       [&](const std::string& host) { return host == hosts[0]; });
  Json plan = Json::object();
  plan["one_host"] = is_one_host;
  plan["pairs"] = pairs;
  client.set(kPlan, json_text(plan).str());
  Participant own(client, reports[0], is_one_host, plan["pairs"]);
  std::set<int> silent;  // ranks that did not measure
  std::vector<LinkResult> results;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::string key = result_key(i);
    const auto give_up = [&](int rank) {
      const std::string text = "rank " + std::to_string(rank) + " does not answer";
      client.compare_set(key, "", json_text(problem_of(text)).str());
    };
    for (const int rank : {pairs[i].first, pairs[i].second}) {
      if (silent.count(rank) != 0) give_up(rank);
    }
    own.take_part(i);
    std::vector<std::string> values;
    std::vector<std::string> missing;
    if (!client.get({key}, Clock::now() + kLongest + kSlack, values, missing)) {
      silent.insert(pairs[i].first);
      give_up(pairs[i].first);
      values = {get(client, key, Clock::now() + kSlack)};
    }
    results.push_back(result_of(values.front(), pairs[i]));
  }
  return results;
}

void take_part_in_links(rendezvous::Client& client, const RankReport& own,
                        std::chrono::seconds patience) {
  const Json plan = parse_json(get(client, kPlan, Clock::now() + patience));
  const Json& pairs = plan.at("pairs");
  const Deadline end = end_of(pairs, patience);
  Participant participant(client, own, plan.at("one_host").get<bool>(), pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i > 0) get(client, result_key(i - 1), end);
    participant.take_part(i);
  }
}

}  // namespace hpcboot::tool

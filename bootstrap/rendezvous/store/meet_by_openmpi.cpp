#include "meet_by_openmpi.hpp"

#include <algorithm>

#include "core/time_left.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/error.hpp"
#include "meeting_places.hpp"

namespace hpcboot::rendezvous {
namespace {

constexpr const char* kRandom = "OMPI_MCA_orte_precondition_transports";
constexpr std::size_t kMostHosts = 1024;
constexpr std::int64_t kLargestNumber = 999'999'999;  // of a host

// Twice 64 bits: "931cc8a29557b0a1-a7a6ba7a0b32abbd".
bool is_random(std::string_view text) {
  return text.size() == 33 && text[16] == '-' && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
         });
}

std::string padded(std::int64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits > text.size() ? digits - text.size() : 0, '0') + text;
}

// "1-2,5" after "n" with one digit: n1, n2, n5.
bool add_numbered(std::string_view prefix, std::size_t digits, std::string_view ranges,
                  std::string_view suffix, std::vector<std::string>& hosts) {
  while (!ranges.empty()) {
    const std::size_t comma = std::min(ranges.find(','), ranges.size());
    const std::string_view range = ranges.substr(0, comma);
    ranges.remove_prefix(std::min(comma + 1, ranges.size()));
    const std::size_t dash = range.find('-');
    const auto first = parse_whole_number(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_whole_number(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last > kLargestNumber || *last < *first ||
        *last - *first >= std::int64_t{kMostHosts})
      return false;
    for (std::int64_t number = *first; number <= *last && hosts.size() < kMostHosts; ++number)
      hosts.push_back(std::string(prefix) + padded(number, digits) + std::string(suffix));
  }
  return true;
}

// One entry, up to a comma outside of brackets: "n[1:1-2].cluster" or "login".
bool add_entry(std::string_view entry, std::vector<std::string>& hosts) {
  const std::size_t open = entry.find('[');
  if (open == std::string_view::npos) {
    if (!entry.empty()) hosts.emplace_back(entry);
    return !entry.empty();
  }
  const std::size_t colon = entry.find(':', open);
  const std::size_t close = entry.find(']', open);
  if (colon == std::string_view::npos || close == std::string_view::npos || close < colon)
    return false;
  const auto digits = parse_whole_number(entry.substr(open + 1, colon - open - 1));
  if (!digits || *digits < 0 || *digits > 20) return false;
  return add_numbered(entry.substr(0, open), static_cast<std::size_t>(*digits),
                      entry.substr(colon + 1, close - colon - 1), entry.substr(close + 1), hosts);
}

// Parses "425656320.0;tcp://10.77.0.11,10.0.0.1:45289": the addresses of mpirun's own host.
std::vector<std::string> addresses_in(std::string_view uri) {
  constexpr std::string_view kScheme = "tcp://";
  std::vector<std::string> addresses;
  const std::size_t start = uri.find(kScheme);
  if (start == std::string_view::npos) return addresses;
  uri.remove_prefix(start + kScheme.size());
  uri = uri.substr(0, uri.find(';'));
  uri = uri.substr(0, uri.rfind(':'));
  while (!uri.empty()) {
    const std::size_t comma = std::min(uri.find(','), uri.size());
    const std::string_view address = uri.substr(0, comma);
    if (is_numeric_address(address)) addresses.emplace_back(address);
    uri.remove_prefix(std::min(comma + 1, uri.size()));
  }
  return addresses;
}

std::vector<std::string> candidates(const Env& env, const std::vector<std::string>& hosts) {
  std::vector<std::string> all;
  const auto add = [&all](const std::string& host) {
    if (std::find(all.begin(), all.end(), host) == all.end()) all.push_back(host);
  };
  const auto named = openmpi_hosts(env.text("OMPI_MCA_orte_node_regex").value_or(""));
  if (named) std::for_each(named->begin(), named->end(), add);
  std::for_each(hosts.begin(), hosts.end(), add);
  const auto own = addresses_in(env.text("OMPI_MCA_orte_hnp_uri").value_or(""));
  std::for_each(own.begin(), own.end(), add);
  add("127.0.0.1");  // for the other ranks of rank 0's host, in case its name does not resolve
                     // there
  return all;
}

}  // namespace

std::optional<std::vector<std::string>> openmpi_hosts(std::string_view regex) {
  regex = regex.substr(0, regex.find('@'));
  std::vector<std::string> hosts;
  while (!regex.empty()) {
    const std::size_t bracket = regex.find('[');
    std::size_t comma = regex.find(',');
    if (bracket < comma) comma = regex.find(',', std::min(regex.find(']'), regex.size()));
    comma = std::min(comma, regex.size());
    if (!add_entry(regex.substr(0, comma), hosts)) return std::nullopt;
    regex.remove_prefix(std::min(comma + 1, regex.size()));
  }
  if (hosts.empty()) return std::nullopt;
  return hosts;
}

bool can_meet_by_openmpi(const Env& env) {
  return env.has("OMPI_COMM_WORLD_RANK") && env.has("OMPI_COMM_WORLD_SIZE") &&
         env.has("PMIX_NAMESPACE") && env.text("PMIX_RANK") == env.text("OMPI_COMM_WORLD_RANK") &&
         is_random(env.text(kRandom).value_or(""));
}

Rendezvous meet_by_openmpi(const Env& env, const std::vector<std::string>& hosts,
                           std::chrono::milliseconds deadline) {
  const auto end = end_after(deadline);
  const int rank = env.require_integer("OMPI_COMM_WORLD_RANK", "mpirun");
  const std::string identity = "openmpi/" + std::string(env.text("PMIX_NAMESPACE").value_or(""));
  World world{identity,
              static_cast<std::uint32_t>(env.require_integer("OMPI_COMM_WORLD_SIZE", "mpirun", 1)),
              Secret(std::string(env.text(kRandom).value_or(""))), SecretKind::launcher};
  Member member{std::move(world), static_cast<std::uint32_t>(rank)};
  std::vector<Place> places;
  std::shared_ptr<Server> server;
  if (rank == 0) {
    // Rank 0 does not know which of its names and addresses the others try.
    for (const int port : port_series(identity)) places.push_back({"", port});
    server = serve_at(places, member, end);
    places = {own_way_to(server->place())};
  } else {
    const std::vector<std::string> all = candidates(env, hosts);
    for (const int port : port_series(identity)) {
      for (const std::string& host : all) places.push_back({host, port});
    }
  }
  std::shared_ptr<Client> client = Client::connect(places, std::move(member), end);
  const std::string where = client->place().text();
  return {std::move(server), nullptr, std::move(client),
          "store at " + where + ", authenticated by a secret of mpirun"};
}

}  // namespace hpcboot::rendezvous

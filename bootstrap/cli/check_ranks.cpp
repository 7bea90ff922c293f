#include "check_ranks.hpp"

#include <poll.h>

#include <algorithm>
#include <list>

#include "hpcboot/error.hpp"

// Lines over TCP: a rank sends its report; rank 0 sends "ping" a few times, each answered by
// "pong"; at the end "ok" or "wrong".
namespace hpcboot::tool {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPings = 5;

struct Peer {
  explicit Peer(Connection accepted) : connection(std::move(accepted)) {}

  Connection connection;
  std::optional<RankReport> report;
  int pongs = 0;
  Clock::time_point sent;
  bool is_gone = false;

  bool is_done() const { return report && pongs == kPings; }
};

void ping(Peer& peer) {
  peer.sent = Clock::now();
  if (!peer.connection.send_line("ping")) peer.is_gone = true;
}

void take(Peer& peer, const std::string& line) {
  if (!peer.report) {
    peer.report = parse_report(line);
    if (!peer.report) {
      peer.is_gone = true;
      return;
    }
    ping(peer);
    return;
  }
  if (line != "pong" || peer.is_done()) return;
  // The first includes waking up both sides; the least is the way itself.
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - peer.sent).count();
  double& best = peer.report->round_trip_ms;
  best = peer.pongs == 0 ? ms : std::min(best, ms);
  if (++peer.pongs < kPings) ping(peer);
}

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30));
}

// One round of waiting for whatever comes.
void serve(const Listener& listener, std::list<Peer>& peers, Clock::time_point end) {
  std::vector<pollfd> entries = {{listener.socket(), POLLIN, 0}};
  for (const Peer& peer : peers) entries.push_back({peer.connection.socket(), POLLIN, 0});
  if (poll(entries.data(), entries.size(), milliseconds_until(end)) <= 0) return;
  std::size_t index = 1;
  for (Peer& peer : peers) {
    if (entries[index++].revents == 0) continue;
    // A rank has its report and an answer to each ping to say; whoever sends lines without end must
    // not keep us from the others.
    bool is_closed = false;
    for (int lines = 0; lines <= kPings && !peer.is_gone; ++lines) {
      const auto line = peer.connection.take_line(is_closed);
      if (!line) break;
      take(peer, *line);
    }
    if (is_closed) peer.is_gone = true;
  }
  peers.remove_if([](const Peer& peer) { return peer.is_gone && !peer.is_done(); });
  if (entries[0].revents != 0) {
    Connection accepted = listener.accept();
    if (accepted.socket() >= 0) peers.emplace_back(std::move(accepted));
  }
}

}  // namespace

bool gather_reports(const Listener& listener, const RankReport& own, Deadline end,
                    const std::function<bool(const std::vector<RankReport>&)>& judge) {
  std::list<Peer> peers;
  const auto expected = own.resolution.placement.world_size - 1;
  while (std::count_if(peers.begin(), peers.end(), [](const Peer& p) { return p.is_done(); }) <
             expected &&
         Clock::now() < end) {
    serve(listener, peers, end);
  }
  std::vector<RankReport> reports = {own};
  for (const Peer& peer : peers) {
    if (peer.is_done()) reports.push_back(*peer.report);
  }
  std::sort(reports.begin(), reports.end(), [](const RankReport& a, const RankReport& b) {
    return a.resolution.placement.rank < b.resolution.placement.rank;
  });
  const bool ok = judge(reports);
  for (Peer& peer : peers) peer.connection.send_line(ok ? "ok" : "wrong");
  return ok;
}

bool report_to_rank0(const RankReport& own, Deadline end) {
  const Resolution& r = own.resolution;
  const std::string place = *r.master_addr + " port " + std::to_string(*r.master_port);
  std::string reason;
  auto connection = connect_to(*r.master_addr, *r.master_port, end, reason);
  if (!connection) {
    throw Error(ErrorCode::deadline_exceeded,
                "rank " + std::to_string(r.placement.rank) + " on " + own.host +
                    " cannot reach rank 0 at " + place + ": " + reason,
                "rank 0 to listen there, at an address that this host has a way to",
                "did rank 0 start? If so choose another network by HPCBOOT_INTERFACE or "
                "HPCBOOT_MASTER_ADDR, and look for a firewall");
  }
  connection->send_line(to_line(own));
  // Rank 0 waits for others until the deadline, and judges then.
  const auto patience = end + std::chrono::seconds(10);
  while (const auto line = connection->receive_line(patience)) {
    if (Clock::now() > patience) break;
    if (*line == "ping") connection->send_line("pong");
    if (*line == "ok" || *line == "wrong") return *line == "ok";
  }
  throw Error(ErrorCode::deadline_exceeded,
              "rank 0 at " + place + " did not tell rank " + std::to_string(r.placement.rank) +
                  " its verdict",
              "rank 0 to stay until the end of the check", "look at the output of rank 0");
}

}  // namespace hpcboot::tool

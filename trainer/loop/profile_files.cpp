#include "loop/profile_files.hpp"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <vector>

#include "hpcboot/error.hpp"
#include "hpcboot/torch/collectives.hpp"
#include "profile/key_averages.hpp"
#include "profile/rank_summary.hpp"
#include "profile/trace_file.hpp"
#include "record/atomic_file.hpp"
#include "record/output_error.hpp"
#include "text/format.hpp"

namespace hpcboot::train {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownOperators = 12;
constexpr Look kLook{80, false};  // the same text goes to a log

/// "rank_00.1.pt.trace.json"
fs::path trace_of(const ProfileFiles& files, std::string_view worker) {
  return files.folder / fmt::format("{}.{}.pt.trace.json", worker, files.cycle);
}

std::string worker_of(int rank) {
  return fmt::format("rank_{:02}", rank);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  const fs::file_status found = fs::symlink_status(folder, error);
  if (fs::exists(found) && !fs::is_directory(found)) {
    throw Error(ErrorCode::unwritable_output, "'" + folder.string() + "' is not a folder",
                "a folder, or none", "remove it, or choose another place with --runs-dir");
  }
  fs::create_directories(folder, error);
  if (error) throw record::output_error("create", folder, error.value());
}

/// The cycle of "rank_00.3.pt.trace.json"; 0 for other names.
std::int64_t cycle_of(const std::string& name) {
  constexpr std::string_view kEnd = ".pt.trace.json";
  if (name.size() <= kEnd.size() || name.compare(name.size() - kEnd.size(), kEnd.size(), kEnd) != 0)
    return 0;
  const std::string stem = name.substr(0, name.size() - kEnd.size());
  const char* const begin = stem.data() + stem.rfind('.') + 1;
  const char* const end = stem.data() + stem.size();
  std::int64_t cycle = 0;
  return std::from_chars(begin, end, cycle).ptr == end ? cycle : 0;
}

/// Events for the merged trace, as a rank sends them.
struct SentEvents {
  std::string text;
  std::int64_t dropped = 0;
};

void send_events(const ProcessGroup& group, const SentEvents& events) {
  const auto length = static_cast<std::int64_t>(events.text.size());
  send(group, at::tensor({length, events.dropped}, at::kLong), 0).wait();
  const at::Tensor bytes = at::empty({length}, at::kByte);
  std::copy(events.text.begin(), events.text.end(), bytes.data_ptr<std::uint8_t>());
  send(group, bytes, 0).wait();
}

SentEvents events_of_rank(const ProcessGroup& group, int rank) {
  const at::Tensor numbers = recv(group, at::zeros({2}, at::kLong), rank).wait();
  const at::Tensor bytes =
      recv(group, at::empty({numbers[0].item<std::int64_t>()}, at::kByte), rank).wait();
  const auto* begin = bytes.data_ptr<std::uint8_t>();
  return {{begin, begin + bytes.numel()}, numbers[1].item<std::int64_t>()};
}

/// Every rank prepares its events; rank 0 only joins them, one rank after the other, while the
/// others wait.
/// @return how many events are not in the merged trace, on rank 0
std::int64_t merge(const ProfileFiles& files, const profile::TraceOrigin& origin,
                   const profile::Recording& recording,
                   const std::vector<profile::RankSummary>& ranks, Communicator& communicator,
                   TraceBudget& budget) {
  std::int64_t base = std::numeric_limits<std::int64_t>::max();
  for (const profile::RankSummary& rank : ranks) base = std::min(base, rank.begin);
  profile::TraceSize size;
  SentEvents own{profile::trace_events(origin, recording, base, budget.merged, size), size.dropped};
  budget.merged =
      std::max<std::int64_t>(0, budget.merged - static_cast<std::int64_t>(own.text.size()));
  if (!communicator.is_first()) {
    send_events(*communicator.group(), own);
    return 0;
  }
  profile::TraceFile merged(trace_of(files, "merged"), std::nullopt, base);
  std::int64_t dropped = own.dropped;
  merged.add(own.text);
  for (int rank = 1; rank < communicator.size(); ++rank) {
    const SentEvents events = events_of_rank(*communicator.group(), rank);
    merged.add(events.text);
    dropped += events.dropped;
  }
  merged.commit(dropped);
  return dropped;
}

std::vector<profile::RankSummary> gather(const profile::RankSummary& own,
                                         Communicator& communicator) {
  std::vector<profile::RankSummary> ranks;
  for (const std::string& text : communicator.gather(json_text(profile::to_json(own)).str())) {
    ranks.push_back(
        profile::rank_summary_from_json(parse_json(text), "a rank's report of its profile"));
  }
  return ranks;
}

std::int64_t dropped_by(const std::vector<profile::RankSummary>& ranks) {
  std::int64_t dropped = 0;
  for (const profile::RankSummary& rank : ranks) dropped += rank.size.dropped;
  return dropped;
}

Encoded tables_of(const ProfileFiles& files, const std::vector<profile::RankSummary>& ranks,
                  const std::vector<profile::KeyAverage>& averages,
                  std::int64_t dropped_in_merged) {
  Encoded text =
      encoded_format("profile, cycle {}: how the ranks spent their steps\n", files.cycle);
  text += profile::rank_summary_table(ranks, kLook);
  text += "operators of rank 0, the longest first\n";
  text += profile::key_averages_table(averages, kShownOperators, kLook);
  if (const std::int64_t dropped = dropped_by(ranks); dropped > 0) {
    text += encoded_format(
        "{} events are not in the ranks' traces, for which --profile-mb allows no more: no other "
        "cycle follows\n",
        dropped);
  }
  if (dropped_in_merged > 0) {
    text += encoded_format(
        "{} events are not in the merged trace, in which each rank has an equal share of "
        "--profile-mb\n",
        dropped_in_merged);
  }
  text += "traces, for https://ui.perfetto.dev or TensorBoard: ";
  text += terminal_text(files.folder.string());
  text += "\n";
  return text;
}

}  // namespace

std::int64_t first_free_cycle(const fs::path& folder, Communicator& communicator) {
  make_folder(folder);
  std::int64_t last = 0;
  std::error_code error;
  if (communicator.is_first()) {
    for (const auto& file : fs::directory_iterator(folder, error))
      last = std::max(last, cycle_of(file.path().filename().string()));
  }
  return std::stoll(communicator.broadcast(std::to_string(last + 1)));
}

WrittenProfile write_profile(const ProfileFiles& files, const profile::TraceOrigin& origin,
                             const profile::Recording& recording, Communicator& communicator,
                             TraceBudget& budget) {
  const std::string worker = worker_of(origin.rank);
  profile::RankSummary own;
  own.host = origin.host;
  own.begin = profile::in_whole_microseconds(profile::begin_of(recording) - origin.clock_ahead);
  own.time = profile::summarise(recording);
  {
    const std::string events =
        profile::trace_events(origin, recording, own.begin, budget.own, own.size);
    budget.own = std::max<std::int64_t>(0, budget.own - static_cast<std::int64_t>(events.size()));
    profile::TraceFile trace(trace_of(files, worker), origin, own.begin);
    trace.add(events);
    trace.commit(own.size.dropped);
  }
  const std::vector<profile::KeyAverage> averages = profile::key_averages(recording);
  record::write_file_atomically(
      files.folder / fmt::format("{}.{}.operators.csv", worker, files.cycle),
      profile::key_averages_csv(averages));

  const std::vector<profile::RankSummary> ranks = gather(own, communicator);
  std::int64_t dropped = 0;
  if (communicator.size() > 1)
    dropped = merge(files, origin, recording, ranks, communicator, budget);
  WrittenProfile written;
  written.is_full = dropped_by(ranks) > 0;
  if (!communicator.is_first()) return written;
  record::write_file_atomically(files.folder / fmt::format("ranks.{}.csv", files.cycle),
                                profile::rank_summary_csv(ranks));
  written.tables = tables_of(files, ranks, averages, dropped);
  return written;
}

}  // namespace hpcboot::train

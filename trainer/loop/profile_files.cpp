#include "loop/profile_files.hpp"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>
#include <vector>

#include "hpcboot/torch/collectives.hpp"
#include "profile/key_averages.hpp"
#include "profile/rank_summary.hpp"
#include "profile/trace_merge.hpp"
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
  fs::create_directories(folder, error);
  if (error) throw record::output_error("create", folder, error.value());
}

/// Of a file that this rank has just written.
std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) throw record::output_error("read", path, errno);
  return text;
}

void send_text(const ProcessGroup& group, const std::string& text) {
  const auto length = static_cast<std::int64_t>(text.size());
  send(group, at::full({1}, length, at::kLong), 0).wait();
  const at::Tensor bytes = at::empty({length}, at::kByte);
  std::copy(text.begin(), text.end(), bytes.data_ptr<std::uint8_t>());
  send(group, bytes, 0).wait();
}

std::string text_of_rank(const ProcessGroup& group, int rank) {
  const at::Tensor length = recv(group, at::zeros({1}, at::kLong), rank).wait();
  const at::Tensor bytes =
      recv(group, at::empty({length.item<std::int64_t>()}, at::kByte), rank).wait();
  const auto* begin = bytes.data_ptr<std::uint8_t>();
  return {begin, begin + bytes.numel()};
}

/// Rank 0 receives the traces one after the other: together they may not fit in memory, and ranks
/// on other hosts may have no file system in common with it.
void merge(const ProfileFiles& files, const profile::TraceOrigin& origin,
           const std::vector<profile::RankSummary>& ranks, Communicator& communicator) {
  const fs::path own = trace_of(files, worker_of(origin.rank));
  if (!communicator.is_first()) {
    send_text(*communicator.group(), content_of(own));
    return;
  }
  profile::TraceHeader header;
  header.world_size = origin.world_size;
  header.backend = origin.backend;
  header.base = std::numeric_limits<std::int64_t>::max();
  for (const profile::RankSummary& rank : ranks) header.base = std::min(header.base, rank.begin);
  profile::TraceMerge merged(trace_of(files, "merged"), header, communicator.size(),
                             files.most_bytes);
  merged.add(content_of(own));
  for (int rank = 1; rank < communicator.size(); ++rank)
    merged.add(text_of_rank(*communicator.group(), rank));
  merged.commit();
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

Encoded tables_of(const ProfileFiles& files, const std::vector<profile::RankSummary>& ranks,
                  const std::vector<profile::KeyAverage>& averages) {
  Encoded text =
      encoded_format("profile, cycle {}: how the ranks spent their steps\n", files.cycle);
  text += profile::rank_summary_table(ranks, kLook);
  text += "operators of rank 0, the longest first\n";
  text += profile::key_averages_table(averages, kShownOperators, kLook);
  std::int64_t dropped = 0;
  for (const profile::RankSummary& rank : ranks) dropped += rank.size.dropped;
  if (dropped > 0) {
    text += encoded_format(
        "{} events are not in the traces, which would be larger than --profile-mb allows\n",
        dropped);
  }
  text += "traces, for https://ui.perfetto.dev or TensorBoard: ";
  text += terminal_text(files.folder.string());
  text += "\n";
  return text;
}

}  // namespace

Encoded write_profile(const ProfileFiles& files, const profile::TraceOrigin& origin,
                      const profile::Recording& recording, Communicator& communicator,
                      std::int64_t& trace_bytes) {
  make_folder(files.folder);
  const std::string worker = worker_of(origin.rank);
  const fs::path trace = trace_of(files, worker);
  profile::RankSummary own;
  own.host = origin.host;
  own.begin = profile::begin_of(recording) - origin.clock_ahead;
  own.time = profile::summarise(recording);
  own.size = profile::write_trace(trace, origin, recording, files.most_bytes);
  trace_bytes = static_cast<std::int64_t>(fs::file_size(trace));
  const std::vector<profile::KeyAverage> averages = profile::key_averages(recording);
  record::write_file_atomically(
      files.folder / fmt::format("{}.{}.operators.csv", worker, files.cycle),
      profile::key_averages_csv(averages));

  const std::vector<profile::RankSummary> ranks = gather(own, communicator);
  if (communicator.size() > 1) merge(files, origin, ranks, communicator);
  if (!communicator.is_first()) return {};
  record::write_file_atomically(files.folder / fmt::format("ranks.{}.csv", files.cycle),
                                profile::rank_summary_csv(ranks));
  return tables_of(files, ranks, averages);
}

}  // namespace hpcboot::train

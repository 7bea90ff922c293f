#include "capture_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <tuple>

#include "core/schedulers/read_file.hpp"
#include "facts_json.hpp"
#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

namespace fs = std::filesystem;

std::string read_needed(const std::string& path) {
  auto text = read_file(path);
  if (text) return *std::move(text);
  throw Error(ErrorCode::unreadable_file, path + " cannot be read",
              "the .env and .hostname files that `hpcboot capture` writes for every rank",
              "capture the job again, in a new folder");
}

// Ranks by number, then other names in alphabetical order.
auto order_of(const std::string& name) {
  const auto rank = name.rfind("rank", 0) == 0 ? parse_whole_number(name.substr(4)) : std::nullopt;
  return std::make_tuple(!rank, rank.value_or(0), name);
}

// Names that are too long, or links in a circle.
fs::file_status known(fs::file_status status, const std::string& file,
                      const std::error_code& error) {
  if (fs::status_known(status)) return status;
  throw Error(ErrorCode::unreadable_file, file + ": " + error.message(),
              "a folder as written by `hpcboot capture`", "remove this file, or rename its rank");
}

}  // namespace

std::vector<std::string> list_capture(const std::string& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const fs::path file = entry->path().filename();
    // The host name is written first and the environment last: a rank may have one without the
    // other.
    if (file.extension() == ".env" || file.extension() == ".hostname") names.insert(file.stem());
  }
  if (error || names.empty()) {
    throw Error(ErrorCode::unreadable_file,
                error ? folder + ": " + error.message() : "no captured rank in " + folder,
                "a folder that `hpcboot capture` wrote", "correct the path");
  }
  std::vector<std::string> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const std::string& a, const std::string& b) { return order_of(a) < order_of(b); });
  return sorted;
}

CapturedRank read_captured_rank(const std::string& folder, const std::string& name) {
  const std::string stem = folder + "/" + name;
  CapturedRank rank;
  std::string hostname = read_needed(stem + ".hostname");
  hostname.erase(hostname.find_last_not_of(" \t\r\n") + 1);
  const std::string facts = stem + ".facts.json";
  std::error_code error;
  if (fs::exists(known(fs::status(facts, error), facts, error))) {
    constexpr JsonLimits kLimits{std::size_t{1} << 20U, 8, 100'000};
    rank.facts = facts_from_json(read_json_file(facts, kLimits), facts);
  }
  if (!hostname.empty()) rank.facts.hostname = hostname;
  rank.env = Env::parse(read_needed(stem + ".env"), stem + ".env");
  rank.options.allocation.read_files = false;
  for (const std::string& nodefile : {stem + ".nodefile", folder + "/nodefile"}) {
    // The sender of the folder may have put a pipe there, or a link to a file of this user.
    const fs::file_status status = known(fs::symlink_status(nodefile, error), nodefile, error);
    if (rank.options.allocation.nodefile || !fs::exists(status)) continue;
    if (!fs::is_regular_file(status)) {
      throw Error(ErrorCode::unreadable_file, nodefile + " is not a regular file",
                  "a folder as written by `hpcboot capture`",
                  "remove it, or replace it with the file itself");
    }
    rank.options.allocation.nodefile = nodefile;
  }
  for (const std::string& apinfo : {stem + ".apinfo", folder + "/apinfo"}) {
    if (!rank.facts.apinfo) rank.facts.apinfo = read_file(apinfo);
  }
  return rank;
}

}  // namespace hpcboot

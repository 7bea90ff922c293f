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

// Does the folder have this file? Its sender may have put a pipe there, or a link to a file of this
// user.
bool has_file(const std::string& file) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(file, error);
  if (!fs::status_known(status)) {  // a name that is too long
    throw Error(ErrorCode::unreadable_file, file + ": " + error.message(),
                "a folder as written by `hpcboot capture`", "remove this file, or rename its rank");
  }
  if (!fs::exists(status)) return false;
  if (fs::is_regular_file(status)) return true;
  throw Error(ErrorCode::unreadable_file, file + " is not a regular file",
              "a folder as written by `hpcboot capture`",
              "remove it, or replace it with the file itself");
}

std::string read_needed(const std::string& path) {
  auto text = has_file(path) ? read_file(path) : std::nullopt;
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
  if (has_file(facts)) {
    constexpr JsonLimits kLimits{std::size_t{1} << 20U, 8, 100'000};
    rank.facts = facts_from_json(read_json_file(facts, kLimits), facts);
  }
  if (!hostname.empty()) rank.facts.hostname = hostname;
  rank.env = Env::parse(read_needed(stem + ".env"), stem + ".env");
  rank.options.allocation.read_files = false;
  for (const std::string& nodefile : {stem + ".nodefile", folder + "/nodefile"}) {
    if (!rank.options.allocation.nodefile && has_file(nodefile))
      rank.options.allocation.nodefile = nodefile;
  }
  for (const std::string& apinfo : {stem + ".apinfo", folder + "/apinfo"}) {
    if (!rank.facts.apinfo && has_file(apinfo)) rank.facts.apinfo = read_file(apinfo);
  }
  return rank;
}

}  // namespace hpcboot

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/trim.hpp"
#include "hpcboot/allocation.hpp"
#include "hpcboot/error.hpp"

// Shared by the parsers of host files: lines, host names, counting.
namespace hpcboot {

// Calls `each(line, number)` for every line that is not blank, counted from 1.
template <typename Each>
void for_each_line(std::string_view text, Each each) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty()) each(line, number);
  }
}

// A name or an address. Programs that are passed one, such as ssh, would take a leading "-" for an
// option, which may name a command to execute.
inline bool is_host(std::string_view word) {
  return !word.empty() && word.front() != '-' && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':';
  });
}

// A name that useradd and directory services allow (setup/lib/hosts.sh has the same rule). It
// becomes a word of ssh, as user@host.
inline bool is_user(std::string_view word) {
  constexpr std::size_t kLongest = 64;
  if (word.empty() || word.size() > kLongest) return false;
  if (word.size() > 1 && word.back() == '$') word.remove_suffix(1);
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return is_letter(word.front()) && std::all_of(word.begin(), word.end(), [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
         });
}

[[noreturn]] inline void fail_line(std::string_view line, int number, std::string_view name,
                                   const char* expected, const char* remedy) {
  throw Error(ErrorCode::malformed_file,
              "'" + std::string(line.substr(0, 80)) + "' in line " + std::to_string(number) +
                  " of " + std::string(name),
              expected, remedy);
}

// Collects hosts and their slots in order of first appearance, fast even for ten thousand hosts
// with a hundred lines each.
class HostCounter {
 public:
  // More slots than any machine has, hence a damaged number. Keeps sums within an int.
  static constexpr int kMaxSlots = 1 << 20;

  // False if the host would exceed kMaxSlots.
  bool add(std::string_view host, int slots) {
    const auto [known, is_new] = places_.emplace(host, nodefile_.hosts.size());
    if (is_new) {
      nodefile_.hosts.emplace_back(host);
      nodefile_.slots.push_back(0);
      nodefile_.users.emplace_back();
    }
    int& sum = nodefile_.slots[known->second];
    if (slots > kMaxSlots - sum) return false;
    sum += slots;
    return true;
  }

  // For a host that has been added. False if another line names another user.
  bool set_user(std::string_view host, std::string_view user) {
    std::string& known = nodefile_.users[places_.at(std::string(host))];
    if (!known.empty() && known != user) return false;
    known = user;
    return true;
  }

  Nodefile take() { return std::move(nodefile_); }

 private:
  Nodefile nodefile_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace hpcboot

#include "hpcboot/hostfile.hpp"

#include <algorithm>
#include <string>

#include "core/contains.hpp"
#include "host_lines.hpp"

// Open MPI's grammar: orte/util/hostfile and prte/util/hostfile (the keys are in hostfile_lex.l,
// "-" and "_" in them are the same; spaces around "=" allowed; "user@host"). MPICH's: src/pm/hydra,
// "host:processes", and settings such as user=, binding= and ifname= after it.
namespace hpcboot {
namespace {

// What else the launchers know. Both refuse other keys: most are mistakes, such as gpus=.
bool is_of_no_interest(std::string_view key) {
  return contains({"boards", "sockets", "sockets_per_board", "cores", "cores_per_socket", "cpu_set",
                   "port", "binding", "ifname"},
                  key);
}

class Line {
 public:
  Line(std::string_view text, int number, std::string_view file)
      : text_(text), rest_(text), number_(number), file_(file) {}

  void add_to(HostCounter& counter) {
    std::string_view host = next_word();
    std::string_view user;
    int slots = 1;
    if (const std::size_t at = host.find('@'); at != std::string_view::npos) {
      user = user_of(host.substr(0, at));
      host.remove_prefix(at + 1);
      if (host.empty()) fail();
    }
    if (host.front() == '[') {
      const std::size_t close = host.find(']');
      if (close == std::string_view::npos) fail();
      std::string_view after = host.substr(close + 1);
      host = host.substr(1, close - 1);
      if (!after.empty()) slots = count_after_colon(after);
    } else if (const std::size_t colon = host.find(':');
               colon != std::string_view::npos &&
               host.find(':', colon + 1) == std::string_view::npos) {
      slots = count_after_colon(host.substr(colon));
      host = host.substr(0, colon);
    }
    if (!is_host(host)) fail();
    read_settings(slots, user);
    if (!counter.add(host, slots)) fail();
    if (!user.empty() && !counter.set_user(host, user))
      fail("the same user in every line of a host", "give each host one user");
  }

 private:
  [[noreturn]] void fail(
      const char* expected = "a line such as 'n1 slots=4 max_slots=8' (Open MPI) or 'n1:4' (MPICH)",
      const char* remedy = "correct that line, or write one host name per line") const {
    fail_line(text_, number_, file_, expected, remedy);
  }

  std::string_view user_of(std::string_view word) const {
    if (is_user(word)) return word;
    fail("a user name: a letter or _, then letters, digits, '.', '_' or '-', at most 64",
         "correct the user, or leave it out and put it into ~/.ssh/config");
  }

  // A word ends at a space or "="; "=" itself is a word.
  std::string_view next_word() {
    rest_ = trim(rest_);
    if (rest_.empty()) return {};
    const std::size_t length =
        rest_.front() == '=' ? 1 : std::min(rest_.find_first_of(" \t="), rest_.size());
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return word;
  }

  int number_of(std::string_view word, int minimum) const {
    const auto value = parse_whole_number(word);
    if (!value || *value < minimum || *value > HostCounter::kMaxSlots) fail();
    return static_cast<int>(*value);
  }

  int count_after_colon(std::string_view text) const {
    if (text.front() != ':') fail();
    return number_of(text.substr(1), 1);
  }

  void read_settings(int& slots, std::string_view& user) {
    std::optional<int> max_slots;
    for (std::string_view word = next_word(); !word.empty(); word = next_word()) {
      if (!is_host(word) || next_word() != "=") fail();
      const std::string_view value = next_word();
      if (value.empty() || value == "=") fail();
      std::string key(word);
      std::replace(key.begin(), key.end(), '-', '_');
      if (contains({"slots", "cpu", "count"}, key)) {
        slots = number_of(value, 1);
      } else if (contains(
                     {"max_slots", "slots_max", "max_cpu", "cpu_max", "max_count", "count_max"},
                     key)) {
        max_slots = number_of(value, 1);
      } else if (contains({"username", "user_name", "user"}, key)) {
        user = user_of(value);
      } else if (!is_of_no_interest(key)) {
        fail(
            "a setting of Open MPI or MPICH, such as slots=4, max_slots=8 or user=me",
            "correct that line; slots= is the number of ranks of a host, usually that of its GPUs");
      }
    }
    if (max_slots && *max_slots < slots) fail();
  }

  std::string_view text_;
  std::string_view rest_;
  int number_;
  std::string_view file_;
};

}  // namespace

Nodefile parse_hostfile(std::string_view text, std::string_view name) {
  HostCounter counter;
  for_each_line(text, [&](std::string_view line, int number) {
    const std::string_view entry = trim(line.substr(0, line.find('#')));
    if (!entry.empty()) Line(entry, number, name).add_to(counter);
  });
  return counter.take();
}

}  // namespace hpcboot

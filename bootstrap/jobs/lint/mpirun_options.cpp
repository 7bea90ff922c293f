#include "mpirun_options.hpp"

#include <algorithm>
#include <string_view>

namespace hpcboot::lint {
namespace {

// Options of Open MPI, Hydra and Intel MPI: those without a value, with one, and with two.
constexpr std::string_view kFlags =
    " oversubscribe nooversubscribe verbose v quiet q tag-output timestamp display-map "
    "report-bindings display-allocation allow-run-as-root pernode nolocal bind-to-core bycore "
    "bynode byslot l prepend-rank genvall genvnone ";
constexpr std::string_view kValues =
    " n np c N npernode ppn perhost host hosts H hostfile machinefile f map-by rank-by bind-to x "
    "wdir wd output-filename prefix path launcher bootstrap iface rmk genvlist envlist tune am "
    "stdin timeout cpus-per-proc npersocket ";
constexpr std::string_view kPairs = " mca gmca prtemca genv env ";

bool is_option(const std::string& word) {
  return word.find_first_not_of('-') != std::string::npos && word.front() == '-';
}

// With its values; 0: unknown.
std::size_t words_of_option(const std::string& word) {
  if (word.find('=') != std::string::npos) return 1;
  const std::string name = ' ' + word.substr(word.find_first_not_of('-')) + ' ';
  const auto is_in = [&](std::string_view names) {
    return names.find(name) != std::string_view::npos;
  };
  return is_in(kFlags) ? 1 : is_in(kValues) ? 2 : is_in(kPairs) ? 3 : 0;
}

}  // namespace

void read_mpirun_options(LaunchCommand& launch) {
  const auto& words = launch.command->words;
  std::size_t i = launch.first + 1;
  while (i < words.size() && is_option(words[i].text)) {
    const std::size_t used = words_of_option(words[i].text);
    // What follows an unknown option may be its value, or the program.
    const bool is_followed_by_option = i + 1 < words.size() && words[i + 1].text.rfind('-', 0) == 0;
    if (used == 0 && !is_followed_by_option) launch.has_all_options = false;
    i += std::max<std::size_t>(used, 1);
  }
  if (i >= words.size() || words[i].text.rfind('$', 0) == 0) launch.has_all_options = false;
  launch.program = launch.has_all_options ? i : words.size();
}

}  // namespace hpcboot::lint

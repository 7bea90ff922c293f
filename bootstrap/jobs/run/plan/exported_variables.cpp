#include "exported_variables.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/contains.hpp"
#include "core/device_mask.hpp"

namespace hpcboot::run {
namespace {

// Each is wrong on another host or in another session, or the login there sets its own. A name that
// ends in * is a prefix.
constexpr std::string_view kOfAHostOrSession[] = {"_",
                                                  "COLORTERM",
                                                  "COLUMNS",
                                                  "DBUS_*",
                                                  "DISPLAY",
                                                  "GPG_*",
                                                  "HISTFILE",
                                                  "HOME",
                                                  "HOST",
                                                  "HOSTNAME",
                                                  "HOSTTYPE",
                                                  "INVOCATION_ID",
                                                  "JOURNAL_STREAM",
                                                  "KRB5CCNAME",
                                                  "LESSCLOSE",
                                                  "LESSOPEN",
                                                  "LINES",
                                                  "LISTEN_*",
                                                  "LOGNAME",
                                                  "LS_COLORS",
                                                  "MACHTYPE",
                                                  "MAIL",
                                                  "MANAGERPID",
                                                  "NOTIFY_SOCKET",
                                                  "OLDPWD",
                                                  "OSTYPE",
                                                  "PS1",
                                                  "PS2",
                                                  "PWD",
                                                  "SHELL",
                                                  "SHLVL",
                                                  "SSH_*",
                                                  "STY",
                                                  "SUDO_*",
                                                  "SYSTEMD_*",
                                                  "TERM*",
                                                  "TMUX*",
                                                  "USER",
                                                  "VTE_*",
                                                  "WAYLAND_DISPLAY",
                                                  "WINDOWID",
                                                  "XAUTHORITY",
                                                  "XDG_RUNTIME_DIR",
                                                  "XDG_SEAT*",
                                                  "XDG_SESSION_*",
                                                  "XDG_VTNR"};

// A scheduler sets these for one host: its folder, its devices, its daemon's number.
constexpr std::string_view kOfAHostInAJob[] = {
    "PBS_JOBCOOKIE", "PBS_MOMPORT",      "PBS_NODENUM", "PBS_TASKNUM", "SLURMD_*", "SLURM_HOSTFILE",
    "SLURM_NODEID",  "SLURM_TOPOLOGY_*", "TEMP",        "TMP",         "TMPDIR"};

// mpirun of Open MPI reads these itself and forwards them in its own way.
constexpr std::string_view kOfOpenMpi[] = {"OMPI_MCA_*", "PMIX_MCA_*", "PRTE_MCA_*"};

template <std::size_t N>
bool is_among(std::string_view name, const std::string_view (&patterns)[N]) {
  return std::any_of(std::begin(patterns), std::end(patterns), [&](std::string_view pattern) {
    if (pattern.back() != '*') return name == pattern;
    pattern.remove_suffix(1);
    return name.substr(0, pattern.size()) == pattern;
  });
}

bool is_mask(std::string_view name) {
  const auto& masks = device_masks::kMasks;
  return name == "GPU_DEVICE_ORDINAL" || contains(masks, name);
}

}  // namespace

bool is_variable_name(const std::string& name) {
  const auto is_letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::vector<std::string> exported_variables(const Surroundings& s, Launcher launcher,
                                            const std::vector<std::string>& unset) {
  const bool is_in_a_job = s.allocation && !s.allocation->scheduler.empty();
  std::vector<std::string> names;
  for (const auto& [name, value] : s.env.variables()) {
    if (!is_variable_name(name) || is_among(name, kOfAHostOrSession) ||
        (is_in_a_job && (is_among(name, kOfAHostInAJob) || is_mask(name))) ||
        (launcher == Launcher::openmpi && is_among(name, kOfOpenMpi)) || contains(unset, name))
      continue;
    names.push_back(name);
  }
  return names;
}

}  // namespace hpcboot::run

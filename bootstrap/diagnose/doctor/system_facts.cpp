#include <netinet/in.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "core/ancestors.hpp"
#include "core/contains.hpp"
#include "core/cpu_quota.hpp"
#include "core/file_system.hpp"
#include "core/name_lookup.hpp"
#include "core/schedulers/read_file.hpp"
#include "hpcboot/doctor.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/key_value_store.hpp"
#include "hpcboot/launch_source.hpp"
#include "programs.hpp"
#include "torch_version.hpp"

namespace hpcboot {
namespace {

// nullopt, and noted, if no name server answers, or the limits allow no thread that asks one.
std::optional<std::vector<std::string>> addresses_of(const std::string& name, SystemFacts& system) {
  auto& unanswered = system.unanswered_names;
  if (contains(unanswered, name)) return std::nullopt;
  try {
    const auto lookup = look_up_name(name, 0, kLongestLookup);
    if (lookup->is_answered()) return lookup->addresses();
    unanswered.push_back(name);
  } catch (const Error& error) {
    system.thread_error = error;
  }
  return std::nullopt;
}

// nullopt if it cannot be determined.
std::optional<bool> is_taken(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::nullopt;
  // As servers do: a lingering connection of the last run does not occupy the port.
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const int result = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  close(fd);
  if (result == 0) return false;
  return error == EADDRINUSE ? std::optional<bool>(true) : std::nullopt;
}

// Leaves nothing behind. The file's timestamp comes from the file system's clock.
void try_to_write(FolderFacts& folder) {
  std::string name = folder.path + "/.hpcboot-doctor-XXXXXX";
  timespec before{};
  timespec after{};
  clock_gettime(CLOCK_REALTIME, &before);
  const int fd = mkstemp(name.data());
  if (fd < 0) return;
  folder.writable = write(fd, "x", 1) == 1;
  struct stat status {};
  const bool has_time = fsync(fd) == 0 && fstat(fd, &status) == 0;
  clock_gettime(CLOCK_REALTIME, &after);
  unlink(name.c_str());
  close(fd);
  if (!has_time) return;
  const auto seconds = [](const timespec& t) {
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double stamp = seconds(status.st_mtim);
  // A stamp between the two readings shows no skew.
  folder.clock_ahead_seconds = stamp < seconds(before)  ? stamp - seconds(before)
                               : stamp > seconds(after) ? stamp - seconds(after)
                                                        : 0;
}

std::optional<FolderFacts> look_at(const std::string& path, bool write) {
  struct statfs status {};
  if (statfs(path.c_str(), &status) != 0) return std::nullopt;
  FolderFacts folder;
  folder.path = path;
  folder.free_bytes =
      static_cast<std::uint64_t>(status.f_bavail) * static_cast<std::uint64_t>(status.f_bsize);
  const FileSystem system = file_system_of(status);
  folder.file_system = system.name;
  folder.local = system.seen_by == SeenBy::this_host;
  if (write) try_to_write(folder);
  return folder;
}

// Before the first run the folder does not exist yet: it will be made in the nearest one above that
// does.
FolderFacts look_at_runs(const std::string& asked) {
  const auto failed = [&](int error) {
    FolderFacts folder;
    folder.path = asked;
    folder.error = std::strerror(error);
    return folder;
  };
  std::filesystem::path nearest = asked;
  struct stat status {};
  while (::stat(nearest.c_str(), &status) != 0) {
    const int error = errno;
    // A link to nothing is in the way, too.
    if (error != ENOENT || ::lstat(nearest.c_str(), &status) == 0) return failed(error);
    nearest = nearest.parent_path();
    if (nearest.empty()) nearest = ".";
  }
  if (!S_ISDIR(status.st_mode)) return failed(ENOTDIR);
  auto folder = look_at(doctor::real_path(nearest), true);
  if (!folder) return failed(errno);
  if (nearest != asked) folder->not_made_yet = asked;
  return *folder;
}

std::optional<std::uint64_t> soft_limit(decltype(RLIMIT_NOFILE) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return std::nullopt;
  return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : static_cast<std::uint64_t>(limit.rlim_cur);
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 …"
std::string nvidia_driver() {
  const auto text = read_file("/proc/driver/nvidia/version");
  if (!text) return "";
  std::istringstream words(*text);
  for (std::string word; words >> word;) {
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  }
  return "of unknown version";
}

// Whether rank 0 would open its store on this host: not if the launcher serves one.
bool would_serve_here(const Resolution& r) {
  return r.placement.rank == 0 && !traits_of(r.launcher).serves_a_store &&
         r.master_port.has_value();
}

}  // namespace

SystemFacts look_up_system(const Situation& situation, const std::string& runs_folder) {
  SystemFacts system;
  system.kvs = offered_kvs(situation.env);
  try {
    system.kvs_library = load_kvs_library(situation.env);
  } catch (const Error& error) {
    system.kvs_error = error;
  }
  system.is_root = ::geteuid() == 0;
  system.mpirun = doctor::mpirun_in_path(situation.env);
  const auto ancestors = ancestors_of_this_process(situation.env, situation.facts.hostname);
  system.mpi_launcher = doctor::mpi_launcher_above(ancestors);
  if (situation.resolution && situation.resolution->launcher == "torchrun")
    system.torchrun = doctor::torch_version_above(ancestors);
  if (situation.facts.hostname)
    system.own_addresses = addresses_of(*situation.facts.hostname, system);
  if (situation.resolution) {
    const Resolution& r = *situation.resolution;
    if (r.master_addr) {
      if (const auto addresses = addresses_of(*r.master_addr, system))
        system.master_resolves = !addresses->empty();
    }
    if (would_serve_here(r)) system.master_port_taken = is_taken(*r.master_port);
  }
  if (const auto range = read_file("/proc/sys/net/ipv4/ip_local_port_range")) {
    int first = 0;
    int last = 0;
    if (std::istringstream(*range) >> first >> last) {
      system.first_ephemeral_port = first;
      system.last_ephemeral_port = last;
    }
  }
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) system.usable_cores = CPU_COUNT(&cores);
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  if (online > 0) system.all_cores = static_cast<int>(online);
  system.quota_cores = cpus_of_quota();
  system.work_folder = look_at(doctor::real_path("."), false);
  system.runs_folder = look_at_runs(runs_folder);
  timex clock{};
  const int state = adjtimex(&clock);
  if (state >= 0) system.clock_synchronised = (clock.status & STA_UNSYNC) == 0;
  system.nvidia_driver = nvidia_driver();
  system.has_infiniband = access("/dev/infiniband", F_OK) == 0;
  system.open_files_limit = soft_limit(RLIMIT_NOFILE);
  system.locked_bytes_limit = soft_limit(RLIMIT_MEMLOCK);
  return system;
}

}  // namespace hpcboot

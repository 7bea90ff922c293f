#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hpcboot/env.hpp"
#include "hpcboot/facts.hpp"
#include "hpcboot/launch_source.hpp"
#include "hpcboot/scheduler.hpp"

// A launcher that only sets variables, as data: a file NAME.toml in this folder, compiled into a
// table (shipped.hpp), or a user's file. bootstrap/README.md documents the files.
namespace hpcboot {

// A view of a table, which must outlive it.
template <typename T>
class View {
 public:
  constexpr View() = default;
  constexpr View(const T* first, std::size_t size) : first_(first), size_(size) {}
  template <std::size_t N>
  // NOLINTNEXTLINE(google-explicit-constructor): a table converts to its view
  constexpr View(const T (&table)[N]) : first_(table), size_(N) {}

  constexpr const T* begin() const { return first_; }
  constexpr const T* end() const { return first_ + size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr std::size_t size() const { return size_; }

 private:
  const T* first_ = nullptr;
  std::size_t size_ = 0;
};

using NameView = View<std::string_view>;

struct VariableValue {
  std::string_view variable;
  std::string_view value;
};
using ValueView = View<VariableValue>;

// How a list of hosts is written.
enum class HostForm {
  commas,     // n1,n2
  spaces,     // n1 n2
  lines,      // one on each line
  slurm,      // n[1-2]
  endpoints,  // n1:6170,n2:6170: HOST:PORT of every process
};

struct HostsDescription {
  std::string_view variable;  // empty: no list in the environment
  HostForm form = HostForm::commas;
};

// Which variables read() uses. If a number has several variables, the first that is set counts.
struct LauncherDescription {
  // The launcher is present if all of all_of and one of any_of (unless empty) are set, and all of
  // equals match. It did not place this process if one of none_of is set, or one of differs
  // matches.
  NameView all_of, any_of, none_of;
  ValueView equals, differs;
  NameView rank, world_size, local_rank, local_size, node_rank, num_nodes;
  HostsDescription hosts;
  std::string_view master_address, master_port;
  std::string_view master_endpoint;  // HOST:PORT instead of both
  ValueView master_only_if;          // the address is rank 0's only if all of these match
  NameView launch_id;                // equal on all ranks, and differs between launches
};

// A scheduler's job, as data: which variables Scheduler::read() uses.
struct JobDescription {
  std::string_view id;  // the variable that names the job
  NameView distinct;    // distinguish runs with the same id: array index, restart
  HostsDescription hosts;
  std::string_view nodefile;   // the variable that names a file with a host on each line
  std::string_view num_tasks;  // the variable with the total number of processes requested
};

// The hosts of such a list, duplicates included; endpoints without their ports.
// @throws Error{malformed_value, malformed_hostlist} naming the variable
std::vector<std::string> parse_hosts(std::string_view text, const HostsDescription& hosts);

// Each host once, in order of first appearance.
std::vector<std::string> unique_hosts(const std::vector<std::string>& list);

// Implement LaunchSource::detect() and read() for a described launcher.
Detection detect_described(const LauncherDescription& launcher, const Env& env);
LaunchFacts read_described(const LaunchSource& launcher, const Env& env);

// Implements Scheduler::read() for a described scheduler.
std::optional<Allocation> read_described(const Scheduler& scheduler, const Env& env,
                                         const AllocationOptions& options);

}  // namespace hpcboot

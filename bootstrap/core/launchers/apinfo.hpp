#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcboot {

// The application table that HPE's launchers write for Cray PMI, on every node, into the file named
// by PALS_APINFO: which process runs where. The file contains the structures as laid out in memory
// (x86-64 and aarch64 Linux: little-endian, int of 4 bytes, size_t of 8, natural alignment).
// Sources of the layout: Slurm, src/plugins/mpi/cray_shasta/apinfo.h (version 1 up to 21.08, then
// 5), and flux-coral2, src/common/libapinfo/apinfo1.h and apinfo5.h, which writes either.
struct Apinfo {
  struct Process {
    int local_rank;
    int node;  // index into hosts
  };

  int version = 0;
  std::vector<Process> processes;  // by rank
  std::vector<std::string> hosts;  // by node
  std::vector<int> local_sizes;    // processes on each of hosts
};

// @param name the file name, for messages
// @throws Error{malformed_file} unless the table is complete and consistent: a version other than 1
// and 5, a section outside the file, a process on a missing node, or local ranks that do not number
// a node's processes.
Apinfo parse_apinfo(std::string_view bytes, std::string_view name);

}  // namespace hpcboot

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hpcboot::test {

// The bytes of a PALS_APINFO file, in the form in which Slurm's and Flux's plugins write it.
// @param node_of_rank the index in hosts of each rank's host; local ranks count up on each host.
inline std::string apinfo_file(int version, const std::vector<std::string>& hosts,
                               const std::vector<int>& node_of_rank) {
  std::string bytes;
  const auto put = [&](std::uint64_t value, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xffU);
  };
  const auto put_int = [&](std::uint64_t value) { put(value, 4); };
  // An int before a size_t is padded to 8 bytes.
  const auto put_padded = [&](std::uint64_t value) { put(value, 8); };
  const std::uint64_t header = version == 1 ? 136 : 160;
  const std::uint64_t cmds = header;
  const std::uint64_t pes = cmds + 12;
  const std::uint64_t nodes = pes + 12 * node_of_rank.size();
  const std::uint64_t end = nodes + 68 * hosts.size();
  put_padded(static_cast<std::uint64_t>(version));
  put(end, 8);
  for (const std::uint64_t field : {std::uint64_t{version == 1 ? 52U : 36U}, header}) put(field, 8);
  put_padded(0);  // no communication profiles
  for (const std::uint64_t field : {std::uint64_t{12}, cmds}) put(field, 8);
  put_padded(1);
  for (const std::uint64_t field : {std::uint64_t{12}, pes}) put(field, 8);
  put_padded(node_of_rank.size());
  for (const std::uint64_t field : {std::uint64_t{68}, nodes}) put(field, 8);
  put_padded(hosts.size());
  for (const std::uint64_t field : {std::uint64_t{version == 1 ? 48U : 112U}, end}) put(field, 8);
  put_padded(0);  // no network interfaces
  if (version == 5) bytes.append(24, '\0');
  for (const std::uint64_t field : {node_of_rank.size(), std::size_t{1}, std::size_t{1}})
    put_int(field);
  std::vector<std::uint64_t> next(hosts.size(), 0);
  for (const int node : node_of_rank) {
    put_int(next[static_cast<std::size_t>(node)]++);
    put_int(0);
    put_int(static_cast<std::uint64_t>(node));
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    put_int(i);
    bytes += hosts[i] + std::string(64 - hosts[i].size(), '\0');
  }
  return bytes;
}

}  // namespace hpcboot::test

#include "apinfo.hpp"

#include <algorithm>
#include <cstdint>

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

// Offsets in the header that both versions share; version 5 appends three fields.
constexpr std::size_t kVersion = 0;
constexpr std::size_t kTotalSize = 8;
constexpr std::size_t kPeSize = 64;
constexpr std::size_t kPeOffset = 72;
constexpr std::size_t kNumPes = 80;
constexpr std::size_t kNodeSize = 88;
constexpr std::size_t kNodeOffset = 96;
constexpr std::size_t kNumNodes = 104;
constexpr std::size_t kHeaderSize1 = 136;
constexpr std::size_t kHeaderSize5 = 160;

// A process is {int local index, int command, int node}, a node {int id, char hostname[64]}.
constexpr std::size_t kMinPeSize = 12;
constexpr std::size_t kPeNode = 8;
constexpr std::size_t kNodeName = 4;

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  Apinfo read() {
    require(bytes_.size() >= kHeaderSize1, "it is too short for a header");
    Apinfo apinfo;
    apinfo.version = static_cast<int>(integer(kVersion));
    require(apinfo.version == 1 || apinfo.version == 5,
            "it has version " + std::to_string(apinfo.version));
    const std::size_t header = apinfo.version == 1 ? kHeaderSize1 : kHeaderSize5;
    const std::uint64_t total = size(kTotalSize);
    require(total >= header && total <= bytes_.size(),
            "its header declares " + std::to_string(total) + " bytes, but it has " +
                std::to_string(bytes_.size()));
    bytes_ = bytes_.substr(0, static_cast<std::size_t>(total));
    read_nodes(apinfo);
    read_processes(apinfo);
    return apinfo;
  }

 private:
  struct Section {
    std::size_t begin;
    std::size_t stride;
    std::size_t count;
  };

  void require(bool holds, const std::string& what) const {
    if (holds) return;
    throw Error(ErrorCode::malformed_file, std::string(name_) + " (PALS_APINFO): " + what,
                "a complete application table, version 1 or 5, as written by PALS, Slurm or Flux",
                "start the program with mpiexec again, or unset PALS_APINFO");
  }

  std::uint64_t little_endian(std::size_t offset, std::size_t length) const {
    std::uint64_t value = 0;
    for (std::size_t i = length; i-- > 0;)
      value = value << 8U | static_cast<unsigned char>(bytes_[offset + i]);
    return value;
  }

  std::int32_t integer(std::size_t offset) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(little_endian(offset, 4)));
  }

  std::uint64_t size(std::size_t offset) const { return little_endian(offset, 8); }

  // An array of `count` elements, all of it within the file.
  Section section(const char* what, std::size_t stride_at, std::size_t offset_at,
                  std::size_t count_at, std::size_t min_stride) const {
    const std::uint64_t stride = size(stride_at);
    const std::uint64_t offset = size(offset_at);
    const std::int32_t count = integer(count_at);
    std::uint64_t length = 0;
    std::uint64_t end = 0;
    require(
        count >= 1 && stride >= min_stride &&
            !__builtin_mul_overflow(stride, static_cast<std::uint64_t>(count), &length) &&
            !__builtin_add_overflow(offset, length, &end) && end <= bytes_.size(),
        std::string("its table of ") + what + " is invalid or extends beyond the end of the file");
    return {static_cast<std::size_t>(offset), static_cast<std::size_t>(stride),
            static_cast<std::size_t>(count)};
  }

  void read_nodes(Apinfo& apinfo) const {
    const Section nodes = section("nodes", kNodeSize, kNodeOffset, kNumNodes, kNodeName + 2);
    for (std::size_t i = 0; i < nodes.count; ++i) {
      std::string_view name = bytes_.substr(nodes.begin + i * nodes.stride, nodes.stride);
      name.remove_prefix(kNodeName);
      name = name.substr(0, name.find('\0'));
      const bool is_host = !name.empty() && std::all_of(name.begin(), name.end(),
                                                        [](char c) { return c > ' ' && c < 127; });
      require(is_host, "node " + std::to_string(i) + " has no valid host name");
      apinfo.hosts.emplace_back(name);
    }
  }

  void read_processes(Apinfo& apinfo) const {
    const Section pes = section("processes", kPeSize, kPeOffset, kNumPes, kMinPeSize);
    apinfo.local_sizes.assign(apinfo.hosts.size(), 0);
    for (std::size_t rank = 0; rank < pes.count; ++rank) {
      const std::size_t at = pes.begin + rank * pes.stride;
      const Apinfo::Process process{integer(at), integer(at + kPeNode)};
      require(process.node >= 0 && static_cast<std::size_t>(process.node) < apinfo.hosts.size(),
              "process " + std::to_string(rank) + " is on node " + std::to_string(process.node) +
                  ", but there are " + std::to_string(apinfo.hosts.size()) + " nodes");
      ++apinfo.local_sizes[static_cast<std::size_t>(process.node)];
      apinfo.processes.push_back(process);
    }
    // `taken` has one entry per local rank, grouped by node.
    std::vector<std::size_t> first_place(apinfo.hosts.size(), 0);
    for (std::size_t node = 1; node < first_place.size(); ++node) {
      first_place[node] =
          first_place[node - 1] + static_cast<std::size_t>(apinfo.local_sizes[node - 1]);
    }
    std::vector<bool> taken(apinfo.processes.size(), false);
    for (std::size_t rank = 0; rank < apinfo.processes.size(); ++rank) {
      const Apinfo::Process& process = apinfo.processes[rank];
      const auto node = static_cast<std::size_t>(process.node);
      const bool in_range =
          process.local_rank >= 0 && process.local_rank < apinfo.local_sizes[node];
      const std::size_t place =
          in_range ? first_place[node] + static_cast<std::size_t>(process.local_rank) : 0;
      require(in_range && !taken[place],
              "process " + std::to_string(rank) + " has local rank " +
                  std::to_string(process.local_rank) + ", out of range or duplicate among the " +
                  std::to_string(apinfo.local_sizes[node]) + " processes of its node");
      taken[place] = true;
    }
  }

  std::string_view bytes_;
  std::string_view name_;
};

}  // namespace

Apinfo parse_apinfo(std::string_view bytes, std::string_view name) {
  return Reader(bytes, name).read();
}

}  // namespace hpcboot

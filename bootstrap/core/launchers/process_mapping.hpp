#pragma once

#include <string_view>
#include <vector>

namespace hpcboot {

// Which node each rank runs on, in the form that PMI-1 publishes as PMI_process_mapping and Slurm's
// mpi/pmix plugin as SLURM_PMIX_MAPPING_SERV: "(vector,(first,nodes,ranks),…)". Each block assigns
// `ranks` ranks to each of `nodes` nodes, starting at `first`; remaining ranks repeat the blocks
// from the first (MPICH, src/pmi: the node map is "cyclic" in this sense). MPICH 4.1 and later also
// writes a bare node number for one rank there, and [blocks]xN to repeat blocks N times. Ranks are
// not expanded, so a damaged number costs no memory.
class ProcessMapping {
 public:
  // @param variable for messages. @throws Error{malformed_value}
  static ProcessMapping parse(std::string_view text, std::string_view variable);

  int size() const { return size_; }  // ranks of one round through the blocks
  int node_of(int rank) const;
  int local_rank_of(int rank) const;
  int local_size(int node, int world_size) const;

 private:
  struct Block {
    int first_node;
    int nodes;
    int ranks_per_node;
    int first_rank;  // within a round

    int ranks() const { return nodes * ranks_per_node; }
  };

  int ranks_before(int rank, int node) const;

  std::vector<Block> blocks_;
  int size_ = 0;
};

}  // namespace hpcboot

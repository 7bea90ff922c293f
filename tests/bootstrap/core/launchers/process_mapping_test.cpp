#include "core/launchers/process_mapping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace hpcboot {
namespace {

using test::expect_error;
using testing::ElementsAre;

std::vector<int> nodes_of(const std::string& text, int world_size) {
  const ProcessMapping mapping = ProcessMapping::parse(text, "PMI_process_mapping");
  std::vector<int> nodes;
  for (int rank = 0; rank < world_size; ++rank) nodes.push_back(mapping.node_of(rank));
  return nodes;
}

TEST(ProcessMapping, NodesOfRanks) {
  EXPECT_THAT(nodes_of("(vector,(0,2,2))", 4), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(nodes_of("(vector,(0,3,1),(0,1,1))", 4), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(nodes_of("(vector,(0,1,3),(1,1,1))", 4), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(nodes_of("( vector , ( 2 , 1 , 1 ) , (0,2,1) )", 3), ElementsAre(2, 0, 1));
}

// As written by MPICH 4.1.3, 4.3.2 and 5.0.2 for the layouts in the comments.
TEST(ProcessMapping, TheFormsOfNewerMpich) {
  EXPECT_THAT(nodes_of("(vector,[(0,2,1)]x2)", 4), ElementsAre(0, 1, 0, 1));  // cyclic
  EXPECT_THAT(nodes_of("(vector,(0,1,3),1)", 4), ElementsAre(0, 0, 0, 1));    // 3+1
  EXPECT_THAT(nodes_of("(vector,0,(1,1,2))", 3), ElementsAre(0, 1, 1));       // 1+2
  EXPECT_THAT(nodes_of("(vector,0,(1,1,2),2)", 4), ElementsAre(0, 1, 1, 2));  // 1+2+1
  EXPECT_THAT(nodes_of("(vector,(0,2,2),(0,1,2),1)", 7), ElementsAre(0, 0, 1, 1, 0, 0, 1));
  EXPECT_THAT(nodes_of("(vector,[(0,3,1)]x2,0)", 7), ElementsAre(0, 1, 2, 0, 1, 2, 0));
  EXPECT_THAT(nodes_of("(vector,[0,(1,1,2)]x2)", 6), ElementsAre(0, 1, 1, 0, 1, 1));
}

// MPICH repeats the blocks for ranks beyond them: (0,2,1) is round robin.
TEST(ProcessMapping, BlocksBeginAgainForFurtherRanks) {
  EXPECT_THAT(nodes_of("(vector,(0,2,1))", 5), ElementsAre(0, 1, 0, 1, 0));
  const ProcessMapping mapping = ProcessMapping::parse("(vector,(0,2,1))", "v");
  EXPECT_EQ(mapping.local_rank_of(4), 2);
  EXPECT_EQ(mapping.local_size(0, 5), 3);
  EXPECT_EQ(mapping.local_size(1, 5), 2);
}

// Compares local ranks and sizes with counting one by one.
TEST(ProcessMapping, LocalRanksCountUpOnEachNode) {
  for (const char* text :
       {"(vector,(0,2,2))", "(vector,(0,3,1),(0,3,2))", "(vector,(1,2,3),(0,1,1),(0,3,1))",
        "(vector,(5,1,2))", "(vector,(0,1,1),(1,1,4),(0,2,1))"}) {
    const ProcessMapping mapping = ProcessMapping::parse(text, "v");
    for (const int world_size : {mapping.size(), 2 * mapping.size(), 2 * mapping.size() + 1}) {
      std::map<int, int> count;
      for (int rank = 0; rank < world_size; ++rank)
        EXPECT_EQ(mapping.local_rank_of(rank), count[mapping.node_of(rank)]++) << text;
      for (const auto& [node, size] : count)
        EXPECT_EQ(mapping.local_size(node, world_size), size) << text;
    }
  }
}

TEST(ProcessMapping, HugeCountsCostNothing) {
  const ProcessMapping mapping = ProcessMapping::parse("(vector,(0,1000000,2000))", "v");
  EXPECT_EQ(mapping.size(), 2000000000);
  EXPECT_EQ(mapping.node_of(1999999999), 999999);
  EXPECT_EQ(mapping.local_rank_of(1999999999), 1999);
}

TEST(ProcessMapping, AnythingElseIsAnErrorThatNamesTheVariable) {
  for (const char* bad : {"",
                          "(",
                          "vector",
                          "(vector)",
                          "(vector,)",
                          "(vector,(0,2))",
                          "(vector,(0,2,2)",
                          "(vector,(0,2,2))x",
                          "(vector,(0,0,2))",
                          "(vector,(0,2,0))",
                          "(vector,(-1,2,2))",
                          "(vector,(0,2,2),)",
                          "(vector(0,2,2))",
                          "(vector,(0,2147483647,2))",
                          "(vector,(2147483647,1,1))",
                          "(vector,(0,99999999999999999999,1))",
                          "(matrix,(0,2,2))",
                          "(vector,-1)",
                          "(vector,[0]x0)",
                          "(vector,[0]x)",
                          "(vector,[0)",
                          "(vector,[]x2)",
                          "(vector,[0]x2147483647)",
                          "(vector,[[0]x2]x2)",
                          "(vector,[0,]x2)"}) {
    expect_error(
        ErrorCode::malformed_value, [&] { ProcessMapping::parse(bad, "SLURM_PMIX_MAPPING_SERV"); },
        "SLURM_PMIX_MAPPING_SERV");
  }
  const std::string whole = "(vector,(0,2,2),(2,1,4))";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    expect_error(ErrorCode::malformed_value,
                 [&] { ProcessMapping::parse(whole.substr(0, length), "v"); });
  }
}

}  // namespace
}  // namespace hpcboot

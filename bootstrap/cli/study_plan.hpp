#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hpcboot/encode.hpp"
#include "options/option.hpp"
#include "text/table.hpp"

// A scaling study: the same program on several numbers of ranks, several times each.
namespace hpcboot::tool {

enum class Scaling {
  strong,  // the same work on more ranks
  weak     // as much work for each rank
};

struct StudyPlan {
  Scaling scaling = Scaling::strong;
  std::vector<int> ranks;
  int repeats = 3;
};

// @param program with its arguments
// @throws options::UsageError if an option is missing or wrong, or if the program's work does not
//         fit the scaling
StudyPlan study_plan(const options::po::variables_map& values,
                     const std::vector<std::string>& program);

// The program for so many ranks: "{ranks}" and "{1000*ranks}" in its arguments are replaced.
// @throws options::UsageError for a number that is too large
std::vector<std::string> scaled_program(const std::vector<std::string>& program, int ranks);

// One run of the study.
struct StudyRun {
  int ranks = 0;
  int exit_code = 0;
  double seconds = 0;  // from its start to its end
};

// Median times by number of ranks, with speed-up and efficiency, compared with the fewest ranks;
// only runs that ended with 0 count.
Encoded study_text(const StudyPlan& plan, const std::vector<StudyRun>& runs, const Look& look);

}  // namespace hpcboot::tool

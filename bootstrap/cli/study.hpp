#pragma once

#include "verbs.hpp"

namespace hpcboot::tool {

// `hpcboot run --study`: runs hpcboot run again and again, one run after the other, or submits a
// job for each. @return the exit code of the first run that failed, else 0
// @throws options::UsageError
int run_study(const Call& call);

}  // namespace hpcboot::tool

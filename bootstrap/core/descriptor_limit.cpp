#include "descriptor_limit.hpp"

#include <sys/resource.h>

namespace hpcboot {
namespace {

// A forked agent inherits these from its parent, which has already raised the limit.
bool is_raised = false;
rlim_t soft_before = 0;

}  // namespace

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || is_raised) return;
  is_raised = true;
  soft_before = before;
}

void restore_descriptor_limit() {
  rlimit limit{};
  if (!is_raised || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = soft_before;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace hpcboot

// README.md's lines of C++; in_c.c has those of C. tests/shell/readme.bats compares them.
#include <cstdio>
#include <hpcboot/bootstrap.hpp>

extern "C" int in_c(void);

int main() {
  const hpcboot::Env env = hpcboot::Env::from_process();
  const hpcboot::Resolution me = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
  std::printf("rank %d of %d", me.placement.rank, me.placement.world_size);
  std::printf(" by %s, device %d\n", me.launcher.c_str(), me.device.value_or(-1));
  std::printf("rank 0 is at %s\n", me.master_addr.value_or("an unknown address").c_str());
  return in_c();
}

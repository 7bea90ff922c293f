// One rank of bench/exchange_ranks: learns rank 0's endpoint over the launcher's exchange, as a
// program does if the environment lacks it, and prints "BEGIN END" in seconds of the clock that all
// processes of a machine share.
#include <chrono>
#include <cstdio>
#include <hpcboot/bootstrap.hpp>
#include <string>

namespace {

double now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

}  // namespace

int main() {
  const double begin = now();
  try {
    constexpr auto kDeadline = std::chrono::seconds(300);
    const hpcboot::Env env = hpcboot::Env::from_process();
    const hpcboot::Facts facts = hpcboot::Facts::of_this_process(env);
    const auto kvs = hpcboot::open_kvs(env, kDeadline);
    if (!kvs) {
      std::fprintf(stderr, "exchange_ranks: the launcher offers no exchange\n");
      return 1;
    }
    const auto me = hpcboot::resolve_with_kvs(env, facts, *kvs, kDeadline);
    if (me.placement.rank == 0) kvs->put("port", "29500");
    kvs->commit(kDeadline);
    kvs->get(0, "port", kDeadline);
    std::printf("%.6f %.6f\n", begin, now());
    std::fflush(stdout);
    kvs->fence(kDeadline);
  } catch (const hpcboot::Error& error) {
    std::fputs(hpcboot::format_error("exchange_ranks", error).c_str(), stderr);
    return error.exit_code();
  }
}

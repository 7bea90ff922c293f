#include "core/omp_threads.hpp"

namespace hpcboot {

std::optional<std::int64_t> omp_threads(const Env& env) {
  const std::string_view text = env.text("OMP_NUM_THREADS").value_or("");
  const auto threads = parse_whole_number(text.substr(0, text.find(',')));
  return threads && *threads >= 1 ? threads : std::nullopt;
}

bool has_omp_threads_of_a_chunk(const Env& env) {
  return env.has("OMP_NUM_THREADS") && env.text("OMP_NUM_THREADS") == env.text("NCPUS");
}

}  // namespace hpcboot

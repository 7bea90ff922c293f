#include "fuzz.hpp"
#include "hpcboot/export.hpp"
#include "hpcboot/hostlist.hpp"
#include "hpcboot/resolve.hpp"

namespace {

// Lists of up to kMaxHosts hosts are valid but slow: an input should take microseconds.
bool has_long_list(const hpcboot::Env& env) {
  bool is_long = false;
  for (const auto& [name, value] : env.variables()) {
    if (value.find('[') == std::string::npos) continue;
    hpcboot::fuzz::allow_error(
        [&, &list = value] { is_long = is_long || hpcboot::hostlist::count(list) > 1000; });
  }
  return is_long;
}

}  // namespace

// A dump of an environment, as for --env-file: a consistent answer, or an Error.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hpcboot;
  const Env env = Env::parse(fuzz::text_of(data, size));
  fuzz::require(Env::parse(env.dump()).variables() == env.variables(),
                "a dump reads back unchanged");
  if (has_long_list(env)) return -1;  // not kept in the corpus
  ResolveOptions options;
  options.allocation.read_files = false;
  // A captured environment without facts, or with facts.
  Facts facts;
  if (size % 2 == 0) {
    facts.hostname = "n1";
    facts.interfaces = {{"eth0", "10.0.0.1", false, true, 1000}};
    facts.pmi_fd_is_open_socket = size % 4 == 0;
    facts.device_count = 4;
    facts.device_distance = {{10, 20, 20, 10}};
    facts.user_id = 1000;
  }
  fuzz::allow_error([&] {
    const Resolution r = resolve(env, facts, options);
    validate(r.placement, r.launcher);
    fuzz::require(!r.launcher.empty(), "a launcher is named");
    if (r.master_port)
      fuzz::require(*r.master_port > 0 && *r.master_port < 65536, "a port from 1 to 65535");
    to_shell(torch_env(r, env));
  });
  return 0;
}

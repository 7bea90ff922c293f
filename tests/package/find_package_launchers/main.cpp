#include <cstdio>
#include <fstream>

#include "hpcboot/bootstrap.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/launcher_files.hpp"

// The consumer's own launcher, described as in bootstrap/README.md.
int main() {
  std::ofstream("siterun.toml")
      << "name = \"siterun\"\nlevel = \"MPI launcher\"\nwhy_here = \"a test\"\n"
         "set_by = \"siterun\"\ndocumented = \"nowhere\"\ncannot_know = \"nodes\"\n"
         "[read]\nrank = \"SITERUN_RANK\"\nworld_size = \"SITERUN_SIZE\"\n"
         "local_rank = \"SITERUN_LOCAL_RANK\"\n";
  try {
    hpcboot::add_launchers({hpcboot::read_launcher_file("siterun.toml")});
    const hpcboot::Env env =
        hpcboot::Env::parse("SITERUN_RANK=1\nSITERUN_SIZE=2\nSITERUN_LOCAL_RANK=0\n");
    const hpcboot::Resolution me = hpcboot::resolve(env, hpcboot::Facts{});
    std::printf("rank %d by %s\n", me.placement.rank, me.launcher.c_str());
    return me.launcher == "siterun" && me.placement.rank == 1 ? 0 : 1;
  } catch (const hpcboot::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}

// The program of the tests that need the ranks of a launch.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "hpcboot/error.hpp"
#include "hpcboot/resolve.hpp"
#include "torch/world.hpp"

std::unique_ptr<hpcboot::ProcessGroup> hpcboot::world;

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    const auto env = hpcboot::Env::from_process();
    const auto resolution = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
    hpcboot::world =
        std::make_unique<hpcboot::ProcessGroup>(hpcboot::make_process_group(resolution, env));
    std::cout << "rank " + std::to_string(hpcboot::world->rank()) + " of " +
                     std::to_string(hpcboot::world->world_size()) + ", " +
                     hpcboot::world->description() + "\n";
    const int failed = RUN_ALL_TESTS();
    hpcboot::world->shutdown();
    hpcboot::world.reset();
    return failed;
  } catch (const hpcboot::Error& error) {
    std::cerr << hpcboot::format_error("ddp_test", error);
    return error.exit_code();
  }
}

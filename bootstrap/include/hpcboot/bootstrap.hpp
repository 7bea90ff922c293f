#pragma once

/// Includes all of hpcboot::bootstrap. Example:
///
///     #include <hpcboot/bootstrap.hpp>
///
///     const hpcboot::Env env = hpcboot::Env::from_process();
///     const hpcboot::Resolution me = hpcboot::resolve(env, hpcboot::Facts::of_this_process(env));
///     std::printf("rank %d of %d by %s\n", me.placement.rank, me.placement.world_size,
///                 me.launcher.c_str());

#include "hpcboot/allocation.hpp"
#include "hpcboot/endpoint.hpp"
#include "hpcboot/env.hpp"
#include "hpcboot/error.hpp"
#include "hpcboot/export.hpp"
#include "hpcboot/facts.hpp"
#include "hpcboot/hostfile.hpp"
#include "hpcboot/hostlist.hpp"
#include "hpcboot/key_value_store.hpp"
#include "hpcboot/launch_source.hpp"
#include "hpcboot/placement.hpp"
#include "hpcboot/resolve.hpp"
#include "hpcboot/version.hpp"

#pragma once

#include "description.hpp"

// The described launchers that come with hpcboot: the .toml files of this folder. The table is
// generated at build time (cmake/write_launcher_table.cpp); a build without toml++ has none.
namespace hpcboot {

extern const View<LaunchSource> kShippedLaunchers;  // by name
extern const View<Scheduler> kShippedSchedulers;    // by name

}  // namespace hpcboot

#pragma once

#include "app/verbs.hpp"

// What the part of the trainer with LibTorch does; each parses its arguments.
namespace hpcboot::app {

int train(const Arguments& arguments);
int convert(const Arguments& arguments);
int inspect(const Arguments& arguments);
int bench(const Arguments& arguments);

}  // namespace hpcboot::app

#pragma once

#include <string>
#include <vector>

#include "loop/train_options.hpp"

// The verbs of the program `trainer`.
namespace hpcboot::app {

using train::UsageError;
using Arguments = std::vector<std::string>;

/// `code`, or 1 where what was asked for does not stand on standard output, whole. Not for a run:
/// what it prints is in its folder as well.
int flushed(int code);

/// Without a verb: train.
int train(const Arguments& arguments);

/// `trainer digits DIR`: make a data set of MNIST's format.
int digits(const Arguments& arguments);

/// `trainer convert SRC DST`: any data set in any format. Collective under a launcher.
int convert(const Arguments& arguments);

/// `trainer inspect DATA`: what is in a data set or a file of arrays.
int inspect(const Arguments& arguments);

}  // namespace hpcboot::app

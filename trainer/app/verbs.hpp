#pragma once

#include <string>
#include <vector>

#include "loop/train_options.hpp"
#include "options/command.hpp"

// The verbs of the program `trainer`.
namespace hpcboot::app {

namespace po = options::po;
using train::UsageError;
using Arguments = std::vector<std::string>;

/// A verb: what --help says, and what it does. Each parses into variables of its own.
struct Verb {
  options::Command (*command)();
  int (*run)(const Arguments& arguments);
};

extern const Verb kDigits;      ///< make a data set in MNIST's format
extern const Verb kPictures;    ///< the same in CIFAR's format
extern const Verb kConvert;     ///< any data set in any format; collective under a launcher
extern const Verb kEstimate;    ///< what training a model needs, by arithmetic
extern const Verb kBench;       ///< how fast this machine computes, copies, sums and loads
extern const Verb kInspect;     ///< what is in a data set or a file of arrays
extern const Verb kCompletion;  ///< the script for a shell
extern const Verb kManual;      ///< the manual page

const std::vector<const Verb*>& verbs();

/// The program with its verbs. Without a verb it trains.
options::Program program();

/// Without a verb. Does not return if the arguments are right: the part with LibTorch trains.
int hand_over_training(const Arguments& arguments);

/// `code`, or 1 if standard output could not be written in full. Not for a training run, whose
/// output is in its folder as well.
int flushed(int code);

}  // namespace hpcboot::app

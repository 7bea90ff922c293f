#include "datasets/digits.hpp"

#include "app/drawing.hpp"
#include "app/options.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {

namespace {

struct Options {
  data::DigitsOptions how;
  std::string folder;
};

options::Command command_for(Options& o) {
  using options::into;
  options::Command command{"trainer",
                           "digits",
                           "draw digits that look handwritten, in MNIST's format",
                           {"trainer digits DIR [OPTIONS]"},
                           {{"trainer digits data/mnist", "60,000 + 10,000 images"},
                            {"trainer digits small --train 600 --test 100", "a quick try"}}};
  command.details = {
      "For machines without internet access. setup/get-mnist in hpcboot's sources downloads the "
      "real MNIST."};
  command.groups = {{"Options",
                     {{"train", into(o.how.train, "N"), "training images"},
                      {"test", into(o.how.test, "N"), "test images"},
                      {"seed", into(o.how.seed, "N"), "equal seeds give equal files"}}}};
  command.operands = {{"dir", into(o.folder, "DIR", options::Completes::folder), 1}};
  command.exit_codes = {
      {"0", "ok"}, {"2", "the command line is wrong"}, {"42", "DIR cannot be written"}};
  return command;
}

options::Command digits_command() {
  Options unused;  // only described, never parsed
  return command_for(unused);
}

int digits(const Arguments& arguments) {
  Options o;
  if (!parse(command_for(o), arguments)) return 0;
  auto& how = o.how;
  const std::string& folder = o.folder;
  if (folder.empty()) throw UsageError("digits needs the folder to write to, such as data/mnist");
  check_drawn(how.train, how.test);
  how.progress = drawing_progress("digits");
  data::write_digits(folder, how);
  out() << how.train << " + " << how.test << " images in " << folder << "\n";
  return 0;
}

}  // namespace

const Verb kDigits{digits_command, digits};

}  // namespace hpcboot::app

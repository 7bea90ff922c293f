#include "datasets/pictures.hpp"

#include "app/drawing.hpp"
#include "app/options.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {

namespace {

struct Options {
  data::PicturesOptions how;
  std::string folder;
};

options::Command command_for(Options& o) {
  using options::into;
  options::Command command{
      "trainer",
      "pictures",
      "draw coloured shapes, in CIFAR's binary format",
      {"trainer pictures DIR [OPTIONS]"},
      {{"trainer pictures data/pictures", "50,000 + 10,000 images of 10 classes"},
       {"trainer pictures small --train 600 --test 100", "a quick try"},
       {"trainer pictures data/pictures100 --classes 100", "in CIFAR-100's format"}}};
  command.details = {
      "For machines without internet access. setup/get-cifar in hpcboot's sources downloads the "
      "real CIFAR."};
  command.groups = {{"Options",
                     {{"classes", options::choice({"10", "100"}, "10"), "classes of pictures"},
                      {"train", into(o.how.train, "N"), "training images"},
                      {"test", into(o.how.test, "N"), "test images"},
                      {"seed", into(o.how.seed, "N"), "equal seeds give equal files"}}}};
  command.operands = {{"dir", into(o.folder, "DIR", options::Completes::folder), 1}};
  command.exit_codes = {
      {"0", "ok"}, {"2", "the command line is wrong"}, {"42", "DIR cannot be written"}};
  return command;
}

options::Command pictures_command() {
  Options unused;  // only described, never parsed
  return command_for(unused);
}

int pictures(const Arguments& arguments) {
  Options o;
  const auto parsed = parse(command_for(o), arguments);
  if (!parsed) return 0;
  auto& how = o.how;
  if (o.folder.empty())
    throw UsageError("pictures needs the folder to write to, such as data/pictures");
  check_drawn(how.train, how.test);
  how.classes = parsed->values["classes"].as<std::string>() == "100" ? 100 : 10;
  how.progress = drawing_progress("pictures");
  data::write_pictures(o.folder, how);
  out() << how.train << " + " << how.test << " images of " << how.classes << " classes in "
        << o.folder << "\n";
  return 0;
}

}  // namespace

const Verb kPictures{pictures_command, pictures};

}  // namespace hpcboot::app

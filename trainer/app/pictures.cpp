#include "datasets/pictures.hpp"

#include <unistd.h>

#include "app/options.hpp"
#include "datasets/data_folder.hpp"
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
  for (const std::int64_t count : {how.train, how.test}) {
    if (count < 1 || count > data::kMostDrawn)
      throw UsageError("--train and --test must be from 1 to " + std::to_string(data::kMostDrawn));
  }
  how.classes = parsed->values["classes"].as<std::string>() == "100" ? 100 : 10;
  if (isatty(STDERR_FILENO) == 1) {
    how.progress = [](std::int64_t done, std::int64_t total) {
      err() << "\rdrawing pictures: " << 100 * done / total << "%";
      if (done == total) err() << "\n";
      err().flush();
    };
  }
  data::write_pictures(o.folder, how);
  out() << how.train << " + " << how.test << " images of " << how.classes << " classes in "
        << o.folder << "\n";
  return 0;
}

}  // namespace

const Verb kPictures{pictures_command, pictures};

}  // namespace hpcboot::app

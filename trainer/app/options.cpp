#include "app/options.hpp"

#include "text/terminal.hpp"

namespace hpcboot::app {

int flushed(int code) {
  if (out().is_good()) return code;
  err() << "trainer: standard output cannot be written\n";
  return code == 0 ? 1 : code;
}

std::optional<options::Parsed> parse(const options::Command& command, const Arguments& arguments) {
  auto parsed = options::parse(command, HPCBOOT_VERSION, arguments);
  if (parsed) options::finish(command, parsed->values);
  return parsed;
}

}  // namespace hpcboot::app

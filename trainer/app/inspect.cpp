#include "datasets/inspect.hpp"

#include <unistd.h>

#include "app/inspect_command.hpp"
#include "app/libtorch_verbs.hpp"
#include "text/terminal.hpp"

namespace hpcboot::app {

int inspect(const Arguments& arguments) {
  const auto request = parse_inspect(arguments);
  if (!request) return 0;
  const data::Inspection found = data::inspect(request->place, request->images);
  if (request->json) {
    out() << json_text(data::to_json(found), 2) << "\n";
  } else {
    out() << data::to_text(found, terminal_columns(STDOUT_FILENO, 100));
  }
  return 0;
}

}  // namespace hpcboot::app

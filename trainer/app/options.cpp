#include "app/options.hpp"

#include <algorithm>
#include <set>

#include "text/terminal.hpp"

namespace hpcboot::app {

namespace po = boost::program_options;

namespace {

// Of an option that is given twice the last one counts, so that a script's own options can be
// followed by its user's ("$@").
void keep_last_of_each(po::parsed_options& parsed) {
  std::set<std::string> seen;
  auto& options = parsed.options;
  for (auto option = options.rbegin(); option != options.rend(); ++option) {
    if (option->position_key == -1 && !seen.insert(option->string_key).second)
      option->string_key.clear();
  }
  options.erase(std::remove_if(options.begin(), options.end(),
                               [](const auto& option) { return option.string_key.empty(); }),
                options.end());
}

}  // namespace

int flushed(int code) {
  if (out().is_good()) return code;
  err() << "trainer: standard output cannot be written\n";
  return code == 0 ? 1 : code;
}

void parse_command_line(const Arguments& arguments, const po::options_description& options,
                        const po::positional_options_description& positional,
                        po::variables_map& values) {
  try {
    // Without abbreviations: one would change its meaning with the next option added.
    const int style =
        po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::parsed_options parsed = po::command_line_parser(arguments)
                                    .options(options)
                                    .positional(positional)
                                    .style(style)
                                    .run();
    keep_last_of_each(parsed);
    po::store(parsed, values);
  } catch (const po::error& error) {
    throw UsageError(std::string(error.what()) + "; --help lists the options");
  }
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "|") + name;
  return text;
}

void require_one_of(const char* option, const std::string& value,
                    const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return;
  throw UsageError(std::string("--") + option + " is '" + value + "'; it takes " + joined(known));
}

}  // namespace hpcboot::app

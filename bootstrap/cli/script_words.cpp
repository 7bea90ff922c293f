#include "script_words.hpp"

#include <set>
#include <vector>

#include "hpcboot/encode.hpp"

namespace hpcboot::tool {

namespace po = boost::program_options;

std::string arguments_of_script(const po::variables_map& values,
                                const po::options_description& options) {
  static const std::set<std::string> kLeavesTheScript = {"list", "output", "check", "submit"};
  std::string text;
  const auto add = [&](const std::string& option, const std::string& value) {
    text += (text.empty() ? "--" : " --") + option + " " + shell_quote(value);
  };
  for (const auto& option : options.options()) {
    const std::string& name = option->long_name();
    if (values.count(name) == 0 || kLeavesTheScript.count(name) != 0) continue;
    const boost::any& value = values[name].value();
    if (const auto* words = boost::any_cast<std::vector<std::string>>(&value)) {
      for (const std::string& word : *words) add(name, word);
    } else if (const auto* number = boost::any_cast<int>(&value)) {
      add(name, std::to_string(*number));
    } else {
      add(name, boost::any_cast<const std::string&>(value));
    }
  }
  return text;
}

}  // namespace hpcboot::tool

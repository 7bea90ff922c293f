#include "script_words.hpp"

#include <vector>

#include "hpcboot/encode.hpp"

namespace hpcboot::tool {

namespace po = boost::program_options;

std::string option_words(const po::variables_map& values, const po::options_description& options,
                         const std::set<std::string>& left_out) {
  std::string text;
  const auto add = [&](const std::string& option, const std::string& value) {
    text += (text.empty() ? "--" : " --") + option + (value.empty() ? "" : " " + value);
  };
  for (const auto& option : options.options()) {
    const std::string& name = option->long_name();
    if (values.count(name) == 0 || values[name].defaulted() || left_out.count(name) != 0) continue;
    const boost::any& value = values[name].value();
    if (option->semantic()->max_tokens() == 0) {
      add(name, "");
    } else if (const auto* words = boost::any_cast<std::vector<std::string>>(&value)) {
      for (const std::string& word : *words) add(name, shell_quote(word));
    } else if (const auto* number = boost::any_cast<int>(&value)) {
      add(name, std::to_string(*number));
    } else {
      add(name, shell_quote(boost::any_cast<const std::string&>(value)));
    }
  }
  return text;
}

}  // namespace hpcboot::tool

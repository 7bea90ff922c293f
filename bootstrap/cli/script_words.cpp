#include "script_words.hpp"

#include "hpcboot/encode.hpp"

namespace hpcboot::tool {

namespace po = options::po;

std::string option_words(const po::variables_map& values, const std::vector<options::Group>& groups,
                         const std::set<std::string>& left_out) {
  std::string text;
  const auto add = [&](const std::string& option, const std::string& value) {
    text += (text.empty() ? "--" : " --") + option + (value.empty() ? "" : " " + value);
  };
  const po::options_description all = options::boost_options(groups);
  for (const auto& option : all.options()) {
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

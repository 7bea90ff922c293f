#include "script_words.hpp"

#include "hpcboot/encode.hpp"

namespace hpcboot::tool {

namespace po = options::po;

std::vector<std::string> option_list(const po::variables_map& values,
                                     const std::vector<options::Group>& groups,
                                     const std::set<std::string>& left_out) {
  std::vector<std::string> list;
  const po::options_description all = options::boost_options(groups);
  for (const auto& option : all.options()) {
    const std::string& name = option->long_name();
    if (values.count(name) == 0 || values[name].defaulted() || left_out.count(name) != 0) continue;
    const boost::any& value = values[name].value();
    if (option->semantic()->max_tokens() == 0) {
      list.push_back("--" + name);
    } else if (const auto* words = boost::any_cast<std::vector<std::string>>(&value)) {
      for (const std::string& word : *words) list.insert(list.end(), {"--" + name, word});
    } else if (const auto* number = boost::any_cast<int>(&value)) {
      list.insert(list.end(), {"--" + name, std::to_string(*number)});
    } else {
      list.insert(list.end(), {"--" + name, boost::any_cast<const std::string&>(value)});
    }
  }
  return list;
}

std::string option_words(const po::variables_map& values, const std::vector<options::Group>& groups,
                         const std::set<std::string>& left_out) {
  std::string text;
  for (const std::string& word : option_list(values, groups, left_out))
    text += (text.empty() ? "" : " ") + bash_quote(word);
  return text;
}

}  // namespace hpcboot::tool

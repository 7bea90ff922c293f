#include "options/option.hpp"

#include <algorithm>

namespace hpcboot::options {
namespace {

Value of_type(std::string name, std::function<po::value_semantic*()> semantic,
              Completes completes = Completes::nothing) {
  Value value;
  value.name = std::move(name);
  value.semantic = std::move(semantic);
  value.completes = completes;
  return value;
}

// As in a usage line: "auto|none".
std::string name_of_choices(const std::vector<std::string>& choices) {
  std::string name;
  for (const std::string& one : choices) name += (name.empty() ? "" : "|") + one;
  return name;
}

class NaturalNumber : public po::typed_value<std::uint64_t> {
 public:
  using typed_value::typed_value;
  void xparse(boost::any& store, const std::vector<std::string>& tokens) const override {
    if (!tokens.empty() && tokens.front().rfind('-', 0) == 0)
      throw po::invalid_option_value(tokens.front());
    typed_value::xparse(store, tokens);
  }
};

}  // namespace

Value Value::otherwise_is(std::string text) && {
  otherwise = std::move(text);
  return std::move(*this);
}

Value Value::once() && {
  is_once = true;
  return std::move(*this);
}

Value Value::suggest(std::vector<std::string> words) && {
  suggestions = std::move(words);
  return std::move(*this);
}

std::string Option::long_name() const {
  return name.substr(0, name.find(','));
}

char Option::letter() const {
  const std::size_t comma = name.find(',');
  return comma == std::string::npos ? '\0' : name[comma + 1];
}

Value flag() {
  return {};
}

Value flag(bool& slot) {
  return of_type("", [&slot]() -> po::value_semantic* { return po::bool_switch(&slot); });
}

Value text(std::string name, Completes completes) {
  return of_type(
      std::move(name), []() -> po::value_semantic* { return po::value<std::string>(); }, completes);
}

Value text_or(std::string name, const std::string& otherwise, Completes completes) {
  return of_type(
             std::move(name),
             [otherwise]() -> po::value_semantic* {
               return po::value<std::string>()->default_value(otherwise);
             },
             completes)
      .otherwise_is(otherwise);
}

Value output(std::string name, Completes completes) {
  Value value = text(std::move(name), completes);
  value.is_path = true;
  return value;
}

Value list(std::string name, Completes completes) {
  Value value = of_type(
      std::move(name),
      []() -> po::value_semantic* { return po::value<std::vector<std::string>>(); }, completes);
  value.repeats = true;
  return value;
}

Value number(std::string name) {
  return of_type(std::move(name), []() -> po::value_semantic* { return po::value<int>(); });
}

Value number(std::string name, int otherwise) {
  return of_type(std::move(name),
                 [otherwise]() -> po::value_semantic* {
                   return po::value<int>()->default_value(otherwise);
                 })
      .otherwise_is(std::to_string(otherwise));
}

Value choice(std::vector<std::string> choices, const std::string& otherwise) {
  const std::string name = name_of_choices(choices);
  Value value = otherwise.empty() ? text(name) : text_or(name, otherwise);
  value.choices = std::move(choices);
  return value;
}

Value choice_into(std::string& slot, std::vector<std::string> choices) {
  Value value = into(slot, name_of_choices(choices));
  value.choices = std::move(choices);
  return value;
}

Value optional_into(std::string& slot, std::string name, std::string implied) {
  Value value = of_type(std::move(name), [&slot, implied = std::move(implied)]() {
    return static_cast<po::value_semantic*>(
        po::value(&slot)->default_value(slot)->implicit_value(implied));
  });
  value.is_optional = true;
  return value;
}

po::typed_value<std::uint64_t>* natural_number(std::uint64_t& slot) {
  return new NaturalNumber(&slot);  // po::options_description deletes it
}

po::options_description boost_options(const std::vector<Group>& groups) {
  po::options_description all;
  for (const Group& group : groups) {
    for (const Option& option : group.options) {
      if (option.value.semantic) {
        all.add_options()(option.name.c_str(), option.value.semantic());
      } else {
        all.add_options()(option.name.c_str(), "");
      }
    }
  }
  return all;
}

std::string one_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace hpcboot::options

#include "datasets/pickle_values.hpp"

#include "datasets/pickle_check.hpp"
#include "datasets/pickle_evaluator.hpp"

namespace hpcboot::data {

using Kind = PickleValue::Kind;

PickleValues::PickleValues(std::string_view pickle) {
  if (pickle.size() > 1 && pickle[0] == '\x80' && static_cast<std::uint8_t>(pickle[1]) > 2) {
    throw PickleError(
        0, "a pickle of protocol " + std::to_string(static_cast<std::uint8_t>(pickle[1])),
        kProtocols);
  }
  const PickleCheck check = check_pickle(pickle, kName, kMostInstructions);
  if (!check.damage.empty()) throw PickleError(check.offset, check.damage, kProtocols);
  root_ = PickleEvaluator(pickle, *this).run();
}

std::string description_of(const PickleValue& value) {
  switch (value.kind) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return value.integer != 0 ? "True" : "False";
    case Kind::integer:
      return std::to_string(value.integer);
    case Kind::text:
      return "a text of " + std::to_string(value.text.size()) + " bytes";
    case Kind::list:
      return "a list";
    case Kind::tuple:
      return "a tuple";
    case Kind::dict:
      return "a dict";
    case Kind::global:
      return "'" + std::string(value.text) + "'";
    case Kind::call:
      return "an object of " + std::string(value.parts.front()->text);
  }
  return {};
}

const PickleValue* find_key(const PickleValue& dict, std::string_view key) {
  const PickleValue* found = nullptr;
  for (std::size_t i = 0; i + 1 < dict.parts.size(); i += 2) {
    if (dict.parts[i]->kind == Kind::text && dict.parts[i]->text == key) found = dict.parts[i + 1];
  }
  return found;
}

}  // namespace hpcboot::data

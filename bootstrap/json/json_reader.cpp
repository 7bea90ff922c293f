#include "json/json_reader.hpp"

#include <utility>

#include "hpcboot/error.hpp"

namespace hpcboot {
namespace {

Error malformed(std::string found, std::string_view expected) {
  return Error(ErrorCode::malformed_file, std::move(found), std::string(expected),
               "restore that file, or remove its folder");
}

/// A value as shown in a message: short, on one line.
std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 60;
  if (value.is_structured() && !value.empty()) return value.is_array() ? "an array" : "an object";
  std::string text = json_text(value).str();
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "…";
  return text;
}

std::optional<std::int64_t> integer_in(const Json& value) {
  constexpr auto kLargest = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kLargest) return std::nullopt;
  return value.get<std::int64_t>();
}

/// "a number from 0 to 10"; whole numbers without decimals.
template <typename T>
std::string range_text(const char* kind, T least, T most) {
  return std::string(kind) + " from " + Json(least).dump() + " to " + Json(most).dump() +
         ", or null";
}

}  // namespace

JsonReader::JsonReader(std::string file, const Json& json, std::string location)
    : file_(std::move(file)), json_(&json), location_(std::move(location)) {
  if (!json.is_object()) {
    const std::string key = location_.empty() ? "" : ", key '" + location_ + "'";
    throw malformed("'" + file_ + "'" + key + " holds " + shown(json), "a JSON object");
  }
  // An object of Json is a list: to search it for each of its keys takes quadratic time.
  constexpr std::size_t kShort = 24;
  if (json.size() <= kShort) return;
  for (const auto& [key, value] : json.get_ref<const Json::object_t&>())
    members_.emplace(key, &value);
}

std::optional<std::string> JsonReader::text(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) fail(key, "a string");
  return value->get<std::string>();
}

std::optional<double> JsonReader::number(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) fail(key, "a number or null");
  return value->get<double>() + 0.0;  // turns -0.0 into 0.0
}

std::optional<double> JsonReader::number(const char* key, double least, double most) const {
  const auto value = number(key);
  if (value && !(*value >= least && *value <= most)) fail(key, range_text("a number", least, most));
  return value;
}

std::optional<std::int64_t> JsonReader::integer(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = integer_in(*value);
  if (!number) fail(key, "a whole number or null");
  return number;
}

std::optional<std::int64_t> JsonReader::integer(const char* key, std::int64_t least,
                                                std::int64_t most) const {
  const auto value = integer(key);
  if (value && (*value < least || *value > most))
    fail(key, range_text("a whole number", least, most));
  return value;
}

std::optional<int> JsonReader::small_integer(const char* key) const {
  const auto value = integer(key, 0, std::numeric_limits<int>::max());
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

std::optional<bool> JsonReader::boolean(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) fail(key, "true, false or null");
  return value->get<bool>();
}

std::optional<JsonReader> JsonReader::object(const char* key, std::size_t most) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_object() && value->size() > most)
    fail(key, "an object with at most " + std::to_string(most) + " keys");
  return JsonReader(file_, *value, location_of(key));
}

void JsonReader::for_each_object(const char* key,
                                 const std::function<void(const JsonReader&)>& take) const {
  const Json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_array()) fail(key, "an array of objects");
  for (std::size_t i = 0; i < value->size(); ++i)
    take(JsonReader(file_, (*value)[i], location_of(key) + "[" + std::to_string(i) + "]"));
}

std::optional<std::vector<std::string>> JsonReader::texts(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  std::vector<std::string> list;
  if (!value->is_array()) fail(key, "an array of strings");
  for (const Json& item : *value) {
    if (!item.is_string()) fail(key, "an array of strings");
    list.push_back(item.get<std::string>());
  }
  return list;
}

std::optional<std::vector<int>> JsonReader::small_integers(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  std::vector<int> list;
  if (!value->is_array()) fail(key, "an array of whole numbers");
  for (const Json& item : *value) {
    const auto number = integer_in(item);
    if (!number || *number < std::numeric_limits<int>::min() ||
        *number > std::numeric_limits<int>::max()) {
      fail(key, "an array of whole numbers");
    }
    list.push_back(static_cast<int>(*number));
  }
  return list;
}

void JsonReader::fail(const char* key, std::string_view expected) const {
  const auto value = json_->find(key);
  const std::string location = "key '" + location_of(key) + "'";
  throw malformed(value == json_->end()
                      ? "'" + file_ + "' has no " + location
                      : "'" + file_ + "', " + location + " holds " + shown(*value),
                  expected);
}

const Json* JsonReader::find(const char* key) const {
  const Json* value = nullptr;
  if (!members_.empty()) {
    const auto member = members_.find(key);
    if (member != members_.end()) value = member->second;
  } else if (const auto member = json_->find(key); member != json_->end()) {
    value = &*member;
  }
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string JsonReader::location_of(std::string_view key) const {
  return (location_.empty() ? "" : location_ + ".") + std::string(key);
}

}  // namespace hpcboot

#include "record/json_reader.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

#include "hpcboot/error.hpp"

namespace hpcboot::record {
namespace {

Error malformed(std::string found, std::string_view expected) {
  return Error(ErrorCode::malformed_file, std::move(found), std::string(expected),
               "restore that file, or remove its run folder");
}

/// A value as a message shows it: short, in one line.
std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 60;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "…";
  return text;
}

}  // namespace

Json read_json_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  // Opening a FIFO would wait for somebody to write to it.
  const bool is_other =
      std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  std::ifstream stream;
  if (!is_other) stream.open(file, std::ios::binary);
  if (is_other || !stream) {
    const int reason = !is_other ? errno : std::filesystem::is_directory(status) ? EISDIR : EINVAL;
    throw Error(
        ErrorCode::unreadable_file,
        fmt::format("cannot read '{}': {}", file.string(), std::generic_category().message(reason)),
        "a file that can be read", "check the path and its permissions");
  }
  try {
    return Json::parse(stream);
  } catch (const Json::parse_error& problem) {
    throw malformed(
        fmt::format("'{}' breaks off or is wrong at byte {}", file.string(), problem.byte), "JSON");
  } catch (const Json::out_of_range&) {
    throw malformed(fmt::format("'{}' holds a number beyond any double", file.string()), "JSON");
  }
}

JsonReader::JsonReader(std::string file, const Json& json, std::string location)
    : file_(std::move(file)), json_(&json), location_(std::move(location)) {
  if (!json.is_object()) {
    throw malformed(location_.empty()
                        ? fmt::format("'{}' holds {}", file_, shown(json))
                        : fmt::format("'{}', key '{}' holds {}", file_, location_, shown(json)),
                    "a JSON object");
  }
}

std::optional<std::string> JsonReader::text(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) fail(key, "a text");
  return value->get<std::string>();
}

std::optional<double> JsonReader::number(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) fail(key, "a number or null");
  return value->get<double>();
}

std::optional<std::int64_t> JsonReader::integer(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  constexpr auto kLargest = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (!value->is_number_integer() ||
      (value->is_number_unsigned() && value->get<std::uint64_t>() > kLargest)) {
    fail(key, "a whole number or null");
  }
  return value->get<std::int64_t>();
}

std::optional<int> JsonReader::small_integer(const char* key) const {
  const std::optional<std::int64_t> value = integer(key);
  if (!value) return std::nullopt;
  constexpr int kLargest = std::numeric_limits<int>::max();
  if (*value < 0 || *value > kLargest) fail(key, fmt::format("a number from 0 to {}", kLargest));
  return static_cast<int>(*value);
}

std::optional<JsonReader> JsonReader::object(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  return JsonReader(file_, *value, location_of(key));
}

std::vector<JsonReader> JsonReader::objects(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) fail(key, "an array of objects");
  std::vector<JsonReader> readers;
  for (std::size_t i = 0; i < value->size(); ++i) {
    readers.emplace_back(file_, (*value)[i], fmt::format("{}[{}]", location_of(key), i));
  }
  return readers;
}

void JsonReader::fail(const char* key, std::string_view expected) const {
  const auto value = json_->find(key);
  throw malformed(
      value == json_->end()
          ? fmt::format("'{}' has no key '{}'", file_, location_of(key))
          : fmt::format("'{}', key '{}' holds {}", file_, location_of(key), shown(*value)),
      expected);
}

const Json* JsonReader::find(const char* key) const {
  const auto value = json_->find(key);
  return value == json_->end() || value->is_null() ? nullptr : &*value;
}

std::string JsonReader::location_of(std::string_view key) const {
  return location_.empty() ? std::string(key) : fmt::format("{}.{}", location_, key);
}

}  // namespace hpcboot::record

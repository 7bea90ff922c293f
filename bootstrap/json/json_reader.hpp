#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/bounded_json.hpp"

namespace hpcboot {

/// A JSON object of a file, read key by key. A key that is missing or null reads as nullopt; a
/// value of the wrong type throws Error{malformed_file}, which names the file, the key
/// (epochs[2].train_loss), what was found and what was expected. Keys that are not read are
/// ignored.
class JsonReader {
 public:
  /// @param json must be an object, and must outlive this reader.
  /// @param location the key of `json` within the file; empty for the root object.
  JsonReader(std::string file, const Json& json, std::string location = "");

  std::optional<std::string> text(const char* key) const;
  std::optional<double> number(const char* key) const;
  /// @throws Error{malformed_file} also for a value outside `least` to `most`
  std::optional<double> number(const char* key, double least, double most) const;
  std::optional<std::int64_t> integer(const char* key) const;
  std::optional<std::int64_t> integer(const char* key, std::int64_t least, std::int64_t most) const;
  std::optional<int> small_integer(const char* key) const;  ///< from 0 to INT_MAX
  std::optional<bool> boolean(const char* key) const;
  /// @throws Error{malformed_file} also for an object of more than `most` keys
  std::optional<JsonReader> object(
      const char* key, std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  /// Passes on the objects in an array, one at a time, as a reader takes many times the memory of
  /// the text `{}`; none if the key is missing.
  void for_each_object(const char* key, const std::function<void(const JsonReader&)>& take) const;
  std::optional<std::vector<std::string>> texts(const char* key) const;
  std::optional<std::vector<int>> small_integers(const char* key) const;

  /// The value, or an error if the key is missing.
  template <typename T>
  T require(const char* key, std::optional<T> value, std::string_view expected) const {
    if (!value) fail(key, expected);
    return *std::move(value);
  }

  const Json& json() const { return *json_; }
  /// Throws the error for this key: missing, or with a value other than `expected`.
  [[noreturn]] void fail(const char* key, std::string_view expected) const;

 private:
  const Json* find(const char* key) const;
  std::string location_of(std::string_view key) const;

  std::string file_;
  const Json* json_;
  std::string location_;
  std::map<std::string_view, const Json*> members_;  ///< those of a large object
};

}  // namespace hpcboot

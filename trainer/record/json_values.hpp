#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "json/bounded_json.hpp"

namespace hpcboot::record {

/// JSON has neither NaN nor infinity.
inline Json json_of(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

template <typename T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

/// An object with any number of members. An object of Json is a list, which its own operator[]
/// searches.
class JsonMembers {
 public:
  Json& operator[](const std::string& key) {
    Json::object_t::Container& members = object_.get_ref<Json::object_t&>();
    const auto [place, is_new] = places_.emplace(key, members.size());
    if (is_new) members.emplace_back(key, Json());
    return members[place->second].second;
  }
  bool contains(const std::string& key) const { return places_.count(key) != 0; }
  Json take() { return std::move(object_); }

 private:
  Json object_ = Json::object();
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace hpcboot::record

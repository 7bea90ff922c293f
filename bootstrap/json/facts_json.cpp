#include "facts_json.hpp"

#include <stdexcept>
#include <string>

namespace hpcboot {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
void read(const Json& object, const char* key, std::optional<T>& slot) {
  const auto found = object.find(key);
  if (found != object.end() && !found->is_null()) slot = found->get<T>();
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

Json to_json(const Facts& facts) {
  Json out;
  out["user_id"] = or_null(facts.user_id);
  out["device_count"] = or_null(facts.device_count);
  out["device_distance"] = or_null(facts.device_distance);
  out["pmi_fd_is_open_socket"] = or_null(facts.pmi_fd_is_open_socket);
  out["is_slurm_task"] = or_null(facts.is_slurm_task);
  out["interfaces"] = nullptr;
  if (facts.interfaces) {
    out["interfaces"] = Json::array();
    for (const Interface& interface : *facts.interfaces) {
      out["interfaces"].push_back({{"name", interface.name},
                                   {"address", interface.address},
                                   {"ipv6", interface.ipv6},
                                   {"up", interface.up},
                                   {"speed_mbps", interface.speed_mbps}});
    }
  }
  return out;
}

Facts facts_from_json(const Json& object) {
  if (!object.is_object()) throw std::invalid_argument("not a JSON object");
  Facts facts;
  read(object, "user_id", facts.user_id);
  read(object, "device_count", facts.device_count);
  constexpr int kMaxDevices = 4096;  // of one host: beyond it the number is damaged
  if (facts.device_count && (*facts.device_count < 0 || *facts.device_count > kMaxDevices)) {
    throw std::invalid_argument("device_count is " + std::to_string(*facts.device_count) +
                                ", not a number from 0 to " + std::to_string(kMaxDevices));
  }
  read(object, "device_distance", facts.device_distance);
  read(object, "pmi_fd_is_open_socket", facts.pmi_fd_is_open_socket);
  read(object, "is_slurm_task", facts.is_slurm_task);
  const auto interfaces = object.find("interfaces");
  if (interfaces != object.end() && !interfaces->is_null()) {
    facts.interfaces.emplace();
    for (const Json& entry : *interfaces) {
      facts.interfaces->push_back({entry.at("name"), entry.at("address"), entry.at("ipv6"),
                                   entry.at("up"), entry.at("speed_mbps")});
    }
  }
  return facts;
}

}  // namespace hpcboot

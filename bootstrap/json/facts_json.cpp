#include "facts_json.hpp"

#include <limits>
#include <string>

#include "json/json_reader.hpp"

namespace hpcboot {
namespace {

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

Facts facts_from_json(const Json& object, const std::string& file) {
  constexpr int kMaxDevices = 4096;  // of one host: beyond it the number is damaged
  constexpr std::size_t kMaxInterfaces = 4096;
  const JsonReader reader(file, object);
  Facts facts;
  if (const auto id = reader.integer("user_id", 0, std::numeric_limits<int>::max()))
    facts.user_id = static_cast<int>(*id);
  if (const auto count = reader.integer("device_count", 0, kMaxDevices))
    facts.device_count = static_cast<int>(*count);
  facts.device_distance = reader.small_integers("device_distance");
  facts.pmi_fd_is_open_socket = reader.boolean("pmi_fd_is_open_socket");
  facts.is_slurm_task = reader.boolean("is_slurm_task");
  if (!object.contains("interfaces") || object["interfaces"].is_null()) return facts;
  facts.interfaces.emplace();
  for (const JsonReader& entry : reader.objects("interfaces")) {
    if (facts.interfaces->size() == kMaxInterfaces)
      reader.fail("interfaces", "at most 4096 network interfaces");
    facts.interfaces->push_back(
        {entry.require("name", entry.text("name"), "a text"),
         entry.require("address", entry.text("address"), "a text"),
         entry.require("ipv6", entry.boolean("ipv6"), "true or false"),
         entry.require("up", entry.boolean("up"), "true or false"),
         entry.require("speed_mbps", entry.small_integer("speed_mbps"), "a whole number")});
  }
  return facts;
}

}  // namespace hpcboot

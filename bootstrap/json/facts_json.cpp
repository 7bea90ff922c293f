#include "facts_json.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "json/json_reader.hpp"

namespace hpcboot {
namespace {

bool has(const JsonReader& reader, const char* key) {
  return reader.json().contains(key) && !reader.json()[key].is_null();
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Interface read_interface(const JsonReader& entry) {
  Interface interface;
  interface.name = entry.require("name", entry.text("name"), "a string");
  interface.address = entry.require("address", entry.text("address"), "a string");
  interface.ipv6 = entry.require("ipv6", entry.boolean("ipv6"), "true or false");
  interface.up = entry.require("up", entry.boolean("up"), "true or false");
  interface.speed_mbps =
      entry.require("speed_mbps", entry.small_integer("speed_mbps"), "a whole number");
  // Missing in captures of older versions.
  interface.kind = entry.text("kind");
  interface.has_device = entry.boolean("has_device");
  interface.infiniband = entry.boolean("infiniband");
  interface.port_kinds = entry.texts("port_kinds");
  return interface;
}

Route read_route(const JsonReader& entry) {
  constexpr std::int64_t kMaxMetric = std::numeric_limits<std::uint32_t>::max();
  Route route;
  route.destination = entry.require("destination", entry.text("destination"), "a string");
  route.prefix_length = static_cast<int>(
      entry.require("prefix_length", entry.integer("prefix_length", 0, 128), "0 to 128"));
  route.interface = entry.require("interface", entry.text("interface"), "a string");
  route.metric = entry.require("metric", entry.integer("metric", 0, kMaxMetric), "a whole number");
  return route;
}

void take_interfaces(const JsonReader& reader, Facts& facts) {
  constexpr std::size_t kMaxInterfaces = 4096;
  if (!has(reader, "interfaces")) return;
  facts.interfaces.emplace();
  reader.for_each_object("interfaces", [&](const JsonReader& entry) {
    if (facts.interfaces->size() == kMaxInterfaces)
      reader.fail("interfaces", "at most 4096 network interfaces");
    facts.interfaces->push_back(read_interface(entry));
  });
}

void take_routes(const JsonReader& reader, Facts& facts) {
  if (!has(reader, "routes")) return;
  facts.routes.emplace();
  reader.for_each_object("routes", [&](const JsonReader& entry) {
    if (facts.routes->size() == kMaxRoutes) reader.fail("routes", "at most 4096 routes");
    facts.routes->push_back(read_route(entry));
  });
}

void take_ancestors(const JsonReader& reader, Facts& facts) {
  constexpr std::size_t kMaxAncestors = 4096;
  if (!has(reader, "ancestors")) return;
  facts.ancestors.emplace();
  reader.for_each_object("ancestors", [&](const JsonReader& entry) {
    if (facts.ancestors->size() == kMaxAncestors)
      reader.fail("ancestors", "at most 4096 processes");
    Ancestor ancestor;
    ancestor.name = entry.require("name", entry.text("name"), "a string");
    ancestor.held = entry.texts("held");
    // Missing in captures of version 0.2.
    if (has(entry, "changed"))
      ancestor.changed = entry.texts("changed").value_or(std::vector<std::string>{});
    ancestor.is_slurm_task =
        entry.require("is_slurm_task", entry.boolean("is_slurm_task"), "true or false");
    facts.ancestors->push_back(std::move(ancestor));
  });
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
                                   {"speed_mbps", interface.speed_mbps},
                                   {"kind", or_null(interface.kind)},
                                   {"has_device", or_null(interface.has_device)},
                                   {"infiniband", or_null(interface.infiniband)},
                                   {"port_kinds", or_null(interface.port_kinds)}});
    }
  }
  out["routes"] = nullptr;
  if (facts.routes) {
    out["routes"] = Json::array();
    for (const Route& route : *facts.routes) {
      out["routes"].push_back({{"destination", route.destination},
                               {"prefix_length", route.prefix_length},
                               {"interface", route.interface},
                               {"metric", route.metric}});
    }
  }
  out["ancestors"] = nullptr;
  if (facts.ancestors) {
    out["ancestors"] = Json::array();
    for (const Ancestor& ancestor : *facts.ancestors) {
      out["ancestors"].push_back({{"name", ancestor.name},
                                  {"held", or_null(ancestor.held)},
                                  {"changed", ancestor.changed},
                                  {"is_slurm_task", ancestor.is_slurm_task}});
    }
  }
  return out;
}

Facts facts_from_json(const Json& object, const std::string& file) {
  constexpr int kMaxDevices = 4096;  // per host; a larger number is damaged
  const JsonReader reader(file, object);
  Facts facts;
  if (const auto id = reader.integer("user_id", 0, std::numeric_limits<int>::max()))
    facts.user_id = static_cast<int>(*id);
  if (const auto count = reader.integer("device_count", 0, kMaxDevices))
    facts.device_count = static_cast<int>(*count);
  facts.device_distance = reader.small_integers("device_distance");
  facts.pmi_fd_is_open_socket = reader.boolean("pmi_fd_is_open_socket");
  facts.is_slurm_task = reader.boolean("is_slurm_task");
  take_interfaces(reader, facts);
  take_routes(reader, facts);
  take_ancestors(reader, facts);
  return facts;
}

}  // namespace hpcboot

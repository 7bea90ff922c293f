#include "record/places_json.hpp"

#include <utility>

#include "record/json_values.hpp"

namespace hpcboot::record {
namespace {

constexpr double kLargestLoad = 1e9;

std::optional<double> load(const JsonReader& reader, const char* key) {
  return reader.number(key, 0, kLargestLoad);
}

}  // namespace

RankRecord rank_from(const JsonReader& reader) {
  constexpr std::string_view kNumber = "a number";
  RankRecord rank;
  rank.placement.rank = reader.require("rank", reader.small_integer("rank"), kNumber);
  rank.placement.world_size =
      reader.require("world_size", reader.small_integer("world_size"), kNumber);
  rank.placement.local_rank =
      reader.require("local_rank", reader.small_integer("local_rank"), kNumber);
  rank.placement.local_size = reader.small_integer("local_size");
  rank.placement.node_rank = reader.small_integer("node_rank");
  rank.placement.num_nodes = reader.small_integer("num_nodes");
  rank.host = reader.text("host").value_or("");
  rank.pid = reader.integer("pid").value_or(0);
  rank.device = reader.text("device").value_or("");
  rank.device_name = reader.text("device_name");
  rank.interface = reader.text("interface");
  rank.backend = reader.text("backend");
  if (const auto fields = reader.object("provenance")) {
    for (const auto& item : fields->json().items()) {
      if (const auto from = fields->object(item.key().c_str())) {
        rank.provenance[item.key()] = {from->text("source").value_or(""),
                                       from->text("variable").value_or("")};
      }
    }
  }
  return rank;
}

Json to_json(const RankRecord& rank) {
  JsonMembers provenance;
  for (const auto& [field, from] : rank.provenance) {
    provenance[field] = Json{{"source", from.source}, {"variable", from.variable}};
  }
  return Json{{"rank", rank.placement.rank},
              {"world_size", rank.placement.world_size},
              {"local_rank", rank.placement.local_rank},
              {"local_size", json_of(rank.placement.local_size)},
              {"node_rank", json_of(rank.placement.node_rank)},
              {"num_nodes", json_of(rank.placement.num_nodes)},
              {"host", rank.host},
              {"pid", rank.pid},
              {"device", rank.device},
              {"device_name", json_of(rank.device_name)},
              {"interface", json_of(rank.interface)},
              {"backend", json_of(rank.backend)},
              {"provenance", provenance.take()}};
}

RankRecord rank_record_from_json(const Json& json, const std::string& file) {
  return rank_from(JsonReader(file, json));
}

HostRecord host_from(const JsonReader& reader) {
  HostRecord host;
  host.host = reader.require("host", reader.text("host"), "the name of a host");
  host.processors = reader.small_integer("processors");
  host.load_at_start = load(reader, "load_at_start");
  host.load_at_end = load(reader, "load_at_end");
  host.others_at_start = load(reader, "others_at_start");
  host.others = load(reader, "others");
  host.busy = reader.boolean("busy").value_or(false);
  return host;
}

Json to_json(const HostRecord& host) {
  return Json{{"host", host.host},
              {"processors", json_of(host.processors)},
              {"load_at_start", json_of(host.load_at_start)},
              {"load_at_end", json_of(host.load_at_end)},
              {"others_at_start", json_of(host.others_at_start)},
              {"others", json_of(host.others)},
              {"busy", host.busy}};
}

}  // namespace hpcboot::record

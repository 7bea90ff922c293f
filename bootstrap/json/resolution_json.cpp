#include "resolution_json.hpp"

namespace hpcboot {
namespace {

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

}  // namespace

Json to_json(const Resolution& r) {
  const Placement& p = r.placement;
  Json out;
  out["rank"] = p.rank;
  out["world_size"] = p.world_size;
  out["local_rank"] = p.local_rank;
  out["local_size"] = or_null(p.local_size);
  out["node_rank"] = or_null(p.node_rank);
  out["num_nodes"] = or_null(p.num_nodes);
  out["master_addr"] = or_null(r.master_addr);
  out["master_port"] = or_null(r.master_port);
  out["launcher"] = r.launcher;
  out["scheduler"] = or_null(r.scheduler);
  out["job_id"] = or_null(r.job_id);
  out["hosts"] = r.hosts.empty() ? Json(nullptr) : Json(r.hosts);
  out["device"] = or_null(r.device);
  out["interface"] = or_null(r.interface);
  Json provenance = Json::object();
  for (const auto& [field, from] : r.provenance) {
    provenance[field] = {{"source", from.source}, {"variable", text_or_null(from.variable)}};
  }
  out["provenance"] = std::move(provenance);
  Json other_sources = Json::array();
  for (const OtherSource& other_source : r.other_sources) {
    other_sources.push_back({{"source", other_source.source},
                             {"agrees", other_source.agrees},
                             {"explained", other_source.agrees || other_source.is_explained},
                             {"note", other_source.note}});
  }
  out["witnesses"] = std::move(other_sources);
  return out;
}

}  // namespace hpcboot

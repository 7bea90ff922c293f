#include <algorithm>
#include <string>
#include <vector>

#include "hpcboot/torch/estimate.hpp"
#include "torch/refusal.hpp"

namespace hpcboot::estimate {
namespace {

template <typename Table>
std::vector<std::string> names_in(const Table& table) {
  std::vector<std::string> names;
  for (const auto& one : table) names.push_back(one.name);
  return names;
}

template <typename Table>
const auto& find(const Table& table, const char* what, const std::string& name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.name == name; });
  if (found != table.end()) return *found;
  std::string known;
  for (const auto& one : table) known += (known.empty() ? "" : ", ") + one.name;
  refuse(std::string(what) + " '" + name + "'", "one of " + known, "choose one of these");
}

const std::vector<Types>& all_types() {
  //       weight gradient kept cast master state flops
  static const std::vector<Types> all = {
      {"fp64", 8, 8, 8, 0, 0, 8, 14e12},       {"fp32", 4, 4, 4, 0, 0, 4, 27e12},
      {"tf32", 4, 4, 4, 0, 0, 4, 200e12},      {"bf16", 4, 4, 2, 2, 0, 4, 400e12},
      {"fp16", 4, 4, 2, 2, 0, 4, 400e12},      {"bf16-master", 2, 2, 2, 0, 4, 4, 400e12},
      {"bf16-pure", 2, 2, 2, 0, 0, 2, 400e12},
  };
  return all;
}

struct NamedOptimizer {
  std::string name;
  int averages;
};

const std::vector<NamedOptimizer>& all_optimizers() {
  static const std::vector<NamedOptimizer> all = {
      {"adam", 2}, {"adamw", 2}, {"momentum", 1}, {"sgd", 0}};
  return all;
}

Transformer gpt2(const char* name, std::int64_t blocks, std::int64_t hidden, std::int64_t heads) {
  Transformer shape;
  shape.name = name;
  shape.blocks = blocks;
  shape.hidden = hidden;
  shape.heads = heads;
  shape.vocabulary = 50257;
  shape.sequence = 1024;
  shape.tied = true;
  shape.learned_positions = true;
  return shape;
}

Transformer llama(const char* name, std::int64_t blocks, std::int64_t hidden, std::int64_t heads,
                  std::int64_t feed_forward) {
  Transformer shape;
  shape.name = name;
  shape.blocks = blocks;
  shape.hidden = hidden;
  shape.heads = heads;
  shape.key_value_heads = 8;
  shape.feed_forward = feed_forward;
  shape.vocabulary = 128256;
  shape.sequence = 8192;
  shape.gated = true;
  shape.rms_norm = true;
  shape.attention_bias = false;
  shape.mlp_bias = false;
  shape.fused_attention = true;
  return shape;
}

/// Radford et al., Language Models are Unsupervised Multitask Learners, 2019; Grattafiori et al.,
/// The Llama 3 Herd of Models, 2024, table 3.
const std::vector<Transformer>& all_transformers() {
  static const std::vector<Transformer> all = {
      gpt2("gpt2", 12, 768, 12),
      gpt2("gpt2-xl", 48, 1600, 25),
      llama("llama-3.1-8b", 32, 4096, 32, 14336),
      llama("llama-3.1-70b", 80, 8192, 64, 28672),
      llama("llama-3.1-405b", 126, 16384, 128, 53248),
  };
  return all;
}

}  // namespace

std::vector<std::string> type_names() {
  return names_in(all_types());
}
Types types_of(const std::string& name) {
  return find(all_types(), "precision", name);
}

std::vector<std::string> optimizer_names() {
  return names_in(all_optimizers());
}
int averages_of(const std::string& optimizer) {
  return find(all_optimizers(), "optimizer", optimizer).averages;
}

std::vector<std::string> known_transformers() {
  return names_in(all_transformers());
}
Transformer known_transformer(const std::string& name) {
  return find(all_transformers(), "model", name);
}

}  // namespace hpcboot::estimate

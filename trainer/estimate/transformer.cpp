#include <algorithm>
#include <string>

#include "hpcboot/torch/estimate.hpp"
#include "torch/refusal.hpp"

// A transformer without dropout. What its operations keep is counted as in Korthikanti et al.,
// Reducing Activation Recomputation in Large Transformer Models, 2022, section 4.
namespace hpcboot::estimate {
namespace {

/// Sizes of a shape, as floating-point numbers.
struct Sizes {
  double hidden, tokens, vocabulary, heads, feed_forward;
  double queries;  ///< elements of a token's queries
  double keys;     ///< the same of its keys, and of its values
  double norm;     ///< parameters of a normalisation
};

Sizes sizes_of(const Transformer& shape) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const double hidden = number(shape.hidden);
  const double size = shape.head_size > 0 ? number(shape.head_size) : hidden / number(shape.heads);
  const std::int64_t keys = shape.key_value_heads > 0 ? shape.key_value_heads : shape.heads;
  return {hidden,
          number(shape.sequence),
          number(shape.vocabulary),
          number(shape.heads),
          shape.feed_forward > 0 ? number(shape.feed_forward) : 4 * hidden,
          size * number(shape.heads),
          size * number(keys),
          shape.rms_norm ? hidden : 2 * hidden};
}

Layer embedding(const Transformer& shape, const Sizes& n) {
  Layer layer;
  layer.name = "embedding";
  layer.divided.parameters = n.vocabulary * n.hidden;
  if (shape.learned_positions) {
    const std::int64_t positions = shape.positions > 0 ? shape.positions : shape.sequence;
    layer.each.parameters = static_cast<double>(positions) * n.hidden;
  }
  layer.each.kept_bytes = 8 * n.tokens;
  layer.output = n.tokens * n.hidden;
  // The first block keeps the sum of both embeddings, which this layer returns.
  layer.each.kept = layer.output;
  layer.sums = 1;
  return layer;
}

Layer block(const Transformer& shape, const Sizes& n, const std::string& name) {
  const double matrices = shape.gated ? 3 : 2;
  const double attention_bias = shape.attention_bias ? 1 : 0;
  const double mlp_bias = shape.mlp_bias ? 1 : 0;
  const double scores = shape.fused_attention ? 0 : n.heads * n.tokens;
  Layer layer;
  layer.name = name;
  layer.output = n.tokens * n.hidden;
  layer.sums = 4;  // after attention and feed-forward layers, and in their backward passes
  // Normalisations, and the biases of the two matrices whose results are summed.
  layer.each.parameters = 2 * n.norm + (attention_bias + mlp_bias) * n.hidden;
  layer.divided.parameters =
      2 * n.hidden * n.queries + 2 * n.hidden * n.keys + matrices * n.hidden * n.feed_forward +
      attention_bias * (n.queries + 2 * n.keys) + mlp_bias * (matrices - 1) * n.feed_forward;
  const double products =
      2 * n.hidden * n.queries + 2 * n.hidden * n.keys + matrices * n.hidden * n.feed_forward;
  // Scores and their product with the values; a fused kernel leaves out what is masked.
  const double attention = (shape.fused_attention ? 0.5 : 1) * 2 * n.queries * n.tokens;
  layer.divided.flop = 2 * n.tokens * (products + attention);
  // The inputs of both normalisations, which are the block's results, and of the first matrices.
  layer.each.kept = n.tokens * 4 * n.hidden;
  layer.each.kept_bytes = n.tokens * 4 * (shape.rms_norm ? 2 : 4);
  // Queries, keys, values, the scores' softmax, the input of the output matrix; the feed-forward
  // layer's tensors before, between and behind its activation. Without a fused kernel, keys and
  // values are repeated for each head.
  const double repeated = shape.fused_attention ? n.keys : n.queries;
  layer.divided.kept =
      n.tokens * (2 * n.queries + 2 * repeated + scores + (shape.gated ? 4 : 2) * n.feed_forward);
  layer.divided.working = n.tokens * std::max(2 * scores, matrices * n.feed_forward);
  layer.each.working = layer.output;
  return layer;
}

Layer head(const Transformer& shape, const Sizes& n) {
  Layer layer;
  layer.name = "head";
  layer.each.parameters = n.norm;
  if (!shape.tied) layer.divided.parameters = n.vocabulary * n.hidden;
  layer.divided.flop = 2 * n.tokens * n.vocabulary * n.hidden;
  layer.each.kept = n.tokens * n.hidden;  // the last block keeps the normalisation's input
  layer.each.kept_bytes = n.tokens * 4 * (shape.rms_norm ? 1 : 2);
  // The logarithms of the probabilities, in fp32, and the gradients behind and before them.
  layer.divided.kept_bytes = 4 * n.tokens * n.vocabulary;
  layer.divided.working = 2 * n.tokens * n.vocabulary;
  layer.output = n.tokens;
  layer.sums = 1;
  return layer;
}

void check(const Transformer& shape) {
  const auto positive = [](const char* name, std::int64_t value) {
    if (value < 1) refuse(std::string(name) + " " + std::to_string(value), "at least 1");
  };
  positive("layers", shape.blocks);
  positive("hidden_size", shape.hidden);
  positive("heads", shape.heads);
  positive("vocabulary", shape.vocabulary);
  positive("sequence", shape.sequence);
  if (shape.head_size == 0 && shape.hidden % shape.heads != 0) {
    refuse("hidden_size " + std::to_string(shape.hidden) + " for " + std::to_string(shape.heads) +
               " heads",
           "a hidden size that the heads divide");
  }
  if (shape.key_value_heads > 0 && shape.heads % shape.key_value_heads != 0) {
    refuse(std::to_string(shape.heads) + " heads for " + std::to_string(shape.key_value_heads) +
               " key_value_heads",
           "a number of heads that the key_value_heads divide");
  }
}

}  // namespace

Model transformer(const Transformer& shape) {
  check(shape);
  const Sizes n = sizes_of(shape);
  Model model;
  model.name = shape.name;
  model.tokens = shape.sequence;
  model.heads = shape.key_value_heads > 0 ? shape.key_value_heads : shape.heads;
  if (shape.tied) model.tied = n.vocabulary * n.hidden;
  model.layers.push_back(embedding(shape, n));
  for (std::int64_t i = 0; i < shape.blocks; ++i) {
    model.layers.push_back(block(shape, n, "block" + std::to_string(i)));
  }
  model.layers.push_back(head(shape, n));
  return model;
}

}  // namespace hpcboot::estimate

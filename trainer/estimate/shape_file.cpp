#include "estimate/shape_file.hpp"

#include <initializer_list>
#include <optional>
#include <string>

#include "hpcboot/error.hpp"
#include "json/bounded_json.hpp"
#include "json/json_reader.hpp"

namespace hpcboot::estimate {
namespace {

// Beyond any model; products of a few of these stay exact in a double.
constexpr std::int64_t kLargest = std::int64_t{1} << 31U;

constexpr std::int64_t kMostLayers = 10'000;  // each takes memory here

/// The first of these keys that is there: ours first, then those of other programs.
std::optional<std::int64_t> size_of(const JsonReader& json,
                                    std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const auto value = json.integer(key, 1, kLargest)) return value;
  }
  return std::nullopt;
}

Transformer shape_of(const JsonReader& json, const std::string& name) {
  const auto required = [&](std::initializer_list<const char*> keys) {
    return json.require(*keys.begin(), size_of(json, keys), "a whole number");
  };
  Transformer shape;
  shape.name = json.text("name").value_or(name);
  shape.blocks = required({"layers", "num_hidden_layers", "n_layer"});
  if (shape.blocks > kMostLayers) json.fail("layers", "at most 10000");
  shape.hidden = required({"hidden_size", "n_embd"});
  shape.heads = required({"heads", "num_attention_heads", "n_head"});
  shape.vocabulary = required({"vocabulary", "vocab_size"});
  shape.sequence = required({"sequence", "max_position_embeddings", "n_positions"});
  shape.head_size = size_of(json, {"head_size", "head_dim"}).value_or(0);
  shape.key_value_heads = size_of(json, {"key_value_heads", "num_key_value_heads"}).value_or(0);
  shape.feed_forward = size_of(json, {"feed_forward", "intermediate_size", "n_inner"}).value_or(0);

  const std::string kind = json.text("model_type").value_or("");
  // Other models have other parts, which these sizes do not tell.
  if (!kind.empty() && kind != "gpt2" && kind != "llama" && kind != "mistral") {
    json.fail("model_type", "gpt2, llama or mistral; for other models a file with our keys");
  }
  const bool like_gpt2 = kind == "gpt2";
  const bool like_llama = json.number("rms_norm_eps").has_value();
  shape.gated = json.boolean("gated").value_or(like_llama);
  shape.rms_norm = json.boolean("rms_norm").value_or(like_llama);
  const bool bias = json.boolean("bias").value_or(!like_llama);
  shape.attention_bias = json.boolean("attention_bias").value_or(bias);
  shape.mlp_bias = json.boolean("mlp_bias").value_or(bias);
  shape.tied =
      json.boolean("tied").value_or(json.boolean("tie_word_embeddings").value_or(like_gpt2));
  shape.learned_positions = json.boolean("learned_positions").value_or(like_gpt2);
  // As of the models known by name.
  shape.fused_attention = json.boolean("fused_attention").value_or(!kind.empty() && !like_gpt2);
  return shape;
}

}  // namespace

Transformer read_transformer(const std::filesystem::path& file) {
  try {
    const Json json = read_json_file(file);
    return shape_of(JsonReader(file.string(), json), file.stem().string());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::malformed_file) throw;
    throw Error(error.code(), error.found(), error.expected(),
                "correct the file; `trainer estimate --help` shows its keys");
  }
}

}  // namespace hpcboot::estimate

#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What training a model needs, by arithmetic: memory, operations, traffic and time of a step, for
/// models and layouts of any size, before anything is allocated. Sizes are of live tensors: what an
/// allocator or a library keeps in addition is not included.
namespace hpcboot::estimate {

/// For one sample, which is an image or a sequence; of parameters, for all samples.
struct Amounts {
  double parameters = 0;  ///< elements
  double kept = 0;        ///< elements that the forward pass keeps for the backward pass
  double kept_bytes = 0;  ///< the same, of fixed types, such as indices: in bytes
  double working = 0;     ///< further elements, at the worst moment of its backward pass
  double flop = 0;        ///< of the forward pass; a multiplication and an addition are 2

  Amounts& operator+=(const Amounts& other);
};

/// A part of a model that fully_shard() would take as a unit: a block of a transformer, of a
/// ResNet.
struct Layer {
  std::string name;
  Amounts each;       ///< on each rank of a tensor-parallel group
  Amounts divided;    ///< divided among these ranks
  double output = 0;  ///< elements of the result for one sample
  int sums = 0;       ///< all-reduces of the result, forward and backward, under tensor parallelism
};

/// Layers in the order of the forward pass.
struct Model {
  std::string name;
  std::vector<Layer> layers;
  std::int64_t tokens = 1;  ///< in a sample
  std::int64_t heads = 0;   ///< what tensor parallelism must divide; 0: it cannot be used
  double tied = 0;          ///< parameters counted in the first layer, which the last one uses, too

  double parameters() const;
};

/// The models of the trainer. @param size of images: size x size pixels
Model mnistnet(std::int64_t channels, std::int64_t size, std::int64_t classes);
Model resnet18(std::int64_t channels, std::int64_t size, std::int64_t classes);
Model resnet50(std::int64_t channels, std::int64_t size, std::int64_t classes);
/// @throws Error{invalid_model_use} for a size that is not a multiple of 16
Model vit_b_16(std::int64_t channels, std::int64_t size, std::int64_t classes);
Model vit_s_16(std::int64_t channels, std::int64_t size, std::int64_t classes);
Model vit_ti_16(std::int64_t channels, std::int64_t size, std::int64_t classes);

/// A decoder of the kind of GPT or Llama: attention and two or three matrices in each block, with a
/// normalisation before each of both.
struct Transformer {
  std::string name = "transformer";
  std::int64_t blocks = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t head_size = 0;        ///< 0: hidden / heads
  std::int64_t key_value_heads = 0;  ///< 0: as many as heads
  std::int64_t feed_forward = 0;     ///< 0: 4 x hidden
  std::int64_t vocabulary = 0;
  std::int64_t sequence = 0;
  std::int64_t positions = 0;      ///< that are learned; 0: sequence
  bool gated = false;              ///< SwiGLU, with three matrices; else GELU, with two
  bool rms_norm = false;           ///< without a mean and a bias
  bool attention_bias = true;      ///< of the matrices of queries, keys, values and output
  bool mlp_bias = true;            ///< of the feed-forward matrices
  bool tied = false;               ///< the output layer uses the embedding's weights
  bool learned_positions = false;  ///< an embedding of positions
  bool fused_attention = false;    ///< FlashAttention: no matrix of sequence x sequence
};

/// @throws Error{invalid_model_use} for a size below 1, or heads that do not divide
Model transformer(const Transformer& shape);

/// The names that known_transformer() takes.
std::vector<std::string> known_transformers();
/// A published model. @throws Error{invalid_model_use} for an unknown name
Transformer known_transformer(const std::string& name);

/// Bytes per element in training.
struct Types {
  std::string name;
  double weight = 4;    ///< as stored in the module
  double gradient = 4;  ///< as stored in the module
  double kept = 4;      ///< activations
  double cast = 0;      ///< copies of the weights that autocast makes for a step
  double master = 0;    ///< the optimizer's own copy of the weights
  double state = 4;     ///< each average of the optimizer
  double flops = 0;     ///< per second, that an H100 reaches: 40 % of its data sheet
};
/// fp64, fp32, tf32; bf16 and fp16, as the trainer's --precision (autocast, weights in fp32);
/// bf16-master (weights and gradients in bf16, the optimizer in fp32); bf16-pure
std::vector<std::string> type_names();
/// @throws Error{invalid_model_use} for an unknown name
Types types_of(const std::string& name);

/// Averages that an optimizer keeps of each gradient: adam and adamw 2, momentum 1, sgd 0.
std::vector<std::string> optimizer_names();
/// @throws Error{invalid_model_use} for an unknown name
int averages_of(const std::string& optimizer);

/// How a model is laid out over devices.
struct Layout {
  std::int64_t data = 1;      ///< replicas of the model
  std::int64_t shard = 1;     ///< ranks over which each replica's training state is sharded
  std::int64_t tensor = 1;    ///< ranks that share each matrix
  std::int64_t pipeline = 1;  ///< stages of consecutive layers
  /// Sharded by ZeRO: 1 optimizer, 2 also gradients, 3 also weights (Rajbhandari et al. 2020).
  int zero = 3;
  bool reshard_after_forward = true;  ///< ZeRO-3: gather again for the backward pass
  bool checkpoint = false;            ///< keep only each layer's input, and compute it again
  /// ZeRO-2 and 3: what each rank keeps is in host memory, and the optimizer steps there.
  bool offload = false;

  std::int64_t devices() const { return data * shard * tensor * pipeline; }
};

/// Samples of one replica and shard in one step: micro x accumulate.
struct Batch {
  std::int64_t micro = 1;
  std::int64_t accumulate = 1;  ///< with a pipeline, its micro-batches
};

/// Bytes on the device that needs most.
struct Memory {
  double weights = 0;    ///< with units that are gathered, and autocast's copies
  double gradients = 0;  ///< once the backward pass has ended
  double optimizer = 0;
  double activations = 0;  ///< at the end of the forward pass
  double buckets = 0;      ///< in which gradients are exchanged
  double working = 0;      ///< temporary, in the backward pass
  double host = 0;         ///< in the host's memory, for each device
  /// The most at one moment: less than the sum, as activations are freed while gradients arise.
  double peak = 0;
};

/// Bytes that a device sends in a step, by the dimension of the layout.
struct Traffic {
  double data = 0;
  double shard = 0;
  double weights = 0;  ///< the part of `shard` that follows the optimizer's step
  double tensor = 0;
  double pipeline = 0;
  double from_host = 0;  ///< what it receives from its host: weights
  double to_host = 0;    ///< gradients
  double update = 0;     ///< what the host reads and writes for the optimizer's step
};

struct Estimate {
  Memory memory;
  double flop = 0;  ///< of a device in a step, forward and backward
  Traffic traffic;
};

/// @throws Error{invalid_model_use} if the layout does not fit the model, naming sizes that do
Estimate estimate(const Model& model, const Types& types, int averages, const Layout& layout,
                  const Batch& batch);

/// Devices and their links; speeds are those that programs reach, not those of data sheets.
struct Machine {
  double flops = 0;              ///< operations per second of a device
  double memory = 0;             ///< bytes of a device
  double node_bandwidth = 0;     ///< bytes per second of a device within its node, one way
  double network_bandwidth = 0;  ///< the same, between nodes
  std::int64_t devices_per_node = 1;
  double host_bandwidth = 25e9;         ///< bytes per second between a device and its host, one way
  double host_memory_bandwidth = 50e9;  ///< of the host, for each device
};

/// Seconds of a step. Exchanges of gradients and weights overlap with computation; only what
/// exceeds it counts.
struct StepTime {
  double compute = 0;
  double tensor = 0;    ///< sums of tensor parallelism, which nothing overlaps
  double exchange = 0;  ///< of gradients and weights, beyond the computation that it overlaps with
  double update = 0;    ///< of the weights, on the host; on a device it is short
  double pipeline = 0;  ///< idle while the pipeline fills and drains, and transfers

  double total() const { return compute + tensor + exchange + update + pipeline; }
};

StepTime step_time(const Estimate& needs, const Layout& layout, const Batch& batch,
                   const Machine& machine);

/// A layout with what it needs.
struct Plan {
  Layout layout;
  Batch batch;
  Estimate needs;
  StepTime time;
};

/// All layouts of a model over exactly `devices` devices that fit into their memory, the fastest
/// first. Tensor parallelism stays within a node.
/// @param samples of all devices in a step; layouts that cannot divide it are left out
std::vector<Plan> fitting_layouts(const Model& model, const Types& types, int averages,
                                  std::int64_t devices, std::int64_t samples, Layout settings,
                                  const Machine& machine);

}  // namespace hpcboot::estimate

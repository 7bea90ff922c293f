// The arithmetic of hpcboot::estimate against published numbers, and against the definitions.
#include "hpcboot/torch/estimate.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <set>
#include <tuple>

#include "estimate/shape_file.hpp"
#include "hpcboot/error.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::estimate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kGiga = 1e9;

double parameters_of(const char* name) {
  return transformer(known_transformer(name)).parameters();
}

TEST(EstimateModel, HasThePublishedNumberOfParameters) {
  // torchvision, and timm's DeiT
  EXPECT_EQ(resnet18(3, 224, 1000).parameters(), 11'689'512);
  EXPECT_EQ(resnet50(3, 224, 1000).parameters(), 25'557'032);
  EXPECT_EQ(vit_b_16(3, 224, 1000).parameters(), 86'567'656);
  EXPECT_EQ(vit_s_16(3, 224, 1000).parameters(), 22'050'664);
  EXPECT_EQ(vit_ti_16(3, 224, 1000).parameters(), 5'717'416);
  // The sizes of the files that their authors publish.
  EXPECT_EQ(parameters_of("gpt2"), 124'439'808);
  EXPECT_EQ(parameters_of("gpt2-xl"), 1'557'611'200);
  EXPECT_EQ(parameters_of("llama-3.1-8b"), 8'030'261'248);
  EXPECT_EQ(parameters_of("llama-3.1-70b"), 70'553'706'496);
  EXPECT_EQ(parameters_of("llama-3.1-405b"), 405'853'388'800);
}

TEST(EstimateModel, HasThePublishedNumberOfOperations) {
  const auto multiply_adds = [](const Model& model) {
    double flop = 0;
    for (const Layer& layer : model.layers) flop += layer.each.flop + layer.divided.flop;
    return flop / 2 / kGiga;
  };
  // torchvision's GFLOPS, counted as multiply-adds
  EXPECT_NEAR(multiply_adds(resnet18(3, 224, 1000)), 1.81, 0.01);
  EXPECT_NEAR(multiply_adds(resnet50(3, 224, 1000)), 4.09, 0.01);
  EXPECT_NEAR(multiply_adds(vit_b_16(3, 224, 1000)), 17.56, 0.01);
  // Table 2 of Kaplan et al., 2020: 2 operations for each parameter of a matrix, and 2 for each
  // element of scores and values.
  const Transformer shape = known_transformer("gpt2");
  const Layer block = transformer(shape).layers.at(1);
  const double matrices = 12.0 * 768 * 768;
  EXPECT_EQ(block.divided.flop, 1024 * (2 * matrices + 4.0 * 1024 * 768));
}

TEST(EstimateModel, BlockKeepsWhatKorthikantiCounts) {
  // s b h (34 + 5 a s / h) bytes, of which dropout takes 2 and 3 a s / h.
  const Transformer shape = known_transformer("gpt2");
  const Layer block = transformer(shape).layers.at(1);
  const double tokens = 1024, hidden = 768, heads = 12;
  EXPECT_EQ(2 * (block.each.kept + block.divided.kept),
            tokens * hidden * (32 + 2 * heads * tokens / hidden));
  // On t ranks: 10 + 24 / t + 5 a s / (h t), of which dropout takes 2 and 3 a s / (h t).
  EXPECT_EQ(2 * block.each.kept, tokens * hidden * 8);
}

/// `count` layers of the same number of parameters.
Model uniform(double parameters, int count) {
  Model model;
  model.name = "uniform";
  model.heads = 8;
  Layer layer;
  layer.divided.parameters = parameters / count;
  layer.divided.flop = parameters / count;
  layer.output = 1;
  layer.each.kept = 10;
  model.layers.assign(static_cast<std::size_t>(count), layer);
  return model;
}

Memory memory_of(const Model& model, const char* types, const Layout& layout, Batch batch = {}) {
  return estimate(model, types_of(types), 2, layout, batch).memory;
}

Layout sharded(std::int64_t shard, int zero) {
  Layout layout;
  layout.shard = shard;
  layout.zero = zero;
  return layout;
}

TEST(EstimateMemory, OfATrillionParameters) {
  const Memory memory = memory_of(uniform(1e12, 100), "bf16-pure", {});
  EXPECT_EQ(memory.weights, 2e12);
  EXPECT_EQ(memory.gradients, 2e12);
  EXPECT_EQ(memory.optimizer, 4e12);
}

TEST(EstimateMemory, OfZeroIsThatOfItsPaper) {
  // Rajbhandari et al., ZeRO, 2020, figure 1: 7.5 G parameters on 64 devices. ZeRO-3 holds two
  // layers in addition.
  const Model model = uniform(7.5e9, 1000);
  const auto state = [&](const Layout& layout) {
    const Memory memory = memory_of(model, "bf16-master", layout);
    return (memory.weights + memory.gradients + memory.optimizer) / kGiga;
  };
  EXPECT_NEAR(state({}), 120, 0.05);
  EXPECT_NEAR(state(sharded(64, 1)), 31.4, 0.05);
  EXPECT_NEAR(state(sharded(64, 2)), 16.6, 0.05);
  EXPECT_NEAR(state(sharded(64, 3)), 1.9 + 2 * 7.5e6 * 2 / kGiga, 0.05);
  Layout gathered = sharded(64, 3);
  gathered.reshard_after_forward = false;
  EXPECT_NEAR(state(gathered), 15 + 1.9, 0.05);
}

TEST(EstimateMemory, OfWhatIsOffloadedIsOnTheHost) {
  for (const std::int64_t ranks : {1, 4}) {
    Layout layout = sharded(ranks, 3);
    layout.offload = true;
    const Memory memory = memory_of(uniform(1000, 10), "fp32", layout);
    EXPECT_EQ(memory.weights, 2 * 100 * 4) << "two layers";
    EXPECT_EQ(memory.buckets, 2 * 100 * 4);
    EXPECT_EQ(memory.gradients, 0);
    EXPECT_EQ(memory.optimizer, 0);
    EXPECT_EQ(memory.host, 16.0 * 1000 / static_cast<double>(ranks));
    layout.zero = 2;
    EXPECT_EQ(memory_of(uniform(1000, 10), "fp32", layout).weights, 4000);
  }
  EXPECT_EQ(memory_of(uniform(1000, 10), "fp32", sharded(4, 3)).host, 0);
}

TEST(EstimateMemory, OfBucketsIsThatOfTheGradientsUnderDdp) {
  Layout ddp;
  ddp.data = 2;
  EXPECT_EQ(memory_of(uniform(1000, 10), "fp32", ddp).buckets, 4000);
  EXPECT_EQ(memory_of(uniform(1000, 10), "fp32", {}).buckets, 0);
  EXPECT_EQ(memory_of(uniform(1000, 10), "fp32", sharded(2, 2)).buckets, 2 * 100 * 4);
}

TEST(EstimateMemory, CheckpointsKeepTheInputsOfLayers) {
  Layout layout;
  const double all = memory_of(uniform(1000, 10), "fp32", layout, {3, 1}).activations;
  EXPECT_EQ(all, 3 * 10 * 10 * 4);
  layout.checkpoint = true;
  const Memory memory = memory_of(uniform(1000, 10), "fp32", layout, {3, 1});
  EXPECT_EQ(memory.activations, 3 * 10 * 1 * 4);
  EXPECT_EQ(memory.working, 3 * 10 * 4);
}

TEST(EstimateMemory, TensorAndPipelineParallelismDivideTheModel) {
  Layout layout;
  layout.tensor = 4;
  EXPECT_EQ(memory_of(uniform(1000, 10), "fp32", layout).gradients, 1000);
  layout.pipeline = 5;
  const Memory memory = memory_of(uniform(1000, 10), "fp32", layout, {1, 8});
  EXPECT_EQ(memory.gradients, 200);
  // The first stage keeps a micro-batch for each stage, of its two layers.
  EXPECT_EQ(memory.activations, 5 * 2 * 10 * 4);
  EXPECT_EQ(memory_of(uniform(1000, 10), "fp32", layout, {1, 3}).activations, 3 * 2 * 10 * 4);
}

TEST(EstimateTraffic, IsThatOfARing) {
  const auto traffic = [](const Layout& layout, Batch batch = {}) {
    return estimate(uniform(1000, 10), types_of("fp32"), 2, layout, batch).traffic;
  };
  Layout ddp;
  ddp.data = 4;
  EXPECT_EQ(traffic(ddp, {1, 3}).data, 2 * 4000 * 3 / 4.0);  // once in a step
  EXPECT_EQ(traffic(sharded(4, 1)).shard, 3 * 4000 * 3 / 4.0);
  EXPECT_EQ(traffic(sharded(4, 2)).shard, 2 * 4000 * 3 / 4.0);
  EXPECT_EQ(traffic(sharded(4, 3)).shard, 3 * 4000 * 3 / 4.0);  // the paper: 1.5 times DDP's
  Layout gathered = sharded(4, 3);
  gathered.reshard_after_forward = false;
  EXPECT_EQ(traffic(gathered).shard, 2 * 4000 * 3 / 4.0);
  // Replicas of shards exchange a shard each.
  Layout both = sharded(4, 3);
  both.data = 2;
  EXPECT_EQ(traffic(both).data, 2 * 1000 / 2.0);
}

TEST(EstimateTime, CountsOnlyWhatComputationDoesNotHide) {
  const Machine machine{1000, 1e12, 1000, 10, 8};
  Layout layout;
  layout.data = 8;
  const Model model = uniform(1000, 10);
  const Estimate needs = estimate(model, types_of("fp32"), 2, layout, {1, 1});
  EXPECT_EQ(needs.flop, 3000);
  StepTime time = step_time(needs, layout, {1, 1}, machine);
  EXPECT_EQ(time.compute, 3);
  EXPECT_EQ(time.exchange, 2 * 4 * 7 / 8.0 - 2);  // 7 s, beside a backward pass of 2
  layout.data = 16;                               // on two nodes
  time = step_time(estimate(model, types_of("fp32"), 2, layout, {1, 1}), layout, {1, 1}, machine);
  EXPECT_EQ(time.exchange, 2 * 400 * 15 / 16.0 - 2);
}

TEST(EstimateTime, HidesAnExchangeInTheBackwardPassBesideIt) {
  const Machine machine{1000, 1e12, 1000, 10, 8};
  const Model model = uniform(1000, 10);
  const auto exposed = [&](const Layout& layout, Batch batch) {
    return step_time(estimate(model, types_of("fp32"), 2, layout, batch), layout, batch, machine)
        .exchange;
  };
  Layout ddp;
  ddp.data = 8;
  // With accumulation in the last one of them.
  EXPECT_EQ(exposed(ddp, {1, 4}), exposed(ddp, {1, 1}));
  // The weights that ZeRO-1 and 2 send after the optimizer's step are hidden by nothing.
  const double gather = 4 * 7 / 8.0;
  EXPECT_EQ(exposed(sharded(8, 1), {1, 1}), 2 * gather - 2 + gather);
  EXPECT_EQ(exposed(sharded(8, 2), {1, 1}), gather - 2 + gather);
  EXPECT_EQ(exposed(sharded(8, 3), {1, 1}), 3 * gather - 3);
}

TEST(EstimateTime, OfOffloadingIsThatOfCopiesAndOfTheUpdate) {
  const Machine machine{1000, 1e12, 1e12, 1e12, 8, 800, 2800};
  const auto time_of = [&](Layout layout, Batch batch = {1, 1}) {
    layout.offload = true;
    const Estimate needs = estimate(uniform(1000, 10), types_of("fp32"), 2, layout, batch);
    return step_time(needs, layout, batch, machine);
  };
  // Weights go to the device twice while gradients come: 8,000 bytes at 800 a second, beside 3 s.
  EXPECT_EQ(time_of(sharded(1, 3)).exchange, 10 - 3);
  EXPECT_EQ(time_of(sharded(1, 2)).exchange, 5 - 3);
  EXPECT_EQ(time_of(sharded(1, 3), {1, 4}).exchange, 4 * (10 - 3)) << "in each pass";
  EXPECT_NEAR(time_of(sharded(2, 3)).exchange, 5 - 3, 1e-6);
  // The host reads and writes weights and two averages, and reads gradients: 28 bytes each.
  EXPECT_EQ(time_of(sharded(1, 3)).update, 10);
  EXPECT_EQ(time_of(sharded(2, 3)).update, 5);
}

TEST(EstimateTime, OfAPipelineIncludesItsIdleTime) {
  const Machine machine{1000, 1e12, 1e12, 1e12, 8};
  Layout layout;
  layout.pipeline = 5;
  const Batch batch{1, 10};
  const Estimate needs = estimate(uniform(1000, 10), types_of("fp32"), 2, layout, batch);
  const StepTime time = step_time(needs, layout, batch, machine);
  EXPECT_EQ(time.compute, 6);
  EXPECT_NEAR(time.pipeline, 6 * 4 / 10.0, 1e-6);
}

TEST(EstimateLayouts, AreAllThatFitTheFastestFirst) {
  const Model model = uniform(1e9, 12);
  const Machine machine{1e12, 6e9, 1e11, 1e10, 8};
  const auto plans = fitting_layouts(model, types_of("fp32"), 2, 16, 32, {}, machine);
  ASSERT_FALSE(plans.empty());
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;
  double before = 0;
  for (const Plan& plan : plans) {
    EXPECT_EQ(plan.layout.devices(), 16);
    EXPECT_EQ(plan.batch.micro * plan.batch.accumulate * plan.layout.data * plan.layout.shard, 32);
    EXPECT_LE(plan.needs.memory.peak, machine.memory);
    EXPECT_LE(plan.layout.tensor, 8);
    EXPECT_GE(plan.time.total(), before);
    before = plan.time.total();
    EXPECT_TRUE(seen.emplace(plan.layout.shard, plan.layout.tensor, plan.layout.pipeline).second);
  }
  // 16 GB of weights, gradients and state: one device alone has no room.
  EXPECT_EQ(seen.count({1, 1, 1}), 0U);
  EXPECT_EQ(seen.count({16, 1, 1}), 1U);
  EXPECT_TRUE(fitting_layouts(model, types_of("fp32"), 2, 1, 1, {}, machine).empty());
}

TEST(EstimateLayouts, IncludeALargerMicroBatchThatFitsWhereASmallerOneDoesNot) {
  // With several passes, all gradients are held beside all activations.
  Transformer shape = known_transformer("gpt2");
  shape.sequence = 128;
  const Machine machine{1e12, 2.05e9, 1e11, 1e10, 8};
  const auto plans = fitting_layouts(transformer(shape), types_of("fp32"), 2, 1, 2, {}, machine);
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].batch.micro, 2);
}

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(EstimateRefuses, LayoutsThatCannotBe) {
  const Model llama = transformer(known_transformer("llama-3.1-8b"));
  const auto refusal = [](const Model& model, const Layout& layout, Batch batch = {}) {
    return refusal_of([&] { memory_of(model, "fp32", layout, batch); });
  };
  Layout layout;
  layout.tensor = 3;
  EXPECT_THAT(refusal(llama, layout),
              AllOf(HasSubstr("tensor parallelism over 3 devices for 8 heads of keys and values"),
                    HasSubstr("choose one of 1 2 4 8")));
  EXPECT_THAT(refusal(resnet50(3, 64, 10), layout), HasSubstr("a transformer"));
  layout = {};
  layout.pipeline = 19;
  EXPECT_THAT(refusal(resnet50(3, 64, 10), layout), HasSubstr("choose at most 18 stages"));
  EXPECT_THAT(refusal(llama, sharded(2, 4)), HasSubstr("ZeRO stage 4"));
  layout = sharded(2, 1);
  layout.offload = true;
  EXPECT_THAT(refusal(llama, layout), HasSubstr("offload to the host with ZeRO stage 1"));
  EXPECT_THAT(refusal(llama, sharded(0, 3)), HasSubstr("shard 0"));
  EXPECT_THAT(refusal(llama, {}, {0, 1}), HasSubstr("micro-batch 0"));
  layout = sharded(1'000'000, 3);
  layout.data = 1'000'000;
  EXPECT_THAT(refusal(llama, layout), HasSubstr("at most a billion"));
}

TEST(EstimateRefuses, UnknownNamesAndImpossibleShapes) {
  EXPECT_THAT(refusal_of([] { types_of("fp8"); }), HasSubstr("one of fp64, fp32, tf32, bf16"));
  EXPECT_THAT(refusal_of([] { averages_of("lion"); }), HasSubstr("one of adam, adamw"));
  EXPECT_THAT(refusal_of([] { known_transformer("gpt5"); }), HasSubstr("one of gpt2"));
  Transformer shape = known_transformer("gpt2");
  shape.heads = 7;
  EXPECT_THAT(refusal_of([&] { transformer(shape); }), HasSubstr("hidden_size 768 for 7 heads"));
  shape = known_transformer("llama-3.1-8b");
  shape.key_value_heads = 5;
  EXPECT_THAT(refusal_of([&] { transformer(shape); }), HasSubstr("32 heads for 5 key_value_heads"));
}

class ShapeFile : public testing::Test {
 protected:
  Transformer read(const std::string& text) {
    const auto file = folder.path() / "config.json";
    std::ofstream(file) << text;
    return read_transformer(file);
  }
  std::string refusal(const std::string& text) {
    return refusal_of([&] { read(text); });
  }

  test::TemporaryFolder folder;
};

TEST_F(ShapeFile, OfOurKeys) {
  const Transformer shape = read(
      R"({"layers": 2, "hidden_size": 8, "heads": 4, "vocabulary": 10, "sequence": 16, "gated": true})");
  EXPECT_EQ(shape.name, "config");
  EXPECT_THAT(std::vector<std::int64_t>(
                  {shape.blocks, shape.hidden, shape.heads, shape.vocabulary, shape.sequence}),
              ElementsAre(2, 8, 4, 10, 16));
  EXPECT_TRUE(shape.gated);
  EXPECT_TRUE(shape.attention_bias && shape.mlp_bias);
  EXPECT_FALSE(shape.fused_attention);
}

TEST_F(ShapeFile, OfHuggingFace) {
  // What the two models' config.json say about their sizes.
  const Transformer gpt2 =
      read(R"({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12,
    "n_inner": null, "vocab_size": 50257, "n_positions": 1024, "layer_norm_epsilon": 1e-05})");
  EXPECT_EQ(transformer(gpt2).parameters(), 124'439'808);
  EXPECT_EQ(gpt2.fused_attention, known_transformer("gpt2").fused_attention);
  EXPECT_EQ(
      transformer(read(R"({"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
    "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "tie_word_embeddings": false})"))
          .parameters(),
      8'030'261'248);
}

TEST_F(ShapeFile, OfALlamaWithBiases) {
  const auto parameters = [&](const std::string& more) {
    return transformer(read(R"({"model_type": "llama", "num_hidden_layers": 3, "hidden_size": 64,
      "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 100,
      "vocab_size": 10, "max_position_embeddings": 16, "rms_norm_eps": 1e-05)" +
                            more + "}"))
        .parameters();
  };
  const auto plain = parameters("");
  EXPECT_EQ(parameters(R"(, "attention_bias": true)") - plain, 3 * (64 + 2 * 32 + 64));
  EXPECT_EQ(parameters(R"(, "mlp_bias": true)") - plain, 3 * (2 * 100 + 64));
}

TEST_F(ShapeFile, OfAnotherKindOfModelIsRefused) {
  const std::string sizes =
      R"("num_hidden_layers": 2, "hidden_size": 5120, "num_attention_heads": 32, "vocab_size": 10,
    "num_key_value_heads": 8, "max_position_embeddings": 16, "rms_norm_eps": 1e-05)";
  EXPECT_THAT(refusal("{\"model_type\": \"mixtral\", " + sizes + "}"),
              AllOf(HasSubstr("mixtral"), HasSubstr("gpt2, llama or mistral")));
  // Heads may be smaller than hidden / heads: queries and outputs of 32 x 128.
  const Model nemo =
      transformer(read("{\"model_type\": \"mistral\", \"head_dim\": 128, " + sizes + "}"));
  EXPECT_EQ(nemo.layers[1].divided.parameters,
            2.0 * 5120 * 4096 + 2 * 5120 * 1024 + 3.0 * 5120 * 4 * 5120);
}

TEST_F(ShapeFile, ThatIsDamagedIsAnErrorThatNamesTheKey) {
  EXPECT_THAT(refusal(R"({"layers": 2})"), HasSubstr("hidden_size"));
  EXPECT_THAT(refusal(R"({"layers": "2"})"), AllOf(HasSubstr("layers"), HasSubstr("\"2\"")));
  EXPECT_THAT(refusal(R"({"layers": 0})"), HasSubstr("layers"));
  EXPECT_THAT(refusal(R"({"layers": 1000000})"), HasSubstr("layers"));
  EXPECT_THAT(refusal("[]"), HasSubstr("config.json"));
  EXPECT_THAT(refusal("{"), AllOf(HasSubstr("config.json"), HasSubstr("correct the file")));
  EXPECT_THAT(refusal_of([] { read_transformer("/nonexistent/x.json"); }),
              HasSubstr("/nonexistent"));
}

}  // namespace
}  // namespace hpcboot::estimate

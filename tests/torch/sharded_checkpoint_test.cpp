// Checkpoints that all ranks write, read by other numbers of ranks with other things divided.
#include "hpcboot/torch/sharded_checkpoint.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/optim.h>

#include <csignal>
#include <optional>

#include "hpcboot/torch/collectives.hpp"
#include "hpcboot/torch/distributed_data_parallel.hpp"
#include "hpcboot/torch/fully_shard.hpp"
#include "hpcboot/torch/sharded_optimizer.hpp"
#include "record/sharded_safetensors.hpp"
#include "support/temporary_folder.hpp"
#include "torch/optimizer_key.hpp"
#include "torch/optimizer_state.hpp"
#include "torch/thrown.hpp"
#include "torch/transformer.hpp"
#include "torch/world.hpp"

namespace hpcboot {
namespace {

namespace fs = std::filesystem;
namespace optim = torch::optim;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Make = ShardedOptimizer::Make;
using Values = std::map<std::string, torch::Tensor>;

/// With buffers, and with a weight whose elements are not in C order.
struct Net : torch::nn::Module {
  Net()
      : conv(register_module("conv", torch::nn::Conv2d(2, 16, 3))),
        norm(register_module("norm", torch::nn::BatchNorm2d(16))),
        body(register_module("body", torch::nn::Sequential())),
        head(register_module("head", torch::nn::Linear(16, 10))) {
    for (int i = 0; i < 2; ++i) body->push_back(shard_unit(Layer(16, 4)));
    conv->weight.set_data(conv->weight.detach().clone(torch::MemoryFormat::ChannelsLast));
  }

  torch::Tensor forward(torch::Tensor x) {
    const torch::Tensor seen = norm->forward(conv->forward(x)).flatten(2).transpose(1, 2);
    return head->forward(body->forward(seen).mean(1));
  }

  torch::nn::Conv2d conv;
  torch::nn::BatchNorm2d norm;
  torch::nn::Sequential body;
  torch::nn::Linear head;
};

std::unique_ptr<optim::Optimizer> adam(const ShardedOptimizer::Groups& groups) {
  return std::make_unique<optim::Adam>(groups, optim::AdamOptions(1e-2).amsgrad(true));
}

std::unique_ptr<optim::Optimizer> sgd(const ShardedOptimizer::Groups& groups) {
  return std::make_unique<optim::SGD>(groups, optim::SGDOptions(1e-2).momentum(0.9));
}

/// Beside ZeRO's stages: the third, with shards and state in host memory.
constexpr int kOffloaded = 4;
/// On the CPU, that is the third.
int ways() {
  return device.is_cpu() ? 3 : kOffloaded;
}

/// A model on the ranks of a group; `zero` says what is divided among them.
struct Training {
  Training(ProcessGroup ranks, int zero, std::uint64_t seed, const Make& make = adam)
      : group(std::move(ranks)) {
    torch::manual_seed(seed);
    net = here(std::make_shared<Net>());
    if (zero >= 2) {
      FullyShardOptions options;
      options.reshard_after_forward = zero != 2;
      options.offload_to_host = zero == kOffloaded;
      divided = fully_shard(net, group, options);
      optimizer = std::make_unique<ShardedOptimizer>(*divided, make);
      return;
    }
    ddp.emplace(net, group);
    if (zero == 1) {
      optimizer = std::make_unique<ShardedOptimizer>(net->parameters(), group, make);
    } else {
      optimizer = make({optim::OptimizerParamGroup(net->parameters())});
    }
  }

  torch::nn::Module& model() { return divided ? static_cast<torch::nn::Module&>(*divided) : *net; }

  void train(int steps) {
    for (int step = 0; step < steps; ++step) {
      torch::manual_seed(static_cast<std::uint64_t>(100 * step + group.rank()));
      const torch::Tensor x = here(torch::randn({3, 2, 6, 6}));
      model().zero_grad(/*set_to_none=*/true);
      (divided ? divided->forward(x) : ddp->forward(x)).square().mean().backward();
      optimizer->step();
    }
  }

  void save(const fs::path& folder) { save_sharded(folder, model(), optimizer.get(), group); }
  LoadedCheckpoint load(const fs::path& folder) {
    return load_sharded(folder, model(), optimizer.get());
  }

  /// Parameters, buffers and states, whole, by name, on the first rank. Collective.
  Values values() {
    Values all;
    auto* sharded = dynamic_cast<ShardedOptimizer*>(optimizer.get());
    if (sharded != nullptr) sharded->gather_state();
    torch::OrderedDict<std::string, torch::Tensor> whole;
    if (divided) whole = divided->gather_parameters();
    if (group.rank() != 0) return all;
    auto& states = optimizer->state();
    for (const auto& item : net->named_parameters()) {
      const torch::Tensor& value = divided ? whole[item.key()] : item.value();
      all[item.key()] = value.detach().cpu().clone();
      const auto state = states.find(key_of(states, item.value()));
      if (state == states.end()) continue;
      const auto fields = *fields_of(*state->second);
      if (fields.steps != nullptr) all[item.key() + ".step"] = torch::tensor(*fields.steps);
      for (std::size_t i = 0; i < fields.tensors.size(); ++i) {
        if (!fields.tensors[i]->defined()) continue;
        all[item.key() + "." + fields.names[i]] = fields.tensors[i]->cpu().clone();
      }
    }
    for (const auto& item : net->named_buffers()) all[item.key()] = item.value().cpu().clone();
    if (sharded != nullptr) sharded->release_state();
    return all;
  }

  ProcessGroup group;
  std::shared_ptr<Net> net;
  std::optional<DistributedDataParallel<std::shared_ptr<Net>>> ddp;
  std::shared_ptr<ShardUnitOf<Net>> divided;
  std::unique_ptr<optim::Optimizer> optimizer;
};

void expect_equal(const Values& found, const Values& expected, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (const auto& [name, value] : expected) {
    const auto other = found.find(name);
    ASSERT_NE(other, found.end()) << what << name;
    EXPECT_TRUE(other->second.equal(value)) << what << name;
  }
}

/// One folder for all ranks, removed by rank 0.
class ShardedCheckpoint : public ::testing::Test {
 protected:
  void SetUp() override {
    if (world->rank() == 0) own_.emplace();
    root_ = broadcast_text(*world, own_ ? own_->path().string() : "");
  }
  void TearDown() override { world->barrier(); }

  const fs::path& root() const { return root_; }

 private:
  std::optional<test::TemporaryFolder> own_;
  fs::path root_;
};

TEST_F(ShardedCheckpoint, IsReadWhateverIsDivided) {
  for (const Make& make : {Make(adam), Make(sgd)}) {
    for (int saved = 0; saved <= ways(); ++saved) {
      Training from(*world, saved, 1, make);
      from.train(2);
      const fs::path folder = root() / std::to_string(saved);
      from.save(folder);
      const Values expected = from.values();
      for (int loaded = 0; loaded <= ways(); ++loaded) {
        Training to(*world, loaded, 2, make);
        to.train(1);
        const LoadedCheckpoint found = to.load(folder);
        EXPECT_TRUE(found.others.empty());
        const std::string what = "from " + std::to_string(saved) + " to " + std::to_string(loaded);
        expect_equal(to.values(), expected, what + ": ");
        if (loaded == saved && world->world_size() <= 2) {
          // It trains on as what was saved does.
          Training same(*world, saved, 1, make);
          same.train(2);
          to.train(1);
          same.train(1);
          expect_equal(to.values(), same.values(), what + ", trained: ");
        }
      }
      world->barrier();
      if (world->rank() == 0) fs::remove_all(folder);
      world->barrier();
    }
  }
}

TEST_F(ShardedCheckpoint, IsReadByOtherNumbersOfRanks) {
  Training all(*world, 3, 1);
  all.train(2);
  all.save(root() / "all");
  const Values expected = all.values();
  // By each rank alone, and by ranks in pairs.
  for (const int size : {1, 2}) {
    ProcessGroup few = world->split(world->rank() / size);
    for (int zero = 0; zero <= 3; ++zero) {
      Training part(few, zero, 2);
      part.load(root() / "all");
      const Values found = part.values();
      if (world->rank() == 0) expect_equal(found, expected, "on fewer ranks: ");
    }
    const fs::path own =
        root() / (std::to_string(size) + "_" + std::to_string(world->rank() / size));
    {
      Training part(few, 3, 2);
      part.load(root() / "all");
      part.save(own);
    }
    few.shutdown();
  }
  // What one rank has saved, by all.
  world->barrier();
  for (const char* saved : {"1_0", "2_0"}) {
    Training again(*world, 3, 3);
    again.load(root() / saved);
    expect_equal(again.values(), expected, "on more ranks: ");
  }
}

TEST_F(ShardedCheckpoint, EachRankWritesAboutAsMuch) {
  Training some(*world, 3, 1);
  some.train(1);
  const fs::path folder = root() / "saved";
  save_sharded(folder, some.model(), some.optimizer.get(), *world, {{"epoch", "7"}});
  const int ranks = world->world_size();
  std::vector<std::string> names{"model.safetensors.index.json",
                                 "optimizer.safetensors.index.json"};
  std::uintmax_t least = UINTMAX_MAX, most = 0;
  for (const char* stem : {"model", "optimizer"}) {
    for (int rank = 0; rank < ranks; ++rank) {
      names.push_back(record::shard_file_name(stem, rank, ranks));
      if (stem != std::string("model")) continue;
      const auto bytes = fs::file_size(folder / names.back());
      least = std::min(least, bytes);
      most = std::max(most, bytes);
    }
  }
  std::vector<std::string> found;
  for (const auto& file : fs::directory_iterator(folder)) {
    found.push_back(file.path().filename().string());
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(names));
  EXPECT_LE(most - least, 6000U);  // the largest tensor has 4096 bytes
  EXPECT_FALSE(fs::exists(root() / ".saved.tmp"));
  const record::ShardedSafetensors index(folder, "model");
  EXPECT_EQ(index.metadata().at("epoch"), "7");
  EXPECT_EQ(index.tensors().at("body.1.up.weight").shape, (std::vector<std::int64_t>{64, 16}));
  EXPECT_EQ(index.tensors().size(),
            some.net->named_parameters().size() + some.net->named_buffers().size());
}

TEST_F(ShardedCheckpoint, OfTheModelAlone) {
  Training some(*world, 2, 1);
  const fs::path folder = root() / "model";
  save_sharded(folder, some.model(), nullptr, *world);
  Training other(*world, 0, 2);
  load_sharded(folder, *other.net, nullptr);
  const Values found = other.values(), expected = some.values();
  expect_equal(found, expected, "");
  // Without the optimizer's files, its state cannot be loaded.
  EXPECT_EQ(error_of([&] { other.load(folder); }).code(), ErrorCode::unreadable_file);
}

TEST_F(ShardedCheckpoint, OfAnotherModelOrOptimizerIsRefusedAndChangesNothing) {
  Training some(*world, 3, 1);
  some.train(1);
  some.save(root() / "adam");
  Training other(*world, 3, 2, sgd);
  other.train(1);
  const Values before = other.values();
  const Error kind = error_of([&] { other.load(root() / "adam"); });
  EXPECT_EQ(kind.code(), ErrorCode::malformed_file);
  EXPECT_THAT(kind.found(), HasSubstr("which this optimizer does not have"));
  expect_equal(other.values(), before, "");

  torch::nn::Sequential wider(torch::nn::Linear(16, 11));
  const Error model = error_of([&] { load_sharded(root() / "adam", *wider, nullptr); });
  EXPECT_EQ(model.code(), ErrorCode::malformed_file);
  EXPECT_THAT(model.found(), HasSubstr("no tensor '0.bias'"));
}

TEST_F(ShardedCheckpoint, AnExistingFolderIsRefusedOnEveryRank) {
  Training some(*world, 3, 1);
  some.save(root() / "saved");
  const Error error = error_of([&] { some.save(root() / "saved"); });
  EXPECT_EQ(error.code(), ErrorCode::unwritable_output);
  EXPECT_THAT(error.found(), HasSubstr("rank 0: cannot create"));
  some.save(root() / "other/");  // the group is usable, and a slash does not matter
  EXPECT_TRUE(fs::exists(root() / "other" / "model.safetensors.index.json"));
}

TEST_F(ShardedCheckpoint, WhatACrashHasLeftIsNotAPartOfTheNext) {
  const fs::path hidden = root() / ".saved.tmp";
  if (world->rank() == 0) {
    test::write_text(hidden / record::shard_file_name("model", 8, 9), "left");
  }
  world->barrier();
  Training some(*world, 1, 1);
  some.save(root() / "saved");
  EXPECT_FALSE(fs::exists(hidden));
  EXPECT_FALSE(fs::exists(root() / "saved" / record::shard_file_name("model", 8, 9)));
}

TEST_F(ShardedCheckpoint, ARankThatCannotWriteIsNamedOnEveryRankAndNothingIsLeft) {
  const int last = world->world_size() - 1;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  Training some(*world, 3, 1);
  if (world->rank() == last) {
    const rlimit small{1000, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  const Error error = error_of([&] { some.save(root() / "saved"); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(error.code(), ErrorCode::unwritable_output);
  EXPECT_THAT(error.found(), HasSubstr("rank " + std::to_string(last) + ": cannot write"));
  world->barrier();
  if (world->rank() == 0) {
    EXPECT_TRUE(fs::is_empty(root()));
  }
  some.save(root() / "saved");
}

TEST_F(ShardedCheckpoint, AWrongByteIsFoundByTheRankThatVerifiesTheFile) {
  Training some(*world, 3, 1);
  some.train(1);
  some.save(root() / "saved");
  const auto verify = [&] { verify_sharded(root() / "saved", world->rank(), world->world_size()); };
  EXPECT_NO_THROW(verify());
  world->barrier();
  const fs::path file =
      root() / "saved" / record::shard_file_name("optimizer", 0, world->world_size());
  if (world->rank() == 0) {
    std::string bytes = test::read_text(file);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    test::write_text(file, bytes);
  }
  world->barrier();
  // The files of the optimizer follow those of the model.
  if (world->rank() == 0) {
    const Error error = error_of(verify);
    EXPECT_EQ(error.code(), ErrorCode::malformed_file);
    EXPECT_THAT(error.found(), HasSubstr(file.string()));
  } else {
    EXPECT_NO_THROW(verify());
  }
  world->barrier();
  if (world->rank() == 0) fs::remove(file);
  world->barrier();
  EXPECT_EQ(error_of(verify).code(), ErrorCode::unreadable_file);
  EXPECT_EQ(error_of([&] { some.load(root() / "saved"); }).code(), ErrorCode::unreadable_file);
}

}  // namespace
}  // namespace hpcboot

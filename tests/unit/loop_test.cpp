#include <ATen/Context.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <torch/utils.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

#include "loop/batch_plan.hpp"
#include "loop/blas_kernels.hpp"
#include "loop/blas_memory.hpp"
#include "loop/determinism.hpp"
#include "loop/devices.hpp"
#include "loop/epoch_trainer.hpp"
#include "loop/error_words.hpp"
#include "loop/memory_failure.hpp"
#include "loop/model_file.hpp"
#include "loop/progress.hpp"
#include "loop/rank_log.hpp"
#include "loop/spinning.hpp"
#include "loop/step_losses.hpp"
#include "loop/threads.hpp"
#include "loop/train_options.hpp"
#include "models/model.hpp"
#include "record/safetensors.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace hpcboot::train {
namespace {

using test::expect_error;

TEST(BatchPlan, IsTheGlobalBatch) {
  EXPECT_EQ(plan_batches({64, {}, {}}, 1).local, 64);
  EXPECT_EQ(plan_batches({64, {}, {}}, 4).local, 16);
  EXPECT_EQ(plan_batches({}, 4).global, 256);
  EXPECT_EQ(plan_batches({}, 4).local, 64);
  EXPECT_EQ(plan_batches({}, 1, 2).global, 128);
}

TEST(BatchPlan, NamesTheNearestThatTheRanksDivide) {
  const auto message = [](std::int64_t batch, int ranks) {
    try {
      plan_batches({batch, {}, {}}, ranks);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message(10, 4).find("8 and 12"), std::string::npos) << message(10, 4);
  EXPECT_NE(message(3, 4).find("nearest multiples: 4"), std::string::npos) << message(3, 4);
  EXPECT_NE(message(0, 1).find("at least 1"), std::string::npos);
}

TEST(BatchPlan, SizesBeyondAnyMemoryAreRefused) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  const BatchSizes refused[] = {{kHuge, {}, {}},
                                {{}, kHuge, 4},
                                {16, kHuge, 4},
                                {{}, 1'000'000, 1'000'000},
                                {{}, 1'000'000'000, {}}};
  for (const BatchSizes& asked : refused) EXPECT_THROW(plan_batches(asked, 2), UsageError);
  EXPECT_EQ(plan_batches({{}, 1'000'000'000, {}}, 1).global, 1'000'000'000);
}

TEST(BatchPlan, HasADefaultForEachDevice) {
  EXPECT_EQ(plan_batches({}, 1, 3).global, 192);
  EXPECT_EQ(plan_batches({7, {}, {}}, 1, 3).local, 7) << "replicas need not divide the batch";
}

TEST(DataFraction, IsNotOneSampleTooManyByRounding) {
  for (const std::int64_t all : {1, 7, 100, 1000, 60000}) {
    for (std::int64_t samples = 1; samples <= all; ++samples) {
      const double fraction = static_cast<double>(samples) / static_cast<double>(all);
      ASSERT_EQ(samples_of_fraction(all, fraction), samples) << fraction << " of " << all;
    }
  }
  EXPECT_EQ(samples_of_fraction(100, 0.07), 7);
  EXPECT_EQ(samples_of_fraction(100, 0.28), 28);
  EXPECT_EQ(samples_of_fraction(100, 0.071), 8);
  EXPECT_EQ(samples_of_fraction(100, 1e-9), 1);
  EXPECT_EQ(samples_of_fraction(0, 0.5), 0);
}

TEST(ErrorWords, OfLibTorchComeWithoutItsStack) {
  try {
    TORCH_CHECK(false, "first line\nsecond line");
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("frame #"), std::string::npos);
    EXPECT_EQ(error_words(error), "first line\nsecond line");
  }
  EXPECT_EQ(error_words(std::runtime_error("plain")), "plain");
}

TEST(BatchPlan, KnowsTheSmallestPass) {
  EXPECT_EQ(smallest_pass(64, {8, 8, 8}, 1), 8);
  EXPECT_EQ(smallest_pass(9, {8, 8, 8}, 1), 1) << "the rest of the epoch";
  EXPECT_EQ(smallest_pass(3, {8, 8, 8}, 1), 3) << "less than a batch";
  EXPECT_EQ(smallest_pass(8, {4, 4, 1}, 1), 1) << "micro-batches";
  EXPECT_EQ(smallest_pass(15, {8, 8, 4}, 1), 3) << "7 is 4 and 3";
  EXPECT_EQ(smallest_pass(12, {8, 8, 4}, 1), 4) << "the rest is one pass";
  EXPECT_EQ(smallest_pass(16, {8, 8, 8}, 2), 4);
  EXPECT_EQ(smallest_pass(10, {8, 8, 8}, 2), 1) << "the rest, 2, on two devices";
  EXPECT_EQ(smallest_pass(8, {8, 8, 8}, 3), 2) << "3, 3 and 2";
  EXPECT_EQ(smallest_pass(5, {5, 5, 5}, 4), 1) << "2, 2 and 1";
}

TEST(Devices, AreParsed) {
  const torch::Device cpu(torch::kCPU);
  const auto cuda = [](int index) {
    return torch::Device(torch::kCUDA, static_cast<c10::DeviceIndex>(index));
  };
  using Devices = std::vector<torch::Device>;
  EXPECT_EQ(parse_devices("cpu:2", 0), (Devices{cpu, cpu}));
  EXPECT_EQ(parse_devices("cpu:1", 0), Devices{cpu});
  EXPECT_EQ(parse_devices("cuda", 3), (Devices{cuda(0), cuda(1), cuda(2)}));
  EXPECT_EQ(parse_devices("cuda:2,0", 3), (Devices{cuda(2), cuda(0)}));
  EXPECT_EQ(name_of(parse_devices("cuda:2,0", 3)), "cuda:2,0");
  EXPECT_EQ(name_of(parse_devices("cpu:2", 0)), "cpu:2");
  EXPECT_EQ(name_of(parse_devices("cuda:1", 3)), "cuda:1");
  for (const char* bad : {"", "cpu", "cpu:", "cpu:0", "cpu:-1", "cpu:x", "cpu:2,3", "tpu:1",
                          "cuda:", "cuda:0,", "cuda:0,0", "cuda:-1", "cpu:99999"}) {
    EXPECT_THROW(parse_devices(bad, 3), UsageError) << bad;
  }
  expect_error(
      ErrorCode::backend_unavailable, [] { parse_devices("cuda:0,3", 3); }, "3 CUDA devices");
  expect_error(
      ErrorCode::backend_unavailable, [] { parse_devices("cuda", 0); }, "no CUDA device");
}

TEST(Backend, IsNcclBetweenGpusWhereThisBuildHasIt) {
  const torch::Device cpu(torch::kCPU);
  const torch::Device gpu(torch::kCUDA, 0);
  TrainOptions options;
  EXPECT_EQ(backend_of(options, gpu, true), "nccl");
  EXPECT_EQ(backend_of(options, gpu, false), "gloo");
  EXPECT_EQ(backend_of(options, cpu, true), "gloo");
  options.backend = "gloo";
  EXPECT_EQ(backend_of(options, gpu, true), "gloo");
  options.backend = "nccl";
  EXPECT_EQ(backend_of(options, gpu, false), "nccl")
      << "make_process_group() reports what is missing";
  options.device = "cpu";
  EXPECT_THROW(backend_of(options, cpu, true), UsageError);
}

TEST(Determinism, OnACudaDeviceNeedsWhatCublasReads) {
  const torch::Device cuda(torch::kCUDA, 0);
  for (const char* dump : {"", "CUBLAS_WORKSPACE_CONFIG=:0:0\n"}) {
    EXPECT_THROW(use_deterministic_algorithms(cuda, Env::parse(dump)), UsageError) << dump;
    EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
  }
  use_deterministic_algorithms(cuda, Env::parse("CUBLAS_WORKSPACE_CONFIG=:4096:8\n"));
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  at::globalContext().setDeterministicAlgorithms(false, false);
  use_deterministic_algorithms(torch::kCPU, Env::parse(""));
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  at::globalContext().setDeterministicAlgorithms(false, false);
}

TEST(BatchPlan, IsMicroBatchesTimesPassesTimesRanks) {
  struct Case {
    BatchSizes asked;
    int ranks;
    BatchPlan plan;
  };
  const Case cases[] = {{{64, {}, {}}, 2, {64, 32, 32}}, {{64, 8, {}}, 2, {64, 32, 8}},
                        {{64, {}, 4}, 2, {64, 32, 8}},   {{64, 8, 4}, 2, {64, 32, 8}},
                        {{{}, 8, 3}, 2, {48, 24, 8}},    {{{}, 8, {}}, 2, {16, 8, 8}},
                        {{{}, {}, 4}, 2, {128, 64, 16}}};
  for (const Case& c : cases) {
    const BatchPlan plan = plan_batches(c.asked, c.ranks);
    EXPECT_EQ(plan.global, c.plan.global);
    EXPECT_EQ(plan.local, c.plan.local);
    EXPECT_EQ(plan.micro, c.plan.micro);
  }
}

TEST(BatchPlan, NamesNumbersThatDoNotFit) {
  const auto message = [](const BatchSizes& asked) {
    try {
      plan_batches(asked, 2);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  for (const char* piece : {"64", "--micro-batch 8", "--accumulate 3", "2 ranks", "48"}) {
    EXPECT_NE(message({64, 8, 3}).find(piece), std::string::npos) << message({64, 8, 3});
  }
  EXPECT_NE(message({66, {}, 4}).find("64 and 72"), std::string::npos) << message({66, {}, 4});
  EXPECT_NE(message({10, 8, {}}).find("multiples: 16"), std::string::npos);
  EXPECT_NE(message({64, 0, {}}).find("--micro-batch is 0"), std::string::npos);
}

TEST(Threads, AreTheRanksShareOfTheCores) {
  const std::optional<int> none;
  EXPECT_EQ(threads_per_rank(16, 16, none, 4), 4);
  EXPECT_EQ(threads_per_rank(16, 16, none, none), 16);
  EXPECT_EQ(threads_per_rank(4, 16, none, 4), 4) << "bound by the launcher: not divided again";
  EXPECT_EQ(threads_per_rank(2, 2, none, 4), 1);
  EXPECT_EQ(threads_per_rank(16, 16, 8, 4), 2) << "the ranks share the quota";
  EXPECT_EQ(threads_per_rank(4, 16, 8, 4), 2);
  EXPECT_EQ(threads_per_rank(16, 16, 1, 4), 1);
  EXPECT_GE(cores_of_this_process(), 1);
}

TEST(Threads, AreThoseOfOmpNumThreads) {
  const auto told = [](const char* dump, std::optional<int> local_size) {
    return threads_told(Env::parse(dump), local_size);
  };
  EXPECT_EQ(told("OMP_NUM_THREADS=3\n", 2), 3);
  EXPECT_EQ(told("OMP_NUM_THREADS=4,2\n", 2), 4) << "the second level is not for LibTorch";
  EXPECT_EQ(told("", 2), std::nullopt);
  for (const char* value : {"0", "-1", "all", "99999999999"}) {
    EXPECT_EQ(told((std::string("OMP_NUM_THREADS=") + value).c_str(), 2), std::nullopt) << value;
  }
  // PBS sets it for all ranks of a chunk.
  const char* pbs = "PBS_JOBID=1.pbs\nNCPUS=8\nOMP_NUM_THREADS=8\n";
  EXPECT_EQ(told(pbs, 4), std::nullopt);
  EXPECT_EQ(told(pbs, 1), 8);
  EXPECT_EQ(told("PBS_JOBID=1.pbs\nNCPUS=8\nOMP_NUM_THREADS=2\n", 4), 2) << "the user's";
  EXPECT_EQ(told("PBS_JOBID=1.pbs\nNCPUS=2\nOMP_NUM_THREADS=2\nHPCBOOT_RUN_ID=x\n", 4), 2);
}

TEST(Spinning, IsLimitedUnlessTheUserSetsIt) {
  const auto names = [](const char* dump) {
    std::string all;
    for (const auto& [name, value] : spinning_limits(Env::parse(dump))) all += name + " ";
    return all;
  };
  EXPECT_EQ(names(""), "GOMP_SPINCOUNT KMP_BLOCKTIME ");
  EXPECT_EQ(names("GOMP_SPINCOUNT=infinite\n"), "KMP_BLOCKTIME ");
  EXPECT_EQ(names("KMP_BLOCKTIME=0\n"), "GOMP_SPINCOUNT ");
  EXPECT_EQ(names("OMP_WAIT_POLICY=active\n"), "");
}

/// Whether OpenBLAS gets memory for a thread in a process with this much room.
bool gets_blas_memory(std::size_t room) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + room;
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_AS, &limit);
    try {
      take_blas_memory(1);
      torch::mm(torch::ones({64, 64}), torch::ones({64, 64}));
      ::_exit(0);
    } catch (const Error& error) {
      ::_exit(error.exit_code());
    }
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (status == 0) return true;
  EXPECT_EQ(WEXITSTATUS(status), 47) << status;
  return false;
}

TEST(BlasMemory, IsAskedForOnlyOnce) {
  if (::dlsym(RTLD_DEFAULT, "blas_memory_alloc") == nullptr)
    GTEST_SKIP() << "this LibTorch does not use OpenBLAS";
  torch::set_num_threads(1);
  EXPECT_FALSE(gets_blas_memory(std::size_t{64} << 20U));
  EXPECT_TRUE(gets_blas_memory(std::size_t{512} << 20U));
}

TEST(BlasKernels, FollowTheInstructionsUnlessTheUserSetsThem) {
  const auto told = [](const char* dump, VectorInstructions available) {
    std::string all;
    for (const auto& [name, value] : blas_kernels(Env::parse(dump), available)) {
      all += name + "=" + value;
    }
    return all;
  };
  EXPECT_EQ(told("", {true, true}), "OPENBLAS_CORETYPE=SkylakeX");
  EXPECT_EQ(told("", {true, false}), "OPENBLAS_CORETYPE=Haswell");
  EXPECT_EQ(told("", {false, false}), "");
  EXPECT_EQ(told("OPENBLAS_CORETYPE=Zen\n", {true, true}), "");
}

TEST(BlasKernels, AreOfThisProcessor) {
#ifdef __x86_64__
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && line.rfind("flags", 0) != 0) continue;
  line += ' ';
  const auto has = [&line](const char* flag) { return line.find(flag) != std::string::npos; };
  const VectorInstructions available = vector_instructions();
  EXPECT_EQ(available.avx2, has(" avx2 ") && has(" fma "));
  EXPECT_EQ(available.avx512, has(" avx512f ") && has(" avx512cd ") && has(" avx512bw ") &&
                                  has(" avx512dq ") && has(" avx512vl "));
#else
  GTEST_SKIP() << "these instructions are those of x86-64";
#endif
}

TEST(Progress, FitsTheTerminal) {
  Progress p;
  p.epoch = 2;
  p.epochs = 3;
  p.step = 47;
  p.steps = 94;
  p.images_per_second = 312.4;
  p.loss = 0.23412;
  p.seconds = 23;
  EXPECT_EQ(progress_line(p, 79),
            "epoch 2/3 [############............] 47/94  312 images/s  loss 0.2341  ETA 0:23");
  for (int width = 0; width < 120; ++width)
    EXPECT_LE(progress_line(p, width).size(), static_cast<std::size_t>(width));
  p.step = 0;
  EXPECT_EQ(progress_line(p, 100).find("ETA"), std::string::npos);
}

TEST(StepLosses, AreMeansOverSamples) {
  Communicator alone(Resolution{}, std::nullopt);
  StepLosses losses(alone);
  EXPECT_TRUE(losses.add(torch::tensor(2.0), 30, {}).empty());
  EXPECT_TRUE(losses.add(torch::tensor(5.0), 10, {}).empty());
  EXPECT_EQ(losses.flush(), (std::vector<double>{2.0, 5.0}));
  EXPECT_DOUBLE_EQ(losses.mean(), (2.0 * 30 + 5.0 * 10) / 40) << "a short last batch weighs less";
  EXPECT_TRUE(losses.flush().empty());
  std::size_t known = 0;
  for (std::size_t i = 0; i < StepLosses::kEvery; ++i)
    known = losses.add(torch::tensor(1.0), 1, {}).size();
  EXPECT_EQ(known, StepLosses::kEvery);
}

TEST(StepLosses, ALossThatIsNoNumberEndsTheRun) {
  Communicator alone(Resolution{}, std::nullopt);
  StepLosses losses(alone);
  losses.add(torch::tensor(1.0F), 4, {3, 41, 0.5});
  losses.add(torch::tensor(-std::numeric_limits<float>::quiet_NaN()), 4, {3, 42, 0.25});
  expect_error(
      ErrorCode::diverged, [&] { losses.flush(); }, "loss is nan in step 42 of the run, epoch 3",
      "learning rate of 0.25", "rank 0 on ", "--lr", "--clip-grad-norm");
}

TEST(MemoryFailure, IsTakenFromWhatAllocatorsThrowWithTheWayToUseLess) {
  const BatchPlan batches{64, 32, 16};
  const std::runtime_error cpu(
      "[enforce fail at alloc_cpu.cpp:66] . DefaultCPUAllocator: can't allocate memory: you tried "
      "to allocate 99 bytes. Error code 12 (Cannot allocate memory)\nframe #0: x");
  const std::runtime_error cuda("CUDA out of memory. Tried to allocate 2.00 GiB\nframe #0: x");
  for (const std::exception* cause :
       {static_cast<const std::exception*>(&cpu), static_cast<const std::exception*>(&cuda)}) {
    const auto error = memory_failure(*cause, {batches, "image", false, "the validation"});
    ASSERT_TRUE(error);
    EXPECT_EQ(error->exit_code(), 47);
    EXPECT_EQ(error->found().find("not enough memory for the validation, with 16 images per pass"),
              0U)
        << error->found();
    EXPECT_NE(error->found().find("llocate"), std::string::npos) << error->found();
    EXPECT_EQ(error->found().find("frame"), std::string::npos) << error->found();
    EXPECT_NE(error->remedy().find("--micro-batch 8 --accumulate 4"), std::string::npos)
        << error->remedy();
  }
  EXPECT_EQ(memory_failure(std::bad_alloc(), {{8, 8, 8}, "image", /*recorded=*/true, "a step"})
                ->remedy()
                .find("leave out --cuda-graph"),
            0U);
  const auto remedy = [](const BatchPlan& plan, const char* sample) {
    return memory_failure(std::bad_alloc(), {plan, sample, false, "a step"})->remedy();
  };
  EXPECT_NE(remedy(batches, "image").find("batch size 64 = micro-batch 8 x accumulate 4 x 2 ranks"),
            std::string::npos);
  EXPECT_NE(remedy(batches, "image").find("the same step"), std::string::npos);
  const MemoryUse normalised{batches, "image", false, "a step", /*has_batch_norms=*/true};
  const std::string other = memory_failure(std::bad_alloc(), normalised)->remedy();
  EXPECT_EQ(other.find("the same step"), std::string::npos) << other;
  EXPECT_NE(other.find("batch norms"), std::string::npos) << other;
  EXPECT_NE(remedy({5, 5, 5}, "image").find("--micro-batch 1 --accumulate 5"), std::string::npos);
  EXPECT_NE(remedy({1125, 1125, 1125}, "image").find("--micro-batch 375 --accumulate 3"),
            std::string::npos)
      << "the largest half or less that divides the batch";
  EXPECT_NE(remedy({60, 30, 15}, "image").find("--micro-batch 6 --accumulate 5"),
            std::string::npos);
  EXPECT_NE(remedy({1, 1, 1}, "image").find("a pass already has only one image"),
            std::string::npos);
  EXPECT_NE(remedy({1, 1, 1}, "image").find("--image-size"), std::string::npos);
  EXPECT_EQ(remedy({8, 8, 8}, "sequence").find("--image-size"), std::string::npos);
  for (const BatchPlan& plan : {BatchPlan{7, 7, 7}, BatchPlan{64, 64, 2}}) {
    const MemoryUse of_one{plan, "image", false, "a step", /*has_batch_norms=*/true};
    const std::string text = memory_failure(std::bad_alloc(), of_one)->remedy();
    EXPECT_EQ(text.find("--micro-batch"), std::string::npos) << text;
    EXPECT_NE(text.find("too few for batch norms: use a smaller --batch-size"), std::string::npos)
        << text;
  }
  const MemoryUse use{batches, "image", false, "a step"};
  EXPECT_FALSE(memory_failure(std::runtime_error("index out of range"), use));
  EXPECT_FALSE(memory_failure(Error(ErrorCode::peer_lost, "a", "b", "c"), use));
}

TEST(MemoryFailure, IsAThreadThatCannotBeStartedInALimitedAddressSpace) {
  const std::system_error thread(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_EQ(means_memory(thread), address_space_limit().has_value());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit limited{std::min<rlim_t>(before.rlim_max, rlim_t{1} << 60U), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limited), 0);
  EXPECT_EQ(address_space_limit(), limited.rlim_cur);
  const auto error = memory_failure(thread, {{8, 8, 8}, "image", false, "a step"});
  ::setrlimit(RLIMIT_AS, &before);
  ASSERT_TRUE(error);
  EXPECT_NE(error->found().find("(a thread: Resource temporarily unavailable)"), std::string::npos)
      << error->found();
}

TEST(ModelFile, HoldsEveryParameterAndBuffer) {
  const auto model = models::make_model("resnet50");
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / "hpcboot_loop_test.safetensors";
  write_model(*model, {{"model", "resnet50"}, {"channels", "3"}}, file);
  record::SafetensorsFile read(file);
  const std::map<std::string, std::string> metadata = {
      {"format", "pt"}, {"model", "resnet50"}, {"channels", "3"}};
  EXPECT_EQ(read.metadata(), metadata);
  std::size_t counters = 0;
  for (const auto& tensor : read.tensors()) counters += tensor.dtype == record::DType::i64 ? 1 : 0;
  EXPECT_EQ(read.tensors().size(),
            model->named_parameters().size() + model->named_buffers().size());
  EXPECT_EQ(counters, 53U) << "num_batches_tracked of each batch norm";
  std::filesystem::remove(file);
}

TEST(RankLog, AFolderThatIsNotThereIsAnError) {
  expect_error(
      ErrorCode::unwritable_output, [] { RankLog log("/proc/nowhere/rank_00.log"); },
      "rank_00.log");
}

// Others may be able to write to the folder of all runs.
TEST(RankLog, FollowsNoLinkAndWaitsForNoPipe) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "rank_00.log";
  const auto target = folder.path() / "target";
  std::filesystem::create_symlink(target, file);
  expect_error(
      ErrorCode::unwritable_output, [&] { RankLog log(file); }, "a symbolic link");
  EXPECT_FALSE(std::filesystem::exists(target));
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  expect_error(
      ErrorCode::unwritable_output, [&] { RankLog log(file); }, "a named pipe");
  const int reader = ::open(file.c_str(), O_RDONLY | O_NONBLOCK);  // somebody reads it
  expect_error(
      ErrorCode::unwritable_output, [&] { RankLog log(file); }, "not a regular file");
  ::close(reader);
}

}  // namespace
}  // namespace hpcboot::train

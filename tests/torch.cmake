# Tests of hpcboot::torch and of the models.
if(NOT HPCBOOT_HAVE_TORCH)
  return()
endif()

hpcboot_add_test(NAME torch_test
  SOURCES unit/data_parallel_test.cpp unit/distributed_data_parallel_test.cpp unit/distributed_sampler_test.cpp
          unit/lost_ranks_test.cpp unit/model_outputs_test.cpp unit/models_test.cpp
          unit/process_group_limits_test.cpp unit/process_group_test.cpp unit/tensors_test.cpp unit/torch_reference_test.cpp unit/world_store_test.cpp
  LIBRARIES hpcboot::torch hpcboot_models hpcboot_store hpcboot_json LABELS unit
  TIMEOUT 400)  # PyTorch's Python and a step of a large model in fp64 take long on a busy machine
# Not installed.
target_include_directories(torch_test PRIVATE ${PROJECT_SOURCE_DIR}/trainer/torch ${PROJECT_SOURCE_DIR}/bootstrap)
# Shared by the programs that use LibTorch.
target_precompile_headers(torch_test PRIVATE <torch/torch.h>)
hpcboot_unity_build(torch_test 4)

hpcboot_add_test(NAME estimate_test SOURCES unit/estimate_test.cpp ${PROJECT_SOURCE_DIR}/trainer/estimate/shape_file.cpp
  LIBRARIES hpcboot::torch hpcboot_json LABELS unit)
target_include_directories(estimate_test PRIVATE ${PROJECT_SOURCE_DIR}/trainer)

# A separate program: its allocations are counted.
hpcboot_add_test(NAME estimate_memory_test SOURCES unit/estimate_memory_test.cpp support/counted_memory.cpp
  LIBRARIES hpcboot::torch hpcboot_models LABELS unit TIMEOUT 400)
target_precompile_headers(estimate_memory_test REUSE_FROM torch_test)

hpcboot_add_test(NAME activation_checkpoint_test SOURCES unit/activation_checkpoint_test.cpp support/counted_memory.cpp
  LIBRARIES hpcboot::torch LABELS unit)
target_precompile_headers(activation_checkpoint_test REUSE_FROM torch_test)

hpcboot_add_test(NAME ddp_test
  SOURCES torch/main.cpp torch/activation_checkpoint_ranks_test.cpp torch/collectives_test.cpp torch/ddp_test.cpp torch/ddp_options_test.cpp
          torch/fully_shard_models_test.cpp torch/fully_shard_test.cpp
          torch/grad_scaler_ranks_test.cpp torch/groups_test.cpp torch/hooks_test.cpp torch/join_test.cpp
          torch/pytorch/recorded.cpp torch/pytorch_graphs_test.cpp torch/pytorch_models_test.cpp
          torch/pytorch_refusals_test.cpp torch/offload_test.cpp
          torch/pytorch_table_test.cpp
          torch/sharded_optimizer_test.cpp
          torch/sync_batch_norm_test.cpp
  LIBRARIES hpcboot::torch hpcboot_models hpcboot_json RANKS 1 2 4 TIMEOUT 600)
target_include_directories(ddp_test PRIVATE ${PROJECT_SOURCE_DIR}/bootstrap)
if(HPCBOOT_HAVE_CUDA_GRAPHS)
  target_compile_definitions(ddp_test PRIVATE HPCBOOT_HAVE_CUDA)
endif()
target_precompile_headers(ddp_test REUSE_FROM torch_test)
hpcboot_unity_build(ddp_test 5)

hpcboot_add_test(NAME sharded_checkpoint_test SOURCES torch/main.cpp torch/sharded_checkpoint_test.cpp
  LIBRARIES hpcboot::torch hpcboot_safetensors RANKS 1 2 4 TIMEOUT 120)
target_include_directories(sharded_checkpoint_test PRIVATE ${PROJECT_SOURCE_DIR}/trainer/torch ${PROJECT_SOURCE_DIR}/bootstrap)
target_precompile_headers(sharded_checkpoint_test REUSE_FROM torch_test)

# A separate program: its allocations are counted.
hpcboot_add_test(NAME shard_memory_test SOURCES torch/main.cpp torch/shard_memory_test.cpp support/counted_memory.cpp
  LIBRARIES hpcboot::torch RANKS 2 4 TIMEOUT 120)
target_include_directories(shard_memory_test PRIVATE ${PROJECT_SOURCE_DIR}/bootstrap)
target_precompile_headers(shard_memory_test REUSE_FROM torch_test)

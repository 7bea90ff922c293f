# Tests of the program trainer: its parts, and whole runs with one process and under mpirun.
if(NOT TARGET hpcboot_loop OR NOT TARGET trainer)
  return()
endif()

hpcboot_add_test(NAME loop_test SOURCES unit/batch_tensors_test.cpp unit/loop_test.cpp unit/parallel_model_test.cpp
          unit/stopwatch_test.cpp unit/validation_test.cpp
  LIBRARIES hpcboot_machine LABELS unit)
target_precompile_headers(loop_test REUSE_FROM torch_test)

hpcboot_add_test(NAME checkpoint_test SOURCES unit/background_writer_test.cpp unit/checkpoint_folder_test.cpp
  unit/checkpoint_test.cpp unit/checkpointer_test.cpp unit/ranks_agree_test.cpp unit/resume_test.cpp unit/run_identity_test.cpp
  LIBRARIES hpcboot_loop LABELS unit)
target_precompile_headers(checkpoint_test REUSE_FROM torch_test)

hpcboot_add_test(NAME machine_test SOURCES unit/machine_test.cpp LIBRARIES hpcboot_machine_results LABELS unit)
hpcboot_add_test(NAME gpu_test SOURCES unit/gpu_test.cpp LIBRARIES hpcboot_loop LABELS gpu TIMEOUT 120)
target_precompile_headers(gpu_test REUSE_FROM torch_test)

# A separate program: its system calls are recorded.
hpcboot_add_test(NAME crash_test SOURCES unit/crash_test.cpp support/crash_states.cpp support/file_recorder.cpp
  LIBRARIES hpcboot_loop LABELS unit)
target_precompile_headers(crash_test REUSE_FROM torch_test)

hpcboot_add_test(NAME optimization_test SOURCES unit/fused_optimizers_test.cpp unit/grad_scaler_test.cpp unit/lr_schedule_test.cpp unit/optimizer_test.cpp
  LIBRARIES hpcboot_loop LABELS unit)
target_precompile_headers(optimization_test REUSE_FROM torch_test)

# Each test in these bats files is a whole run of the program, so they have their own label. They compute while most other
# tests wait, so they run beside those on a cluster, and start right after them; those with the same place run one after
# the other. (A test with several PROCESSORS would wait until as many are free at once, which is only at the end.) The
# longest come first, and the three columns compute about as much, so that places end together.
set(_place 0)
foreach(_name IN ITEMS
    resume    tasks               runs
    watch     sharded_checkpoints zero
    untrusted profile             data
    faults    monitor             torchrun
    start     bench               estimate
    study     export)
  math(EXPR _place "(${_place} + 1) % 3")
  hpcboot_add_bats_test(trainer.${_name} ${CMAKE_CURRENT_LIST_DIR}/trainer/${_name}.bats)
  set_tests_properties(trainer.${_name} PROPERTIES LABELS "trainer;mpi;torch" TIMEOUT 1200 COST 500
    RESOURCE_LOCK trainer_${_place})
  set_property(TEST trainer.${_name} APPEND PROPERTY ENVIRONMENT HPCBOOT_TEST_PYTHON=${HPCBOOT_TEST_PYTHON})
endforeach()
# The example of trainer/tasks.md. Exit code 77: it needs Ninja.
add_test(NAME trainer.add_task COMMAND ${CMAKE_CURRENT_LIST_DIR}/add-task ${PROJECT_BINARY_DIR})
set_tests_properties(trainer.add_task PROPERTIES LABELS "trainer;torch" TIMEOUT 600 COST 500 SKIP_RETURN_CODE 77)
set_tests_properties(trainer.data trainer.export trainer.monitor trainer.profile trainer.resume PROPERTIES FIXTURES_REQUIRED pypi)

hpcboot_add_test(NAME lost_neighbours_test SOURCES unit/lost_neighbours_test.cpp
  LIBRARIES hpcboot_loop LABELS unit)
hpcboot_add_test(NAME host_load_test SOURCES unit/host_load_test.cpp
  LIBRARIES hpcboot_loop LABELS unit)
# The programs that these runs start.
add_dependencies(torch_tests hpcboot trainer runtable)

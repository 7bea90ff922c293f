# Tests of trainer/record/ and of the program runtable. They need no LibTorch.
if(NOT TARGET hpcboot_record)
  return()
endif()
hpcboot_add_test(NAME record_test LABELS unit
  SOURCES unit/atomic_file_test.cpp unit/atomic_folder_test.cpp unit/csv_reader_test.cpp unit/metrics_csv_test.cpp
          unit/run_folder_test.cpp unit/run_lock_test.cpp unit/run_record_test.cpp unit/runtime_table_test.cpp
          unit/safetensors_test.cpp unit/sharded_safetensors_test.cpp
  LIBRARIES hpcboot_record)
hpcboot_add_test(NAME profile_test SOURCES unit/profile_test.cpp LIBRARIES hpcboot_profile LABELS unit)
hpcboot_add_test(NAME monitor_test SOURCES unit/monitor_test.cpp LIBRARIES hpcboot_monitor LABELS unit)
if(HPCBOOT_HAVE_TENSORBOARD)
  hpcboot_add_test(NAME wandb_log_test SOURCES unit/wandb_log_test.cpp LIBRARIES hpcboot_export LABELS unit)
  target_include_directories(wandb_log_test SYSTEM PRIVATE ${HPCBOOT_BOOST_CRC_INCLUDE_DIR})
endif()
if(TARGET hpcboot_plots)
  hpcboot_add_test(NAME plots_test SOURCES unit/plots_test.cpp LIBRARIES hpcboot_plots LABELS unit)
endif()
hpcboot_add_test(NAME gpu_sensors_test SOURCES unit/gpu_sensors_test.cpp LIBRARIES hpcboot_monitor LABELS unit)
hpcboot_use_fake_driver(gpu_sensors_test)
if(HPCBOOT_HAVE_TENSORBOARD)
  # TensorBoard itself, in an environment in this build folder, created when the test first runs.
  set(HPCBOOT_PYPI_VENV ${PROJECT_BINARY_DIR}/tests/pypi-venv)
  find_program(HPCBOOT_VENV_PYTHON NAMES python3)
  add_test(NAME pypi_venv COMMAND ${CMAKE_CURRENT_LIST_DIR}/support/pypi_venv.sh
           ${HPCBOOT_VENV_PYTHON} ${HPCBOOT_PYPI_VENV})
  # A fixture, so that ctest creates it first for any choice of tests that read events; long ones wait for it.
  set_tests_properties(pypi_venv PROPERTIES LABELS unit TIMEOUT 300 SKIP_RETURN_CODE 77 COST 3000
                       FIXTURES_SETUP pypi)
  # Only ctest knows the tests of a GoogleTest program, so their fixtures are set in a file that ctest reads.
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/tensorboard_order.cmake
       "set_tests_properties(Tensorboard.IsReadByTensorBoard PROPERTIES FIXTURES_REQUIRED pypi)\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/tensorboard_order.cmake)
  target_sources(record_test PRIVATE unit/tensorboard_test.cpp)
endif()
if(TARGET runtable)
  hpcboot_add_test(NAME runtable_program_test LABELS unit
    SOURCES unit/runtable_program_test.cpp
    LIBRARIES hpcboot_record)
  add_dependencies(runtable_program_test runtable)
  target_compile_definitions(runtable_program_test PRIVATE
    HPCBOOT_VERSION="${PROJECT_VERSION}")
endif()

# Tests of bootstrap/: the library in one program, the captured environments in another.
hpcboot_add_test(NAME bootstrap_tests
  SOURCES
    unit/allocation_test.cpp
    unit/apinfo_test.cpp
    unit/bootstrap_readme_test.cpp
    unit/device_test.cpp
    unit/endpoint_test.cpp
    unit/env_test.cpp
    unit/error_test.cpp
    unit/export_test.cpp
    unit/hard_cases_test.cpp
    unit/hostfile_test.cpp
    unit/hostlist_test.cpp
    unit/job_check_test.cpp
    unit/master_test.cpp
    unit/nesting_test.cpp
    unit/numa_test.cpp
    unit/placement_test.cpp
    unit/pods_test.cpp
    unit/process_mapping_test.cpp
    unit/read_file_test.cpp
    unit/redact_test.cpp
    unit/resolve_test.cpp
    unit/schedulers_test.cpp
    unit/sites_test.cpp
    unit/slurm_source_test.cpp
    unit/sources_test.cpp
    unit/whole_jobs_test.cpp
    support/unchanged_environment.cpp
  LIBRARIES hpcboot::bootstrap LABELS unit)
# Parsers that are not part of the interface.
target_include_directories(bootstrap_tests PRIVATE ${PROJECT_SOURCE_DIR}/bootstrap/src)
target_compile_definitions(bootstrap_tests PRIVATE
  HPCBOOT_BOOTSTRAP_README="${PROJECT_SOURCE_DIR}/bootstrap/README.md")

if(TARGET fmt::fmt)
  hpcboot_add_test(NAME encode_test SOURCES unit/encode_test.cpp LIBRARIES hpcboot_text fmt::fmt LABELS unit)
endif()

hpcboot_add_test(NAME hostlist_oracle_test SOURCES unit/hostlist_oracle_test.cpp
  LIBRARIES hpcboot::bootstrap LABELS unit)

if(TARGET hpcboot_json)
  hpcboot_add_test(NAME bounded_json_test SOURCES unit/bounded_json_test.cpp LIBRARIES hpcboot_json LABELS unit)
  hpcboot_add_test(NAME golden_env_tests
    SOURCES
      unit/capture_folder_test.cpp
      unit/golden_env_test.cpp
      unit/resolve_system_calls_test.cpp
      support/unchanged_environment.cpp
    LIBRARIES hpcboot_json LABELS unit golden)
  target_compile_definitions(golden_env_tests PRIVATE
    HPCBOOT_GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/golden/env")
endif()

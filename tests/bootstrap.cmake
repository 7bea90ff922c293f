# Tests of bootstrap/: the library in one program, the captured environments in another.
hpcboot_add_test(NAME bootstrap_tests
  SOURCES
    bootstrap/core/agent_numbers_test.cpp
    bootstrap/core/schedulers/allocation_test.cpp
    bootstrap/core/launchers/apinfo_test.cpp
    bootstrap/core/bootstrap_readme_test.cpp
    bootstrap/core/cpu_quota_test.cpp
    bootstrap/core/device_test.cpp
    bootstrap/core/endpoint_test.cpp
    bootstrap/core/env_test.cpp
    bootstrap/core/error_test.cpp
    bootstrap/core/export_mark_test.cpp
    bootstrap/core/export_test.cpp
    bootstrap/core/file_system_test.cpp
    bootstrap/core/launchers/hard_cases_test.cpp
    bootstrap/core/schedulers/hostfile_test.cpp
    bootstrap/core/hostlist_test.cpp
    bootstrap/core/interface_test.cpp
    bootstrap/diagnose/job_check_test.cpp
    bootstrap/core/master_test.cpp
    bootstrap/core/name_lookup_test.cpp
    bootstrap/core/nearest_name_test.cpp
    bootstrap/core/launchers/nesting_test.cpp
    bootstrap/core/nesting_proof_test.cpp
    bootstrap/core/cpu_topology_test.cpp
    bootstrap/core/numa_test.cpp
    bootstrap/core/placement_test.cpp
    bootstrap/core/launchers/pods_test.cpp
    bootstrap/core/launchers/process_mapping_test.cpp
    bootstrap/core/schedulers/read_file_test.cpp
    bootstrap/rendezvous/own_folder_test.cpp
    bootstrap/diagnose/redact_test.cpp
    bootstrap/diagnose/redact_values_test.cpp
    bootstrap/diagnose/secret_formats_test.cpp
    bootstrap/core/resolve_test.cpp
    bootstrap/core/schedulers/schedulers_test.cpp
    bootstrap/core/sites_test.cpp
    bootstrap/core/start_thread_test.cpp
    bootstrap/core/time_left_test.cpp
    bootstrap/core/unknown_launcher_test.cpp
    bootstrap/core/launchers/slurm_source_test.cpp
    bootstrap/core/launchers/sources_test.cpp
    bootstrap/core/launchers/tf_config_test.cpp
    bootstrap/core/launchers/whole_jobs_test.cpp
    support/pretended_name_server.cpp
    support/unchanged_environment.cpp
  LIBRARIES hpcboot::bootstrap LABELS unit)
if(TARGET write_launcher_table)
  target_sources(bootstrap_tests PRIVATE bootstrap/core/launchers/described_launchers_test.cpp
    bootstrap/core/launchers/remote_shells_test.cpp)
endif()
# For parsers that are not part of the interface.
target_include_directories(bootstrap_tests PRIVATE ${PROJECT_SOURCE_DIR}/bootstrap)

if(TARGET fmt::fmt)
  hpcboot_add_test(NAME encode_test SOURCES bootstrap/core/encode_test.cpp LIBRARIES hpcboot_text fmt::fmt LABELS unit)
endif()

if(TARGET hpcboot_store)
  hpcboot_add_test(NAME store_test
    SOURCES bootstrap/rendezvous/store_test.cpp bootstrap/rendezvous/store_strangers_test.cpp
            bootstrap/rendezvous/store_frames_test.cpp bootstrap/rendezvous/rendezvous_test.cpp bootstrap/rendezvous/relay_test.cpp
            bootstrap/rendezvous/launch_secret_test.cpp bootstrap/rendezvous/handover_test.cpp bootstrap/rendezvous/held_port_test.cpp
            bootstrap/rendezvous/long_deadline_test.cpp
            bootstrap/rendezvous/meet_by_kvs_test.cpp bootstrap/rendezvous/secret_test.cpp
            support/pretended_file_system.cpp
    LIBRARIES hpcboot_store LABELS unit)
  target_include_directories(store_test PRIVATE ${PROJECT_SOURCE_DIR}/bootstrap)
endif()

hpcboot_add_test(NAME hostlist_oracle_test SOURCES bootstrap/core/hostlist_oracle_test.cpp
  LIBRARIES hpcboot::bootstrap LABELS unit)

if(TARGET hpcboot_json)
  hpcboot_add_test(NAME bounded_json_test SOURCES bootstrap/json/bounded_json_test.cpp LIBRARIES hpcboot_json LABELS unit)
endif()
if(TARGET hpcboot_json AND TARGET hpcboot_store)
  hpcboot_add_test(NAME golden_env_tests
    SOURCES
      bootstrap/core/launchers/conformance_test.cpp
      bootstrap/diagnose/capture_folder_test.cpp
      bootstrap/core/golden_env_test.cpp
      bootstrap/core/resolve_system_calls_test.cpp
      support/unchanged_environment.cpp
    LIBRARIES hpcboot_json hpcboot_store LABELS unit golden)
endif()

# Files that describe launchers. A separate program, because added launchers are known to the whole process.
if(TARGET hpcboot_toml)
  hpcboot_add_test(NAME describe_tests
    SOURCES
      bootstrap/describe/bounded_toml_test.cpp
      bootstrap/describe/launcher_files_test.cpp
      bootstrap/describe/read_description_test.cpp
    LIBRARIES hpcboot::launchers hpcboot_toml_headers LABELS unit)
  target_include_directories(describe_tests PRIVATE ${PROJECT_SOURCE_DIR}/bootstrap)
endif()

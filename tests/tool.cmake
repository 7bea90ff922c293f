# What surrounds the library: its C interface, and the findings of sanitize and doctor.
hpcboot_add_test(NAME tool_tests
  SOURCES
    bootstrap/c/c_api_test.cpp
    bootstrap/diagnose/doctor_test.cpp
    bootstrap/diagnose/live_launcher_test.cpp
    bootstrap/diagnose/system_facts_test.cpp
    bootstrap/diagnose/sanitize_test.cpp
    bootstrap/diagnose/torchrun_test.cpp
    bootstrap/cli/check_allocation_test.cpp
    bootstrap/cli/pmi_keeper_test.cpp
    ${PROJECT_SOURCE_DIR}/bootstrap/cli/check_allocation.cpp
    ${PROJECT_SOURCE_DIR}/bootstrap/cli/pmi_keeper.cpp
    support/pretended_file_system.cpp
    support/pretended_name_server.cpp
    support/unchanged_environment.cpp
  LIBRARIES hpcboot::bootstrap LABELS unit)
target_include_directories(tool_tests PRIVATE ${PROJECT_SOURCE_DIR}/bootstrap)
target_compile_definitions(tool_tests PRIVATE
  HPCBOOT_PROJECT_VERSION="${PROJECT_VERSION}")

if(TARGET hpcboot)
  set(_cli ${PROJECT_SOURCE_DIR}/bootstrap/cli)
  hpcboot_add_test(NAME cli_test
    SOURCES bootstrap/cli/bandwidth_test.cpp bootstrap/cli/endpoint_test.cpp bootstrap/cli/study_plan_test.cpp
            ${_cli}/bandwidth_report.cpp ${_cli}/link_speed.cpp ${_cli}/rank_counts.cpp ${_cli}/rendezvous.cpp
            ${_cli}/study_plan.cpp
    LIBRARIES hpcboot_gpu hpcboot_store hpcboot_json hpcboot_options hpcboot_text fmt::fmt LABELS unit)
  target_include_directories(cli_test PRIVATE ${PROJECT_SOURCE_DIR}/bootstrap)
endif()
if(TARGET hpcboot_jobscripts)
  hpcboot_add_test(NAME jobscripts_test
    SOURCES bootstrap/jobs/golden_scripts_test.cpp bootstrap/jobs/jobscripts_test.cpp bootstrap/jobs/probe/probe_test.cpp
      bootstrap/jobs/site_profile_test.cpp
    LIBRARIES hpcboot_jobscripts LABELS unit)
endif()
if(TARGET hpcboot_queue)
  hpcboot_add_test(NAME queue_tests
    SOURCES bootstrap/jobs/queue/grid_engine_queue_test.cpp bootstrap/jobs/queue/job_log_test.cpp bootstrap/jobs/queue/job_table_test.cpp
            bootstrap/jobs/queue/known_jobs_test.cpp bootstrap/jobs/queue/pbs_queue_test.cpp
            bootstrap/jobs/queue/queue_test.cpp bootstrap/jobs/queue/slurm_queue_test.cpp
            bootstrap/jobs/queue/submission_test.cpp
    LIBRARIES hpcboot_queue LABELS unit)
endif()

# What stands around the library: its C interface, and what the tool's sanitize and doctor find out.
hpcboot_add_test(NAME tool_tests
  SOURCES
    unit/c_api_test.cpp
    unit/doctor_test.cpp
    unit/system_facts_test.cpp
    unit/sanitize_test.cpp
    unit/listener_test.cpp
    ${PROJECT_SOURCE_DIR}/bootstrap/tool/tcp.cpp
    support/unchanged_environment.cpp
  LIBRARIES hpcboot::bootstrap LABELS unit)
target_include_directories(tool_tests PRIVATE ${PROJECT_SOURCE_DIR}/bootstrap/tool ${PROJECT_SOURCE_DIR}/bootstrap/src)
target_compile_definitions(tool_tests PRIVATE
  HPCBOOT_GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/golden/env"
  HPCBOOT_PROJECT_VERSION="${PROJECT_VERSION}")

if(TARGET hpcboot_jobscripts)
  hpcboot_add_test(NAME jobscripts_test SOURCES unit/jobscripts_test.cpp LIBRARIES hpcboot_jobscripts LABELS unit)
  target_compile_definitions(jobscripts_test PRIVATE HPCBOOT_JOBSCRIPTS="${PROJECT_SOURCE_DIR}/jobscripts")
endif()

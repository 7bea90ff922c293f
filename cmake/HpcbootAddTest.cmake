find_package(GTest REQUIRED)

# <gmock/gmock.h>, precompiled once for the tests that do not need LibTorch (tests/torch.cmake has a larger one for the
# others). Only GCC accepts it in sources with additional definitions.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_executable(hpcboot_gmock_header EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/gmock.cpp)
  target_link_libraries(hpcboot_gmock_header PRIVATE hpcboot_warnings GTest::gmock)
  target_compile_options(hpcboot_gmock_header PRIVATE -O0)
  target_precompile_headers(hpcboot_gmock_header PRIVATE <gmock/gmock.h>)
endif()

# main() of programs of which a ctest entry is a suite.
add_library(hpcboot_suite_main OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/suite_main.cpp)
target_link_libraries(hpcboot_suite_main PRIVATE hpcboot_warnings GTest::gtest)

# All programs with the label unit: what a build with a sanitizer needs.
add_custom_target(unit_tests)

# hpcboot_add_test(NAME name SOURCES files... [LIBRARIES targets...] [LABELS labels...]
#                  [RANKS 1 2 4] [TIMEOUT seconds])
#
# One GoogleTest program. Without RANKS every TEST is a separate ctest entry, but every suite, PROGRAM.SUITE, if it loads
# LibTorch, and the whole program with a sanitizer, as a process then takes longer to start than most tests. With RANKS
# the whole program runs once per rank count under mpirun, labelled RANKS_n; exit code 77 is a visible skip.
# Programs that need LibTorch are labelled torch and belong to the target torch_tests, so that they can
# be built and run separately with another LibTorch.
function(hpcboot_add_test)
  cmake_parse_arguments(arg "" "NAME;TIMEOUT" "SOURCES;LIBRARIES;LABELS;RANKS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  set(torch "hpcboot::torch|hpcboot_models|hpcboot_loop")
  set(main GTest::gtest_main)
  if(arg_RANKS)
    set(main "")
  elseif(arg_LIBRARIES MATCHES "hpcboot::libtorch|${torch}" AND NOT HPCBOOT_SANITIZE)
    set(main hpcboot_suite_main)
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE ${arg_LIBRARIES} hpcboot_test_paths hpcboot_warnings
    GTest::gmock GTest::gtest ${main})
  target_include_directories(${arg_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  # The tested code is optimised. Optimising the tests themselves would double their compile time.
  target_compile_options(${arg_NAME} PRIVATE -O0)
  set_target_properties(${arg_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  if(arg_LIBRARIES MATCHES "${torch}")
    list(APPEND arg_LABELS torch)
    if(NOT TARGET torch_tests)
      add_custom_target(torch_tests)
    endif()
    add_dependencies(torch_tests ${arg_NAME})
  elseif(TARGET hpcboot_gmock_header AND NOT arg_LIBRARIES MATCHES "hpcboot_formats") # that uses LibTorch's ABI
    target_precompile_headers(${arg_NAME} REUSE_FROM hpcboot_gmock_header)
  endif()
  if("unit" IN_LIST arg_LABELS)
    add_dependencies(unit_tests ${arg_NAME})
  endif()
  if(NOT arg_RANKS)
    if(HPCBOOT_SANITIZE)
      add_test(NAME ${arg_NAME} COMMAND ${arg_NAME})
      set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 900)
      return()
    endif()
    if(main STREQUAL hpcboot_suite_main)
      hpcboot_add_suites(${arg_NAME} SOURCES ${arg_SOURCES} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT})
      return()
    endif()
    include(GoogleTest)
    # It splits lists of labels, so two are joined to one that ctest -L finds by either: unit.torch.
    list(JOIN arg_LABELS . arg_LABELS)
    gtest_discover_tests(${arg_NAME} DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
    return()
  endif()
  foreach(ranks IN LISTS arg_RANKS)
    hpcboot_add_mpi_test(NAME ${arg_NAME}.ranks_${ranks} RANKS ${ranks} TIMEOUT ${arg_TIMEOUT}
                         LABELS ${arg_LABELS} COMMAND $<TARGET_FILE:${arg_NAME}>)
  endforeach()
endfunction()

# hpcboot_suites(VARIABLE SOURCE…): the names of the suites in the sources.
function(hpcboot_suites variable)
  set(suites "")
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} lines REGEX "^TEST(_F|_P)?[(]")
    list(TRANSFORM lines REPLACE "^[A-Z_]+[(]([A-Za-z0-9_]+).*" "\\1")
    list(APPEND suites ${lines})
  endforeach()
  list(REMOVE_DUPLICATES suites)
  set(${variable} ${suites} PARENT_SCOPE)
endfunction()

# hpcboot_add_suites(PROGRAM SOURCES … LABELS … TIMEOUT s): a ctest entry for each suite in the sources. It is shown as
# skipped if one of its tests is skipped and none fails.
function(hpcboot_add_suites program)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LABELS" ${ARGN})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_SOURCES})
  hpcboot_suites(suites ${arg_SOURCES})
  foreach(suite IN LISTS suites)
    add_test(NAME ${program}.${suite} COMMAND ${program} --gtest_filter=${suite}.*:*/${suite}.*)
    set_tests_properties(${program}.${suite} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77
      TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT})  # the longest first
  endforeach()
endfunction()

# hpcboot_add_mpi_test(NAME name RANKS n COMMAND cmd... [LABELS ...] [TIMEOUT s])
# Runs a command under mpirun. By default Open MPI refuses root and more ranks than cores; both are
# normal in a test container. Threads are limited so that ranks share few cores fairly.
function(hpcboot_add_mpi_test)
  cmake_parse_arguments(arg "" "NAME;TIMEOUT;RANKS" "COMMAND;LABELS" ${ARGN})
  if(NOT MPIEXEC_EXECUTABLE)
    add_test(NAME ${arg_NAME} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no mpirun was found at configure time")
    set_tests_properties(${arg_NAME} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED" LABELS "${arg_LABELS}")
    return()
  endif()
  add_test(NAME ${arg_NAME}
           COMMAND ${MPIEXEC_EXECUTABLE} -np ${arg_RANKS} --oversubscribe ${arg_COMMAND})
  set_tests_properties(${arg_NAME} PROPERTIES
    LABELS "${arg_LABELS};mpi;RANKS_${arg_RANKS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_RANKS}
    SKIP_RETURN_CODE 77
    ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMP_NUM_THREADS=1")
endfunction()

# Benchmarks of bootstrap: build/bench/bootstrap_bench prints one table: host lists, resolve() for every
# captured environment, and our programs compared with Slurm's.
if(NOT TARGET hpcboot_json)
  return()
endif()
add_executable(bootstrap_bench hostlist.cpp resolve.cpp programs.cpp)
set_target_properties(bootstrap_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
target_link_libraries(bootstrap_bench PRIVATE hpcboot_json hpcboot_warnings benchmark::benchmark_main)
# Each only for one file: a compiler cache has nothing for a definition that depends on the checkout's folder.
set_property(SOURCE resolve.cpp PROPERTY COMPILE_DEFINITIONS HPCBOOT_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden/env")
set_property(SOURCE programs.cpp PROPERTY COMPILE_DEFINITIONS HPCBOOT_PROGRAM="${PROJECT_BINARY_DIR}/bin/hpcboot")
if(TARGET hpcboot)
  add_dependencies(bootstrap_bench hpcboot)
endif()

# One rank of the script bench/exchange_ranks.
add_executable(exchange_ranks exchange_ranks.cpp)
set_target_properties(exchange_ranks PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
target_link_libraries(exchange_ranks PRIVATE hpcboot::bootstrap hpcboot_warnings)

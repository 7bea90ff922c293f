# Benchmarks of the data sets.
if(NOT TARGET hpcboot_datasets)
  return()
endif()
add_executable(bench_loader loader.cpp)
set_target_properties(bench_loader PROPERTIES OUTPUT_NAME loader
                      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
target_link_libraries(bench_loader PRIVATE hpcboot_datasets hpcboot_warnings benchmark::benchmark_main)

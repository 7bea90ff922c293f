# Where the tests find files (support/paths.hpp); hpcboot_add_test links it to each.
set(HPCBOOT_TEST_PYTHON /usr/bin/python3 CACHE FILEPATH
    "Python with torch and torchvision, for the tests that compare with them")
configure_file(support/paths.cpp.in support/paths.cpp @ONLY)
add_library(hpcboot_test_paths STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/support/paths.cpp)
target_include_directories(hpcboot_test_paths PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(hpcboot_test_paths PRIVATE hpcboot_warnings)

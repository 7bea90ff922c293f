# Tests of bootstrap/gpu/. One library in place of two of NVIDIA's driver, which tests find through their run path, and
# programs through LD_LIBRARY_PATH.
add_library(hpcboot_fake_driver SHARED support/fake_driver.cpp)
set(HPCBOOT_FAKE_DRIVER ${CMAKE_CURRENT_BINARY_DIR}/fake_driver)
set_target_properties(hpcboot_fake_driver PROPERTIES CXX_VISIBILITY_PRESET default
                      LIBRARY_OUTPUT_DIRECTORY ${HPCBOOT_FAKE_DRIVER})
add_custom_command(TARGET hpcboot_fake_driver POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:hpcboot_fake_driver> ${HPCBOOT_FAKE_DRIVER}/libnvidia-ml.so.1
  COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:hpcboot_fake_driver> ${HPCBOOT_FAKE_DRIVER}/libcuda.so.1 VERBATIM)
# The program's RPATH, unlike a RUNPATH, applies also if a sanitizer's library calls dlopen() for it.
function(hpcboot_use_fake_driver target)
  add_dependencies(${target} hpcboot_fake_driver)
  set_target_properties(${target} PROPERTIES BUILD_RPATH ${HPCBOOT_FAKE_DRIVER})
  target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
endfunction()
add_library(hpcboot_hanging_driver SHARED support/hanging_driver.cpp)
set_target_properties(hpcboot_hanging_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1 CXX_VISIBILITY_PRESET default
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/hanging_driver)
hpcboot_add_test(NAME gpu_link_test SOURCES bootstrap/gpu/gpu_link_test.cpp LIBRARIES hpcboot_gpu LABELS unit)
hpcboot_use_fake_driver(gpu_link_test)

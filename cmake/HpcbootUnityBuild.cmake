option(HPCBOOT_UNITY_BUILD "Compile several source files at a time, where large headers take most of the time" ON)

# hpcboot_unity_build(target [BATCH]): most of the compile time of a file is that of LibTorch's or JSON's headers and
# templates, so BATCH files (8) are compiled at a time. They share a scope: names in their anonymous namespaces must
# differ. .ci/nightly compiles each file by itself, too, which finds missing includes.
function(hpcboot_unity_build target)
  set(batch 8)
  if(ARGC GREATER 1)
    set(batch ${ARGV1})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${HPCBOOT_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE ${batch})
  # CMake includes the files by their whole paths. Without the map these would be in __FILE__, which assertions print, and a
  # compiler cache would have nothing for a checkout in another folder.
  if(HPCBOOT_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
  endif()
endfunction()

# GCC looks for garbage each time its memory has grown by some percent, a tenth of the time of a file that includes
# LibTorch, and finds little: without it, such a file needs 60 MB more. (clang-tidy does not know the options.)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT CMAKE_CXX_CLANG_TIDY)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-expand=200 --param ggc-min-heapsize=1000000>")
endif()

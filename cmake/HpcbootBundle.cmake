# `cmake --build build --target bundle` writes build/bundle: the programs, and the shared libraries that they need
# except for LibTorch's, CUDA's, MPI's and glibc's. The folder may be moved and copied to machines with the same
# processor type and the same or a newer glibc. The programs find a LibTorch of the same version at <bundle>/torch.
#
# This file defines the target, and is also the script that the target runs (cmake -P).
if(NOT CMAKE_SCRIPT_MODE_FILE)
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  find_program(PATCHELF_EXECUTABLE patchelf)
  hpcboot_note_dependency("patchelf" "${PATCHELF_EXECUTABLE}" "target bundle" "Install patchelf.")
  if(NOT PATCHELF_EXECUTABLE)
    return()
  endif()
  set(_programs "")
  foreach(_program IN ITEMS hpcboot trainer trainer_libtorch runtable)
    if(TARGET ${_program})
      list(APPEND _programs ${_program})
    endif()
  endforeach()
  # For bench/gpu.
  option(HPCBOOT_BUNDLE_BENCH "Add the tests and benchmarks for a GPU to the bundle" OFF)
  foreach(_program IN ITEMS ddp_test gpu_test sharded_checkpoint_test transformer)
    if(HPCBOOT_BUNDLE_BENCH AND TARGET ${_program})
      list(APPEND _programs ${_program})
    endif()
  endforeach()
  if(NOT _programs)
    return()
  endif()
  set(_files "")
  foreach(_program IN LISTS _programs)
    list(APPEND _files $<TARGET_FILE:${_program}>)
  endforeach()
  add_custom_target(bundle
    COMMAND ${CMAKE_COMMAND} "-DPROGRAMS=${_files}" -DBUNDLE=${PROJECT_BINARY_DIR}/bundle
            -DPATCHELF=${PATCHELF_EXECUTABLE} -DSTRIP=${CMAKE_STRIP} -DTORCH=${TORCH_INSTALL_PREFIX} -P ${CMAKE_CURRENT_LIST_FILE}
    COMMENT "Writing ${PROJECT_BINARY_DIR}/bundle" VERBATIM)
  add_dependencies(bundle ${_programs})
  return()
endif()

cmake_policy(VERSION 3.21)
file(REMOVE_RECURSE ${BUNDLE})
file(MAKE_DIRECTORY ${BUNDLE}/bin ${BUNDLE}/lib)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAMS} RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^lib(torch|c10|caffe2|cuda|cudart|nccl|nvrtc|nvToolsExt|mpi|pmix|pmi2)[-_.0-9a-z]*\\.so"
                      "^(ld-linux|lib(c|m|rt|dl|pthread|resolv|util|nsl|anl)\\.so)")
if(missing)
  message(FATAL_ERROR "not found: ${missing}")
endif()

# LibTorch's folder, and those where a LibTorch for CUDA finds CUDA: in PyTorch's wheels, beside it.
set(folders "BUNDLE/lib:BUNDLE/torch/lib")
if(TORCH AND EXISTS "${TORCH}/lib/libc10_cuda.so")
  execute_process(COMMAND ${PATCHELF} --print-rpath ${TORCH}/lib/libc10_cuda.so OUTPUT_VARIABLE of_cuda
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "$ORIGIN" "BUNDLE/torch/lib" of_cuda "${of_cuda}")
  string(APPEND folders ":${of_cuda}")
endif()

# RPATH instead of RUNPATH: modules that are loaded on a cluster set LD_LIBRARY_PATH, which RUNPATH yields to.
foreach(program IN LISTS PROGRAMS)
  set(folder bin)
  set(root "$ORIGIN/..")
  if(program MATCHES "/libexec/hpcboot/")
    set(folder libexec/hpcboot)
    set(root "$ORIGIN/../..")
  endif()
  file(INSTALL ${program} DESTINATION ${BUNDLE}/${folder} USE_SOURCE_PERMISSIONS MESSAGE_NEVER)
  get_filename_component(name ${program} NAME)
  string(REPLACE "BUNDLE" "${root}" of_program "${folders}")
  execute_process(COMMAND ${STRIP} ${BUNDLE}/${folder}/${name} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${PATCHELF} --force-rpath --set-rpath "${of_program}" ${BUNDLE}/${folder}/${name}
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(library IN LISTS found)
  file(INSTALL ${library} DESTINATION ${BUNDLE}/lib FOLLOW_SYMLINK_CHAIN MESSAGE_NEVER)
endforeach()
file(GLOB libraries ${BUNDLE}/lib/*)
foreach(library IN LISTS libraries)
  if(NOT IS_SYMLINK ${library})
    execute_process(COMMAND ${PATCHELF} --force-rpath --set-rpath "$ORIGIN" ${library} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()

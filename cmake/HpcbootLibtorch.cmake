# hpcboot::libtorch wraps ${TORCH_LIBRARIES}, after find_package(Torch). Used by this build and by the
# installed package, so that a consumer of hpcboot::torch compiles with the same flags as the library.
# An imported target's headers are system headers: their warnings are suppressed.
if(NOT TARGET hpcboot::libtorch)
  add_library(hpcboot::libtorch INTERFACE IMPORTED GLOBAL)
  target_link_libraries(hpcboot::libtorch INTERFACE ${TORCH_LIBRARIES})
  get_target_property(_hpcboot_torch_includes torch INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(hpcboot::libtorch INTERFACE ${_hpcboot_torch_includes})
  # The C++ that LibTorch's headers need, 20 from 2.12 on; consumers then compile with it, too. LibTorch up to 2.14
  # states it as a property of its target that does not reach them.
  get_target_property(_hpcboot_torch_features torch INTERFACE_COMPILE_FEATURES)
  get_target_property(_hpcboot_torch_standard torch CXX_STANDARD)
  if(_hpcboot_torch_features MATCHES "cxx_std_([0-9]+)")
    set(_hpcboot_torch_standard ${CMAKE_MATCH_1})
  endif()
  if(_hpcboot_torch_standard GREATER 17)
    target_compile_features(hpcboot::libtorch INTERFACE cxx_std_${_hpcboot_torch_standard})
  endif()
  separate_arguments(_hpcboot_torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  target_compile_options(hpcboot::libtorch INTERFACE ${_hpcboot_torch_flags})
  # The linker follows the libraries that LibTorch needs, and takes CUDA's toolkit's for them, which may be older than
  # those that came with a wheel. The loader takes the wheel's.
  file(GLOB _hpcboot_torch_folders ${TORCH_INSTALL_PREFIX}/../nvidia/*/lib)
  foreach(_folder IN LISTS _hpcboot_torch_folders)
    target_link_options(hpcboot::libtorch INTERFACE LINKER:-rpath-link,${_folder})
  endforeach()
  # PyTorch's wheels export the parts of std::filesystem that the standard library of their compiler lacked
  # (pytorch#133437), and their remove_all() crashes. The library linked first takes precedence, so libstdc++ is first.
  target_link_options(hpcboot::libtorch INTERFACE LINKER:--push-state,--no-as-needed,-lstdc++,--pop-state)
endif()

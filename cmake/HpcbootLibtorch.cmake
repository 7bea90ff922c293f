# hpcboot::libtorch wraps ${TORCH_LIBRARIES}, after find_package(Torch). Used by this build and by the
# installed package, so that a consumer of hpcboot::torch compiles with the same flags as the library.
# An imported target's headers are system headers: their warnings are suppressed.
if(NOT TARGET hpcboot::libtorch)
  add_library(hpcboot::libtorch INTERFACE IMPORTED GLOBAL)
  target_link_libraries(hpcboot::libtorch INTERFACE ${TORCH_LIBRARIES})
  get_target_property(_hpcboot_torch_includes torch INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(hpcboot::libtorch INTERFACE ${_hpcboot_torch_includes})
  separate_arguments(_hpcboot_torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  target_compile_options(hpcboot::libtorch INTERFACE ${_hpcboot_torch_flags})
  # PyTorch's wheels export the parts of std::filesystem that the standard library of their compiler lacked
  # (pytorch#133437), and their remove_all() crashes. The library linked first takes precedence, so libstdc++ is first.
  target_link_options(hpcboot::libtorch INTERFACE LINKER:--push-state,--no-as-needed,-lstdc++,--pop-state)
endif()

# hpcboot::libtorch stands for ${TORCH_LIBRARIES}, after find_package(Torch). Shared by this build and
# by the installed package, so that a consumer of hpcboot::torch compiles as the library was compiled.
# An imported target's headers are system headers: the warnings in them are not ours.
if(NOT TARGET hpcboot::libtorch)
  add_library(hpcboot::libtorch INTERFACE IMPORTED GLOBAL)
  target_link_libraries(hpcboot::libtorch INTERFACE ${TORCH_LIBRARIES})
  get_target_property(_hpcboot_torch_includes torch INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(hpcboot::libtorch INTERFACE ${_hpcboot_torch_includes})
  separate_arguments(_hpcboot_torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  target_compile_options(hpcboot::libtorch INTERFACE ${_hpcboot_torch_flags})
  # PyTorch's wheels export the parts of std::filesystem that the standard library of their compiler lacked
  # (pytorch#133437), and remove_all() of them crashes. Who is linked first is asked first.
  target_link_options(hpcboot::libtorch INTERFACE LINKER:--push-state,--no-as-needed,-lstdc++,--pop-state)
endif()

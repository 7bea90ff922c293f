# What `cmake --install` installs, and the package that find_package(hpcboot) finds, in an
# installation or in this build tree. Install components: core, launchers, mpi, torch, programs.
option(HPCBOOT_INSTALL "Install hpcboot" ${PROJECT_IS_TOP_LEVEL})
if(NOT HPCBOOT_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)
set(_hpcboot_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hpcboot)

# The targets in $<BUILD_INTERFACE:…> (warnings, headers of C libraries) are for compiling the
# library; a static library would pass them to consumers of the build tree as something to link.
function(hpcboot_hide_build_interface target)
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  list(FILTER links EXCLUDE REGEX BUILD_INTERFACE)
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
endfunction()

function(hpcboot_install_library target headers_dir component export_file)
  hpcboot_hide_build_interface(${target})
  install(TARGETS ${target} EXPORT ${export_file}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
  install(DIRECTORY ${headers_dir}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${component}
          FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
  install(EXPORT ${export_file} NAMESPACE hpcboot:: FILE ${export_file}.cmake
          DESTINATION ${_hpcboot_package_dir} COMPONENT ${component})
  export(EXPORT ${export_file} NAMESPACE hpcboot:: FILE ${PROJECT_BINARY_DIR}/${export_file}.cmake)
endfunction()

hpcboot_install_library(hpcboot_bootstrap ${PROJECT_SOURCE_DIR}/bootstrap/include core hpcbootTargets)
if(TARGET hpcboot_toml)
  hpcboot_hide_build_interface(hpcboot_toml)
  install(TARGETS hpcboot_toml EXPORT hpcboot-launchersTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT launchers)
endif()
hpcboot_install_library(hpcboot_launchers ${PROJECT_SOURCE_DIR}/bootstrap/include launchers hpcboot-launchersTargets)
if(TARGET hpcboot_mpi)
  hpcboot_install_library(hpcboot_mpi ${PROJECT_SOURCE_DIR}/bootstrap/include mpi hpcboot-mpiTargets)
endif()
if(TARGET hpcboot_torch)
  hpcboot_hide_build_interface(hpcboot_safetensors)
  hpcboot_hide_build_interface(hpcboot_store)
  install(TARGETS hpcboot_safetensors hpcboot_store EXPORT hpcboot-torchTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT torch)
  hpcboot_install_library(hpcboot_torch ${PROJECT_SOURCE_DIR}/trainer/include torch hpcboot-torchTargets)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/HpcbootLibtorch.cmake
          DESTINATION ${_hpcboot_package_dir} COMPONENT torch)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/HpcbootLibtorch.cmake
                 ${PROJECT_BINARY_DIR}/HpcbootLibtorch.cmake COPYONLY)
endif()

# Fortran's module files differ by compiler, so consumers compile its source.
install(FILES ${PROJECT_SOURCE_DIR}/bootstrap/fortran/hpcboot.f90
        DESTINATION ${_hpcboot_package_dir} COMPONENT core)
configure_file(${PROJECT_SOURCE_DIR}/bootstrap/fortran/hpcboot.f90
               ${PROJECT_BINARY_DIR}/hpcboot.f90 COPYONLY)
# For builds without CMake. The prefix is relative to the .pc file, so an installation may be moved.
file(RELATIVE_PATH HPCBOOT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" HPCBOOT_PC_PREFIX "${HPCBOOT_PC_PREFIX}")
# Libraries that a C or Fortran compiler does not link by default: the C++ library, threads and dlopen().
set(_libraries ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_ITEM _libraries ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
list(APPEND _libraries ${CMAKE_DL_LIBS})
list(REMOVE_DUPLICATES _libraries)
list(TRANSFORM _libraries PREPEND "-l" OUTPUT_VARIABLE HPCBOOT_PC_LIBS_PRIVATE)
list(APPEND HPCBOOT_PC_LIBS_PRIVATE -pthread)
list(JOIN HPCBOOT_PC_LIBS_PRIVATE " " HPCBOOT_PC_LIBS_PRIVATE)
configure_file(${PROJECT_SOURCE_DIR}/cmake/hpcboot.pc.in ${PROJECT_BINARY_DIR}/hpcboot.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hpcboot.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT core)

foreach(_program IN ITEMS hpcboot trainer runtable hello_mpi)
  if(TARGET ${_program})
    # LibTorch and MPI from modules are not in a standard folder.
    set_target_properties(${_program} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${_program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
    get_target_property(_share ${_program} HPCBOOT_SHARE)
    if(_share)
      install(FILES ${_share}/${_program}.bash RENAME ${_program} COMPONENT programs
              DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
      install(FILES ${_share}/_${_program} COMPONENT programs
              DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
      install(FILES ${_share}/${_program}.fish COMPONENT programs
              DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
      install(FILES ${_share}/${_program}.1 COMPONENT programs DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    endif()
  endif()
endforeach()

if(TARGET trainer_libtorch)
  set_target_properties(trainer_libtorch PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  # Where the trainer looks for it, whatever the prefix.
  install(TARGETS trainer_libtorch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}/../libexec/hpcboot COMPONENT programs)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/hpcbootConfig.cmake.in
  ${PROJECT_BINARY_DIR}/hpcbootConfig.cmake INSTALL_DESTINATION ${_hpcboot_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hpcbootConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hpcbootConfig.cmake ${PROJECT_BINARY_DIR}/hpcbootConfigVersion.cmake
        DESTINATION ${_hpcboot_package_dir} COMPONENT core)

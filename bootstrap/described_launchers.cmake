# Launchers that are data, core/launchers/*.toml: a program of the build writes them into a table, so that the core
# reads no file and needs no library for it.
if(TARGET tomlplusplus::tomlplusplus)
  # Headers alone: nothing needs toml++ at run time, even if a library of it is installed.
  add_library(hpcboot_toml_headers INTERFACE)
  target_include_directories(hpcboot_toml_headers SYSTEM INTERFACE
    $<TARGET_PROPERTY:tomlplusplus::tomlplusplus,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(hpcboot_toml_headers INTERFACE TOML_HEADER_ONLY=1)
endif()

set(_no_table "")
if(NOT TARGET hpcboot_toml_headers)
  set(_no_table "toml++ is missing (libtomlplusplus-dev)")
elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(_no_table "what this build makes cannot run here; set CMAKE_CROSSCOMPILING_EMULATOR")
endif()
if(_no_table)
  message(STATUS "The launchers described in bootstrap/core/launchers/*.toml are left out: ${_no_table}")
  target_sources(hpcboot_bootstrap PRIVATE core/launchers/shipped_unavailable.cpp)
  return()
endif()

# It compiles those sources of the core that it needs: the core itself waits for what it writes.
add_executable(write_launcher_table
  core/encode/terminal.cpp core/env.cpp core/error.cpp core/launch_level.cpp core/launch_variable.cpp core/nearest_name.cpp
  core/schedulers/read_file.cpp describe/read_description.cpp describe/toml_section.cpp
  ${PROJECT_SOURCE_DIR}/cmake/write_launcher_table.cpp text/display_width.cpp text/terminal.cpp toml/bounded_toml.cpp)
target_compile_features(write_launcher_table PRIVATE cxx_std_17)
target_include_directories(write_launcher_table PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_link_libraries(write_launcher_table PRIVATE hpcboot_toml_headers hpcboot_warnings)
set_target_properties(write_launcher_table PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
file(GLOB _descriptions CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/core/launchers/*.toml)
set(_table ${CMAKE_CURRENT_BINARY_DIR}/shipped_launchers.cpp)
add_custom_command(OUTPUT ${_table}
  COMMAND write_launcher_table ${_table} ${_descriptions}
  DEPENDS write_launcher_table ${_descriptions} COMMENT "Writing the table of described launchers" VERBATIM)
target_sources(hpcboot_bootstrap PRIVATE ${_table})

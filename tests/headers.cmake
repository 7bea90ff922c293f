# Every public header compiles alone, with only the settings that its library passes to consumers, and included
# twice, to test its guard. Consumers may compile as a newer C++ than the library.

# hpcboot_add_header_test(name target label language compiler standard flags headers): one ctest entry, whose file
# includes these headers. CMake's launcher of compilers is used, so that a cache spares headers that have not changed.
function(hpcboot_add_header_test name target label language compiler standard flags headers)
  # With -I, not -isystem: the compiler then ignores its own folders, and keeps their order.
  set(includes $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${target},INTERFACE_COMPILE_DEFINITIONS>)
  if(language STREQUAL c)
    set(launcher ${CMAKE_C_COMPILER_LAUNCHER})
  else()
    set(launcher ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/header/${name}.${standard})
  list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n")
  list(JOIN headers "" text)
  file(CONFIGURE OUTPUT ${source} CONTENT "${text}" @ONLY)
  add_test(NAME header.${name}.${standard} COMMAND_EXPAND_LISTS COMMAND ${launcher} ${compiler} -std=${standard} ${flags}
           "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
           -x ${language} -c ${source} -o ${source}.o)
  set_tests_properties(header.${name}.${standard} PROPERTIES LABELS "${label}" TIMEOUT 300)
endfunction()

set(_flags -Wall -Wextra -Werror -pedantic)
set(_folder ${PROJECT_SOURCE_DIR}/bootstrap/include)
file(GLOB_RECURSE _headers RELATIVE ${_folder} CONFIGURE_DEPENDS ${_folder}/*.hpp ${_folder}/*.h)
foreach(_header IN LISTS _headers)
  foreach(_standard IN ITEMS c++17 c++20)
    hpcboot_add_header_test(${_header} hpcboot_bootstrap unit c++ ${CMAKE_CXX_COMPILER} ${_standard} "${_flags}"
                            "${_header};${_header}")
  endforeach()
  if(_header MATCHES "[.]h$")
    hpcboot_add_header_test(${_header} hpcboot_bootstrap unit c ${CMAKE_C_COMPILER} c99 "${_flags}" "${_header};${_header}")
  endif()
endforeach()

if(TARGET hpcboot_torch)
  # Each takes seconds: it includes LibTorch's headers, which are not free of warnings.
  set(_folder ${PROJECT_SOURCE_DIR}/trainer/include)
  file(GLOB_RECURSE _headers RELATIVE ${_folder} CONFIGURE_DEPENDS ${_folder}/*.hpp)
  get_target_property(_features hpcboot::libtorch INTERFACE_COMPILE_FEATURES)
  set(_standard c++17)
  if(_features MATCHES "cxx_std_(2[0-9])")
    set(_standard c++${CMAKE_MATCH_1})
  else()
    hpcboot_add_header_test(hpcboot/torch hpcboot_torch "package;torch" c++ ${CMAKE_CXX_COMPILER} c++20 "" "${_headers}")
  endif()
  foreach(_header IN LISTS _headers)
    hpcboot_add_header_test(${_header} hpcboot_torch "package;torch" c++ ${CMAKE_CXX_COMPILER} ${_standard} ""
                            "${_header};${_header}")
  endforeach()
endif()

# Every public header compiles alone, with only the settings that its library passes to consumers; included
# twice, to test its guard.

# hpcboot_add_header_tests(target folder label [flags...]): one ctest entry per header below the folder.
function(hpcboot_add_header_tests target folder label)
  file(GLOB_RECURSE headers RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*.hpp ${folder}/*.h)
  # With -I, not -isystem: the compiler then ignores its own folders, and keeps their order.
  set(includes $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${target},INTERFACE_COMPILE_DEFINITIONS>)
  set(include_flags "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>")
  set(define_flags "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>")
  foreach(header IN LISTS headers)
    set(compilers c++ ${CMAKE_CXX_COMPILER} c++17)
    if(header MATCHES "[.]h$")
      list(APPEND compilers c ${CMAKE_C_COMPILER} c99)
    endif()
    while(compilers)
      list(POP_FRONT compilers language compiler standard)
      add_test(NAME header.${header}.${standard} COMMAND_EXPAND_LISTS COMMAND ${compiler} -std=${standard}
               ${ARGN} -fsyntax-only "${include_flags}" "${define_flags}"
               -include ${header} -include ${header} -x ${language} /dev/null)
      set_tests_properties(header.${header}.${standard} PROPERTIES LABELS ${label} TIMEOUT 300)
    endwhile()
  endforeach()
endfunction()

hpcboot_add_header_tests(hpcboot_bootstrap ${PROJECT_SOURCE_DIR}/bootstrap/include unit
                         -Wall -Wextra -Werror -pedantic)
if(TARGET hpcboot_torch)
  # Each takes seconds: it includes LibTorch's headers, which are not free of warnings.
  hpcboot_add_header_tests(hpcboot_torch ${PROJECT_SOURCE_DIR}/trainer/include package)
endif()

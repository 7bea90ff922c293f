# Shell scripts: every tests/shell/*.bats is a ctest entry shell.<name>, every tests/shell/lint check
# an entry lint.<name>. A new file needs no registration.
file(GLOB _bats_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/shell/*.bats)
find_program(BATS_EXECUTABLE bats)
foreach(_file IN LISTS _bats_files)
  get_filename_component(_name ${_file} NAME_WE)
  if(BATS_EXECUTABLE)
    add_test(NAME shell.${_name} COMMAND ${BATS_EXECUTABLE} --timing ${_file})
  else()
    add_test(NAME shell.${_name} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no bats was found at configure time")
    set_tests_properties(shell.${_name} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
  endif()
  set_tests_properties(shell.${_name} PROPERTIES LABELS shell TIMEOUT 300
    ENVIRONMENT "HPCBOOT_BIN_DIR=${PROJECT_BINARY_DIR}/bin")
endforeach()

foreach(_name IN ITEMS format shellcheck house-rules words)
  add_test(NAME lint.${_name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/shell/lint/${_name}.sh ${PROJECT_SOURCE_DIR})
  set_tests_properties(lint.${_name} PROPERTIES LABELS lint TIMEOUT 120 SKIP_RETURN_CODE 77)
endforeach()

# Shell scripts: every tests/shell/*.bats is a ctest entry shell.<name>, every tests/shell/lint check
# an entry lint.<name>. A new file needs no registration.
find_program(BATS_EXECUTABLE bats)

# hpcboot_add_bats_test(NAME FILE): one ctest entry.
function(hpcboot_add_bats_test name file)
  if(BATS_EXECUTABLE)
    add_test(NAME ${name} COMMAND ${BATS_EXECUTABLE} --timing ${file})
  else()
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no bats was found at configure time")
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
  endif()
  # COST: files with many tests start first, after the tests on a cluster, so that no long one is left for the end.
  file(STRINGS ${file} tests REGEX "^@test ")
  list(LENGTH tests count)
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 COST ${count} ENVIRONMENT "HPCBOOT_BIN_DIR=${PROJECT_BINARY_DIR}/bin")
endfunction()

file(GLOB _bats_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/shell/*.bats)
foreach(_file IN LISTS _bats_files)
  get_filename_component(_name ${_file} NAME_WE)
  hpcboot_add_bats_test(shell.${_name} ${_file})
  set_tests_properties(shell.${_name} PROPERTIES LABELS shell)
endforeach()

foreach(_name IN ITEMS format shellcheck house-rules words)
  add_test(NAME lint.${_name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/shell/lint/${_name}.sh ${PROJECT_SOURCE_DIR})
  set_tests_properties(lint.${_name} PROPERTIES LABELS lint TIMEOUT 300 SKIP_RETURN_CODE 77)
endforeach()

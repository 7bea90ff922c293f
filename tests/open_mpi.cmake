# Open MPI 4's jobs share a folder below /tmp, and may remove it while another job uses it (support/open_mpi_folder):
# tests that ctest starts under mpirun use a folder per build. It is created whenever ctest reads its tests. Tests in
# .bats files use other folders (support/open_mpi.bash).
string(MD5 _id "${PROJECT_BINARY_DIR}")
string(SUBSTRING "${_id}" 0 8 _id)
set(_folder /tmp/hpcboot-open-mpi-${_id})
get_property(_tests DIRECTORY PROPERTY TESTS)
foreach(_test IN LISTS _tests)
  get_property(_labels TEST ${_test} PROPERTY LABELS)
  if("mpi" IN_LIST _labels)
    set_property(TEST ${_test} APPEND PROPERTY ENVIRONMENT OMPI_MCA_orte_tmpdir_base=${_folder})
  endif()
endforeach()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/open_mpi_folder.cmake
     "execute_process(COMMAND \"${CMAKE_CURRENT_SOURCE_DIR}/support/open_mpi_folder\" \"${_folder}\")\n")
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/open_mpi_folder.cmake)

# setup/hello_mpi under mpirun; shell/hello_mpi.bats checks its output.
if(NOT TARGET hello_mpi)
  return()
endif()
foreach(ranks IN ITEMS 1 2 4)
  hpcboot_add_mpi_test(NAME hello_mpi.ranks_${ranks} RANKS ${ranks} TIMEOUT 60
                       COMMAND $<TARGET_FILE:hello_mpi> --timeout 50 --size 1)
endforeach()
hpcboot_add_test(NAME hello_mpi_test SOURCES unit/hello_mpi_test.cpp ${PROJECT_SOURCE_DIR}/setup/hello_mpi/measure.cpp
  LIBRARIES MPI::MPI_C LABELS unit)
target_include_directories(hello_mpi_test PRIVATE ${PROJECT_SOURCE_DIR}/setup)

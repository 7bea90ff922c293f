# Tests of the exchange between ranks: with a launcher simulated by a thread, and under real launchers.
hpcboot_add_test(NAME exchange_unit_tests
  SOURCES bootstrap/rendezvous/file_kvs_second_test.cpp bootstrap/rendezvous/file_kvs_test.cpp
          bootstrap/rendezvous/key_value_store_test.cpp bootstrap/rendezvous/pmix_server_test.cpp
          bootstrap/rendezvous/pmix_use_test.cpp
          bootstrap/rendezvous/resolve_with_kvs_test.cpp
  LIBRARIES hpcboot::bootstrap LABELS unit exchange)
target_include_directories(exchange_unit_tests PRIVATE ${PROJECT_SOURCE_DIR}/bootstrap)

add_executable(exchange_test mpi/exchange_test.cpp)
target_link_libraries(exchange_test PRIVATE hpcboot::bootstrap hpcboot_warnings)
set_target_properties(exchange_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)

find_program(HPCBOOT_HYDRA mpiexec.hydra)
foreach(ranks IN ITEMS 1 2 4)
  if(PMIx_FOUND)
    hpcboot_add_mpi_test(NAME exchange_test.pmix.ranks_${ranks} RANKS ${ranks} LABELS exchange TIMEOUT 60
                         COMMAND sh -c "\"$0\" pmix 1 && \"$0\" pmix 2" $<TARGET_FILE:exchange_test>)
  endif()
  set(name exchange_test.pmi1.ranks_${ranks})
  if(HPCBOOT_HYDRA)
    add_test(NAME ${name} COMMAND ${HPCBOOT_HYDRA} -n ${ranks} $<TARGET_FILE:exchange_test> pmi1)
  else()
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no mpiexec.hydra was found at configure time")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "exchange;mpi;RANKS_${ranks}" TIMEOUT 60 PROCESSORS ${ranks}
                       SKIP_REGULAR_EXPRESSION "SKIPPED")
endforeach()

if(TARGET hpcboot_mpi)
  add_executable(mpi_session_test mpi/mpi_session_test.cpp)
  target_link_libraries(mpi_session_test PRIVATE hpcboot::mpi hpcboot_warnings)
  set_target_properties(mpi_session_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  foreach(ranks IN ITEMS 1 2 4)
    hpcboot_add_mpi_test(NAME mpi_session_test.ranks_${ranks} RANKS ${ranks} LABELS exchange TIMEOUT 60
                         COMMAND $<TARGET_FILE:mpi_session_test>)
  endforeach()
  if(MPIEXEC_EXECUTABLE)
    # MPI_Abort's own message does not always reach mpirun's output; the exit code does.
    add_test(NAME mpi_session_test.exception COMMAND sh -c
      "\"$1\" -np 2 --oversubscribe \"$2\" throw; test $? -eq 1" - ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:mpi_session_test>)
    set_tests_properties(mpi_session_test.exception PROPERTIES LABELS "exchange;mpi;RANKS_2" TIMEOUT 60 PROCESSORS 2
      ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1" FAIL_REGULAR_EXPRESSION "FAILED")
  endif()
  # Open MPI programs under another MPI's launcher: each is a singleton (ompi#13523 is the same under srun).
  if(HPCBOOT_HYDRA)
    add_test(NAME mpi_session_test.singletons COMMAND ${HPCBOOT_HYDRA} -n 2 $<TARGET_FILE:mpi_session_test>)
    set_tests_properties(mpi_session_test.singletons PROPERTIES LABELS "exchange;mpi;RANKS_2" TIMEOUT 60 PROCESSORS 2
      ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
      PASS_REGULAR_EXPRESSION "hydra started 2 processes, but each is rank 0 of 1 to mpi: " FAIL_REGULAR_EXPRESSION "FAILED")
  endif()
  # Without a launcher MPI is a singleton, as under an srun that does not support its protocol.
  add_test(NAME mpi_session_test.singleton COMMAND mpi_session_test)
  set_tests_properties(mpi_session_test.singleton PROPERTIES LABELS "exchange;mpi" TIMEOUT 60
    ENVIRONMENT "HPCBOOT_RANK=0;HPCBOOT_WORLD_SIZE=2;HPCBOOT_LOCAL_RANK=0;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    PASS_REGULAR_EXPRESSION "explicit started 2 processes, but each is rank 0 of 1 to mpi: " FAIL_REGULAR_EXPRESSION "FAILED")
endif()

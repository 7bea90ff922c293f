# Tests on a real cluster of namespaces (cluster/README.md). They need root, Slurm, sshd and MPI;
# elsewhere they are skipped, and say why. The folder is this build's own: builds do not disturb each other.
find_program(HPCBOOT_BATS bats)
string(MD5 hpcboot_cluster_id "${PROJECT_BINARY_DIR}")
string(SUBSTRING "${hpcboot_cluster_id}" 0 8 hpcboot_cluster_id)

function(hpcboot_add_cluster_test name)
  if(HPCBOOT_BATS)
    add_test(NAME cluster.${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cluster/run_bats ${name}.bats ${ARGN})
  else()
    add_test(NAME cluster.${name} COMMAND sh -c "echo 'SKIPPED: bats was not found at configure time'; exit 77")
  endif()
  # They wait more than they compute: one after the other, first of all, beside the tests of one process.
  set_tests_properties(cluster.${name} PROPERTIES
    LABELS cluster TIMEOUT 600 SKIP_RETURN_CODE 77 RESOURCE_LOCK cluster COST 1000
    ENVIRONMENT "HPCBOOT_CLUSTER_DIR=/tmp/hpcboot-cluster-test-${hpcboot_cluster_id}")
endfunction()

hpcboot_add_cluster_test(lifecycle)
hpcboot_add_cluster_test(launchers)
hpcboot_add_cluster_test(ssh_setup)
hpcboot_add_cluster_test(check_hosts ${PROJECT_BINARY_DIR}/bin/hello_mpi)
foreach(name show nested pbs_names network endpoint endpoint_ipv6 sanitize tool)
  hpcboot_add_cluster_test(${name} ${PROJECT_BINARY_DIR}/bin/hpcboot)
endforeach()
hpcboot_add_cluster_test(exchange ${PROJECT_BINARY_DIR}/tests/bin/exchange_test)
hpcboot_add_cluster_test(exchange_pmi ${PROJECT_BINARY_DIR}/bin/hpcboot)
if(TARGET trainer)
  hpcboot_add_cluster_test(trainer ${PROJECT_BINARY_DIR}/bin/trainer)
  hpcboot_add_cluster_test(jobs ${PROJECT_BINARY_DIR}/bin/trainer)
endif()
if(TARGET hpcboot_torch)
  # What the test package.own_model built with the installed library.
  hpcboot_add_cluster_test(own_model ${PROJECT_BINARY_DIR}/package/own_model/consumer)
  set_tests_properties(cluster.own_model PROPERTIES FIXTURES_REQUIRED package_own_model)
endif()

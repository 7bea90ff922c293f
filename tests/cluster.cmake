# Tests on a real cluster of namespaces (cluster/README.md). They need root, Slurm, sshd and MPI;
# elsewhere they are skipped, with the reason. Each build has its own folder, so builds do not interfere.
# Hosts of a cluster have the real folders only: a checkout may be reached through a symbolic link.
file(REAL_PATH "${PROJECT_BINARY_DIR}" hpcboot_real_build)
file(REAL_PATH "${CMAKE_CURRENT_SOURCE_DIR}/cluster" hpcboot_real_cluster)
string(MD5 hpcboot_cluster_id "${PROJECT_BINARY_DIR}")
string(SUBSTRING "${hpcboot_cluster_id}" 0 8 hpcboot_cluster_id)

# hpcboot_add_cluster_test(NAME PLACE [PROGRAM [LAUNCHER…]]): tests/cluster/NAME.bats. These tests wait more than they
# compute: those with the same PLACE (1 to 4, each a separate cluster) run one after the other, beside those of the
# other places.
function(hpcboot_add_cluster_test name place)
  if(BATS_EXECUTABLE)
    add_test(NAME cluster.${name} COMMAND ${hpcboot_real_cluster}/run_bats ${name}.bats ${ARGN})
  else()
    add_test(NAME cluster.${name} COMMAND sh -c "echo 'SKIPPED: bats was not found at configure time'; exit 77")
  endif()
  # COST: these tests take longest, so they start first.
  set_tests_properties(cluster.${name} PROPERTIES
    LABELS cluster TIMEOUT 600 SKIP_RETURN_CODE 77 RESOURCE_LOCK cluster_${place} COST 1000
    ENVIRONMENT "HPCBOOT_CLUSTER_DIR=/tmp/hpcboot-cluster-test-${hpcboot_cluster_id}-${place}")
endfunction()

hpcboot_add_cluster_test(lifecycle 1)
# It compares the state of the machine before and after.
set_tests_properties(cluster.lifecycle PROPERTIES RESOURCE_LOCK "cluster_1;cluster_2;cluster_3;cluster_4")
hpcboot_add_cluster_test(launchers 4)
hpcboot_add_cluster_test(ssh_setup 4)
hpcboot_add_cluster_test(check_hosts 4 ${hpcboot_real_build}/bin/hello_mpi)
foreach(name show nested pbs_names network endpoint endpoint_ipv6 sanitize tool)
  hpcboot_add_cluster_test(${name} 4 ${hpcboot_real_build}/bin/hpcboot)
endforeach()
# These and cluster.matrix download launchers to the same folder, one after the other.
hpcboot_add_cluster_test(rendezvous 1 ${hpcboot_real_build}/bin/hpcboot)
hpcboot_add_cluster_test(grid_engine 1 ${hpcboot_real_build}/bin/hpcboot gridengine)
set_tests_properties(cluster.grid_engine PROPERTIES TIMEOUT 1200) # a job that is queued again may wait for 5 minutes
hpcboot_add_cluster_test(run 2 ${hpcboot_real_build}/bin/hpcboot)
hpcboot_add_cluster_test(requeue 2 ${hpcboot_real_build}/bin/hpcboot)
hpcboot_add_cluster_test(submit 2 ${hpcboot_real_build}/bin/hpcboot)
hpcboot_add_cluster_test(slurm_grants 1 ${hpcboot_real_build}/bin/hpcboot)
hpcboot_add_cluster_test(silence 1 ${hpcboot_real_build}/bin/hpcboot)
hpcboot_add_cluster_test(exchange 4 ${hpcboot_real_build}/tests/bin/exchange_test)
hpcboot_add_cluster_test(exchange_pmi 4 ${hpcboot_real_build}/bin/hpcboot)
if(TARGET trainer)
  hpcboot_add_cluster_test(trainer 3 ${hpcboot_real_build}/bin/trainer)
  hpcboot_add_cluster_test(run_trainer 3 ${hpcboot_real_build}/bin/trainer)
  hpcboot_add_cluster_test(jobs 3 ${hpcboot_real_build}/bin/trainer)
  set_tests_properties(cluster.jobs PROPERTIES COST 2000 TIMEOUT 1200)
endif()
if(TARGET hpcboot_torch)
  # Built with the installed library by the test package.own_model.
  hpcboot_add_cluster_test(own_model 3 ${hpcboot_real_build}/package/own_model/consumer)
  set_tests_properties(cluster.own_model PROPERTIES FIXTURES_REQUIRED package_own_model)
endif()
# Launchers as PyPI has them today; .ci/nightly runs the whole matrix.
add_test(NAME cluster.matrix COMMAND ${hpcboot_real_cluster}/matrix --short)
set_tests_properties(cluster.matrix PROPERTIES
  LABELS cluster TIMEOUT 240 SKIP_RETURN_CODE 77 RESOURCE_LOCK cluster_1 COST 1000
  ENVIRONMENT "HPCBOOT_CLUSTER_DIR=/tmp/hpcboot-cluster-test-${hpcboot_cluster_id}-1;HPCBOOT_BIN=${hpcboot_real_build}/bin/hpcboot")

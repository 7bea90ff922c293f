#!/usr/bin/env bats
# `hpcboot show --json` under srun, sbatch, salloc, mpirun and Hydra: the true ranks, local ranks and hosts.

load helper

setup_file() {
  start_for_show
}

teardown_file() {
  "$BATS_TEST_DIRNAME/cluster" down
}

setup() {
  enter_shared_folder
}

@test "show under srun_none_2x2" { shows_the_truth srun_none_2x2; }
@test "show under srun_pmi2_2x2" { shows_the_truth srun_pmi2_2x2; }
@test "show under srun_pmix_2x2" { shows_the_truth srun_pmix_2x2; }
@test "show under srun_cyclic_2x2" { shows_the_truth srun_cyclic_2x2; }
@test "show under srun_plane" { shows_the_truth srun_plane; }
@test "show under srun_arbitrary" { shows_the_truth srun_arbitrary; }
@test "show under srun_uneven" { shows_the_truth srun_uneven; }
@test "show under srun_het_joint" { shows_the_truth srun_het_joint; }
@test "show under srun_het_reversed" { shows_the_truth srun_het_reversed; }
@test "show under salloc_het_joint" { shows_the_truth salloc_het_joint; }
@test "show under salloc_het_second" { shows_the_truth salloc_het_second; }
@test "show under salloc_srun_one_task" { shows_the_truth salloc_srun_one_task; }
@test "show under salloc_srun_second_node" { shows_the_truth salloc_srun_second_node; }
@test "show under salloc_srun_preserve_env" { shows_the_truth salloc_srun_preserve_env; }
@test "show under srun_gpus_per_task" { shows_the_truth srun_gpus_per_task; }
@test "show under srun_gpu_bind_single" { shows_the_truth srun_gpu_bind_single; }
@test "show under srun_gres_two" { shows_the_truth srun_gres_two; }
@test "show under srun_gpus_shared" { shows_the_truth srun_gpus_shared; }
@test "show under sbatch_batch_step" { shows_the_truth sbatch_batch_step; }
@test "show under sbatch_srun_2x2" { shows_the_truth sbatch_srun_2x2; }
@test "show under sbatch_mpirun_2x2" { shows_the_truth sbatch_mpirun_2x2; }
@test "show under sbatch_mpirun_one_rank" { shows_the_truth sbatch_mpirun_one_rank; }
@test "show under sbatch_mpirun_one_host" { shows_the_truth sbatch_mpirun_one_host; }
@test "show under sbatch_mpirun_by_node" { shows_the_truth sbatch_mpirun_by_node; }
@test "show under sbatch_mpirun_rankfile" { shows_the_truth sbatch_mpirun_rankfile; }
@test "show under sbatch_hydra_2x2" { shows_the_truth sbatch_hydra_2x2; }
@test "show under sbatch_array_task" { shows_the_truth sbatch_array_task; }
@test "show under salloc_shell" { shows_the_truth salloc_shell; }
@test "show under salloc_interactive_step" { shows_the_truth salloc_interactive_step; }
@test "show under salloc_interactive_mpirun" { shows_the_truth salloc_interactive_mpirun; }
@test "show under ssh_mpirun_2x2" { shows_the_truth ssh_mpirun_2x2; }
@test "show under ssh_mpirun_uneven" { shows_the_truth ssh_mpirun_uneven; }
@test "show under ssh_hydra_2x2" { shows_the_truth ssh_hydra_2x2; }
@test "show under ssh_hydra_uneven" { shows_the_truth ssh_hydra_uneven; }
@test "show under ssh_hydra_ppn" { shows_the_truth ssh_hydra_ppn; }

# A requeued job waits for several seconds before it starts again: both jobs wait at the same time.
@test "show under sbatch_requeued and sbatch_array_requeued" {
  mkdir -m 1777 job array
  (cd job && shows_the_truth sbatch_requeued) 3>&- &
  job=$!
  (cd array && shows_the_truth sbatch_array_requeued) 3>&- &
  array=$!
  wait $job
  wait $array
}

@test "show under ssh_mpirun_uneven, started by root" {
  "$CLUSTER" on n0 env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$BATS_TEST_DIRNAME/lib/launch.sh" \
    ssh_mpirun_uneven "$BATS_TEST_DIRNAME/lib/record.sh" "$PWD" "$HPCBOOT_BIN" show --json
  "$BATS_TEST_DIRNAME/lib/placement.py" check ssh_mpirun_uneven "$PWD"
}

@test "two steps of one job at once have endpoints of their own" {
  mkdir -m 1777 a b
  as_tester salloc --quiet -N2 --ntasks-per-node=2 bash -c '
    for dir in a b; do srun --overlap -N2 -n2 "$0" "$dir" "$@" & pids+=($!); done
    wait "${pids[0]}" && wait "${pids[1]}"' \
    "$BATS_TEST_DIRNAME/lib/record.sh" bash -c 'sleep 0.5; exec "$0" show --json' "$HPCBOOT_BIN"
  for dir in a b; do
    cat "$dir"/* | python3 -c 'import json, re, sys
ranks = [json.loads("{" + text) for text in re.split(r"^\{", sys.stdin.read(), flags=re.M)[1:]]
assert sorted(r["rank"] for r in ranks) == [0, 1] and {r["world_size"] for r in ranks} == {2}, ranks
ports = {r["master_port"] for r in ranks}
assert len(ports) == 1, ports
print(*ports)' > "$dir.port"
  done
  ! cmp a.port b.port || fail "both steps have port $(< a.port)"
}

@test "every form of placement.py is tested" {
  while IFS= read -r form; do
    grep -q "shows_the_truth ${form}[;)]" "$BATS_TEST_DIRNAME"/*.bats || fail "no test of $form"
  done < <("$BATS_TEST_DIRNAME/lib/placement.py" forms)
}

#!/usr/bin/env bash
# launch.sh FORM CMD…: starts CMD in one of the forms below and waits for its end. Runs on n0 as an
# ordinary user, in a folder that all hosts share. placement.py defines the placement for each form.
set -euo pipefail
form=$1
shift

# shellcheck source=tests/cluster/lib/batch.sh
source "$(dirname "${BASH_SOURCE[0]}")/batch.sh"

readonly two_by_two=(-N2 --ntasks-per-node=2)
printf '%s slots=2\n' n1 n2 > hosts.openmpi
printf '%s:2\n' n1 n2 > hosts.hydra
printf '%s\n' 'n2 slots=1' 'n1 slots=2' > uneven.openmpi
printf '%s\n' n2:1 n1:2 > uneven.hydra
printf '%s\n' 'rank 0=n2 slot=0' 'rank 1=n1 slot=0' 'rank 2=n1 slot=1' 'rank 3=n2 slot=1' > rankfile
printf '%s\n' n2 n1 n2 > arbitrary
# Version 1.13 with Python 3.11 fails with its own defaults of --redirects and --tee.
readonly torchrun=(/usr/bin/python3 -m torch.distributed.run --redirects=2 --tee=2 --no_python)

# shellcheck disable=SC2016 # $@ is for the job script
case $form in
  srun_none_2x2) srun --mpi=none "${two_by_two[@]}" "$@" ;;
  srun_pmi2_2x2) srun --mpi=pmi2 "${two_by_two[@]}" "$@" ;;
  srun_pmix_2x2) srun --mpi=pmix "${two_by_two[@]}" "$@" ;;
  srun_cyclic_2x2) srun --distribution=cyclic "${two_by_two[@]}" "$@" ;;
  srun_uneven) srun -N2 -n3 "$@" ;;
  srun_plane) srun -N2 -n6 --ntasks-per-node=3 --distribution=plane=2 "$@" ;;
  srun_arbitrary) SLURM_HOSTFILE=arbitrary srun -n3 --distribution=arbitrary "$@" ;;
  srun_het_joint) srun -N1 -n1 : -N1 -n2 "$@" ;;
  srun_het_reversed) srun -w n2 -N1 -n1 : -w n1 -N1 -n2 "$@" ;;
  salloc_het_joint) salloc --quiet -N1 -n1 : -N1 -n2 srun --het-group=0,1 "$@" ;;
  salloc_het_second) salloc --quiet -N1 -n1 : -N1 -n2 srun --het-group=1 "$@" ;;
  salloc_srun_one_task) salloc --quiet "${two_by_two[@]}" srun -N1 -n1 "$@" ;;
  salloc_srun_second_node) salloc --quiet "${two_by_two[@]}" srun -w n2 -N1 -n2 "$@" ;;
  salloc_srun_preserve_env) salloc --quiet "${two_by_two[@]}" srun --preserve-env -w n2 -N1 -n2 "$@" ;;
  srun_gres_two) srun "${two_by_two[@]}" --gres=gpu:2 "$@" ;;
  srun_gpu_bind_single) srun "${two_by_two[@]}" --gres=gpu:2 --gpu-bind=single:1 "$@" ;;
  srun_gpus_shared) srun -N2 --ntasks-per-node=3 --gpus-per-node=2 "$@" ;;
  srun_gpus_per_task) srun "${two_by_two[@]}" --gpus-per-task=1 "$@" ;;
  sbatch_batch_step) batch "${two_by_two[@]}" -- '"$@"' "$@" ;;
  sbatch_srun_2x2) batch "${two_by_two[@]}" -- 'srun "$@"' "$@" ;;
  sbatch_mpirun_2x2) batch "${two_by_two[@]}" -- 'mpirun.openmpi "$@"' "$@" ;;
  sbatch_mpirun_one_rank) batch "${two_by_two[@]}" -- 'mpirun.openmpi -np 1 "$@"' "$@" ;;
  sbatch_mpirun_one_host) batch "${two_by_two[@]}" -- 'mpirun.openmpi -np 2 "$@"' "$@" ;;
  sbatch_mpirun_by_node) batch "${two_by_two[@]}" -- 'mpirun.openmpi --map-by node "$@"' "$@" ;;
  sbatch_mpirun_rankfile) batch "${two_by_two[@]}" -- 'mpirun.openmpi -np 4 --rankfile rankfile "$@"' "$@" ;;
  sbatch_hydra_2x2) batch "${two_by_two[@]}" -- 'mpiexec.hydra "$@"' "$@" ;;
  sbatch_array_task) batch --array=3,7 -w n1 -n2 -- '[ "$SLURM_ARRAY_TASK_ID" = 3 ] || srun "$@"' "$@" ;;
  sbatch_array_requeued)
    batch --array=3 -w n1 -n2 -- '[ -n "$SLURM_RESTART_COUNT" ] || { scontrol requeue "$SLURM_JOB_ID"; sleep 60; }
srun "$@"' "$@"
    ;;
  sbatch_requeued)
    batch "${two_by_two[@]}" -- '[ -n "$SLURM_RESTART_COUNT" ] || { scontrol requeue "$SLURM_JOB_ID"; sleep 60; }
srun "$@"' "$@"
    ;;
  salloc_shell) salloc --quiet "${two_by_two[@]}" "$@" ;;
  salloc_interactive_step) salloc --quiet "${two_by_two[@]}" srun --interactive --preserve-env "$@" ;;
  salloc_interactive_mpirun)
    salloc --quiet "${two_by_two[@]}" srun --interactive --preserve-env mpirun.openmpi "$@"
    ;;
  ssh_mpirun_2x2) mpirun.openmpi --hostfile hosts.openmpi "$@" ;;
  ssh_mpirun_uneven) mpirun.openmpi --hostfile uneven.openmpi "$@" ;;
  ssh_hydra_2x2) mpiexec.hydra -f hosts.hydra "$@" ;;
  ssh_hydra_uneven) mpiexec.hydra -f uneven.hydra "$@" ;;
  ssh_hydra_ppn) mpiexec.hydra -hosts n1,n2 -ppn 1 -n 4 "$@" ;;
  torchrun_alone) "${torchrun[@]}" --standalone --nproc_per_node=2 "$@" ;;
  srun_torchrun)
    srun -N2 --ntasks-per-node=1 "${torchrun[@]}" --nnodes=2 --nproc_per_node=2 --rdzv_backend=c10d \
      --rdzv_endpoint=n1 --rdzv_id=job "$@"
    ;;
  srun_in_mpirun) salloc --quiet "${two_by_two[@]}" mpirun.openmpi -np 1 srun --overlap -N2 -n2 "$@" ;;
  srun_pmix_in_mpirun)
    salloc --quiet "${two_by_two[@]}" mpirun.openmpi -np 1 srun --mpi=pmix --overlap -N2 -n2 "$@"
    ;;
  srun_in_hydra) salloc --quiet "${two_by_two[@]}" mpiexec.hydra -n 1 srun --overlap -N2 -n2 "$@" ;;
  srun_pmi2_in_hydra)
    salloc --quiet "${two_by_two[@]}" mpiexec.hydra -n 1 srun --mpi=pmi2 --overlap -N2 -n2 "$@"
    ;;
  mpirun_in_srun_pty)
    # script provides the terminal that srun requires.
    script --quiet --return --command "salloc --quiet ${two_by_two[*]} srun --overlap --pty -N1 -n1 \
      mpirun.openmpi -np 2 --oversubscribe ${*@Q}" /dev/null
    ;;
  sbatch_srun_pbs_names) batch "${two_by_two[@]}" -- 'srun "$@"' "$@" ;;
  sbatch_batch_step_pbs_names) batch "${two_by_two[@]}" -- '"$@"' "$@" ;;
  qsub_srun)
    # Debian's qsub, a wrapper around sbatch: options in the script, no arguments.
    printf '#!/bin/bash\n#PBS -l select=2:ncpus=1:mpiprocs=1\nsrun %s\n' "${*@Q}" > job.pbs
    wait_for_job "$(qsub -o "$PWD/job.log" job.pbs)"
    ;;
  *)
    echo "launch.sh: unknown form '$form'" >&2
    exit 2
    ;;
esac

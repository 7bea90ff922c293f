# The facts that check-hosts collects from each host, and the comparison with this machine.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# facts_script FOLDER NONCE TORCH-FOLDER SECONDS: for sh on a host; prints one line "hpcboot:WHAT VALUE" per fact, and
# before what may hang, "hpcboot:step NAME". SECONDS are for nvidia-smi, which comes last: with a lost GPU it never ends.
facts_script() {
  printf 'folder=%s\nnonce=%s\ntorch=%s\nlimit=%s\n' "$(shell_word "$1")" "$(shell_word "$2")" "$(shell_word "$3")" "$4"
  cat <<'SH'
say() { echo "hpcboot:$*"; }
say os "$( (. /etc/os-release && echo "$ID $VERSION_ID") 2>/dev/null || uname -s)" "$(uname -m)"
say cores "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)"
say load "$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null)"
say memory_mib "$(awk '/^MemTotal:/ { printf "%d", $2 / 1024 }' /proc/meminfo)"
ip -o -4 addr show up scope global 2>/dev/null | awk '{ print "hpcboot:interface " $2 " " $4 }' |
  grep -Ev ' (docker|virbr|veth|cni|br-|lxc|podman)'
say step "mpirun --version"
if command -v mpirun >/dev/null; then
  version=$(mpirun --version 2>/dev/null | sed 1q)
  case $version in *"Open MPI"*) version=${version##* } ;; *) version="other than Open MPI" ;; esac
  # A remote mpirun starts orted or prted here, not mpirun.
  command -v orted >/dev/null || command -v prted >/dev/null || version="$version without orted"
  say mpi "$version"
fi
say step "the search for LibTorch"
for file in "$torch/TorchConfigVersion.cmake" /usr/lib/*/cmake/Torch/TorchConfigVersion.cmake \
  /usr/share/cmake/Torch/TorchConfigVersion.cmake; do
  if [ -r "$file" ]; then
    say libtorch "$(sed -n 's/^ *set(PACKAGE_VERSION "\(.*\)").*/\1/p' "$file" | sed 1q)"
    break
  fi
done
say step "reading $folder"
if [ "$(cat "$folder/$nonce" 2>/dev/null)" = "$nonce" ]; then say shared yes; else say shared no; fi
if command -v nvidia-smi >/dev/null; then
  say step nvidia-smi
  # One call: without persistence mode each starts the driver anew. Only what it labels counts: its errors are also on
  # standard output.
  code=0
  text=$(timeout -k 1 "$limit" nvidia-smi -q 2>&1) || code=$?
  printf '%s\n' "$text" | sed -n 's/^Driver Version *: /hpcboot:driver /p
    s/^CUDA Version *: \([0-9]\)/hpcboot:cuda \1/p
    s/^    Product Name *: /hpcboot:gpu /p'
  printf '%s\n' "$text" | awk '/^ +Process ID +: [0-9]+$/ { pid = $NF } /^ +Type +: .*C/ && pid { print pid; pid = "" }' |
    while read -r pid; do
      say gpu_user "$(ps -o user= -p "$pid" 2>/dev/null || echo unknown)" # of another container, for example
    done
  # After its report, the error is the last line.
  words=$(printf '%s\n' "$text" | awk '/NVSMI LOG/ { report = 1 } NF { all = all $0 " "; last = $0 }
    END { print (report ? last : all) }')
  case $code:$text in
    0:*"Driver Version"*) ;;
    124:* | 137:*) say gpu_fault "nvidia-smi did not end in $limit s" ;;
    *) say gpu_fault "nvidia-smi exited with $code: $words" ;;
  esac
fi
say time "$(date +%s.%N)"
SH
}

head='(head)' # this machine; no host can have this name
declare -A fact # by "HOST WHAT"; empty if the host did not report it. "HOST stuck": in which step its answer ended
host_facts=(os cores load memory_mib gpus gpu_users driver cuda mpi libtorch shared clock interfaces)

# read_facts HOST: from the answers in $work. Numeric facts are validated, else left empty: bash arithmetic would run
# a command that a "number" contains.
read_facts() {
  local host=$1 what value
  for what in os cores load memory_mib driver cuda mpi libtorch shared; do
    read -r value < <(answers "facts.$host" "$what") || value=
    case $what in cores | memory_mib) if ! [[ $value =~ ^[0-9]{1,15}$ ]]; then value=; fi ;; esac
    if [ "$what" = load ] && ! [[ $value =~ ^[0-9]{1,9}\.[0-9]{1,9}$ ]]; then value=; fi
    fact[$host $what]=${value:0:200}
  done
  fact[$host gpus]=$(first_answers "$host" gpu | counted | awk '{ n = $1; $1 = ""; printf "%s%s x%s", sep, n, $0; sep = ", " }')
  fact[$host gpu_users]=$(first_answers "$host" gpu_user | counted |
    awk '{ n = $1; $1 = ""; printf "%s%s%s", sep, substr($0, 2), (n > 1 ? " x" n : ""); sep = ", " }')
  fact[$host interfaces]=$(first_answers "$host" interface | awk '{ printf "%s%s %s", sep, $1, $2; sep = ", " }')
  read -r value < <(answers "facts.$host" gpu_fault) || value=
  fact[$host gpu_fault]=${value:0:400}
  fact[$host stuck]=
  if ! grep -q '^hpcboot:time' "$work/facts.$host.out"; then
    value=$(answers "facts.$host" step | tail -n 1)
    value=${value:-its first commands}
    fact[$host stuck]=${value:0:200}
  fi
  fact[$host clock]=
  read -r value < <(answers "facts.$host" time) || value=
  # The script reports the time last, so only the transfer adds to the difference.
  if [[ $value =~ ^[0-9]{1,15}(\.[0-9N%]*)?$ ]]; then # a date without %N prints it as it is
    fact[$host clock]=$(awk -v there="$value" '{ skew = sprintf("%+.1f", there - $1); print skew + 0 == 0 ? "0.0" : skew }' \
      "$work/facts.$host.ended")
  fi
}

# counted: the different lines, each with its number before it.
counted() { sort | uniq -c; }

# first_answers HOST KEY: at most as many as fit in a table.
first_answers() { answers "facts.$1" "$2" | awk 'NR <= 64 { print substr($0, 1, 200) }'; }

mismatches=()          # HOST, WHAT, found, expected and remedy of each, one after the other
declare -A is_mismatch # by "HOST WHAT"

mismatch() {
  mismatches+=("$@")
  is_mismatch[$1 $2]=true
}

# is_missing HOST WHAT: if its answer was cut off, the host may have it.
is_missing() { [ -z "${fact[$1 $2]}" ] && [ -z "${fact[$1 stuck]}" ]; }

# compare HOST WHAT EXPECTED REMEDY: no mismatch if EXPECTED is empty.
compare() {
  if [ -z "$3" ] || [ "${fact[$1 $2]}" = "$3" ]; then return; fi
  if [ -z "${fact[$1 $2]}" ] && ! is_missing "$1" "$2"; then return; fi
  mismatch "$1" "$2" "${fact[$1 $2]:-none}" "$3" "$4"
}

# judge_answer HOST: whether its answer is complete.
judge_answer() {
  local step=${fact[$1 stuck]} code why
  if [ -z "$step" ]; then return; fi
  code=$(cat "$work/facts.$1.code")
  case $code in
    124 | 137) why="no end in $timeout s" ;;
    *) why="exit code $code: $(words_of "facts.$1")" why=${why:0:400} ;;
  esac
  mismatch "$1" answer "cut off at $step ($why)" complete \
    "find out there what it waits for; if it is only slow, use a longer --timeout"
}

# judge_driver HOST: whether it answers nvidia-smi.
judge_driver() {
  local fault=${fact[$1 gpu_fault]} remedy
  case $fault in
    '') return ;;
    *"did not end"*) remedy="run it there; if it ends later: sudo nvidia-smi -pm 1, or a longer --timeout; else a GPU is lost: reboot" ;;
    *"version mismatch"*) remedy="reboot: the driver was updated, and the old one is still loaded" ;;
    *"No devices"*) remedy="look for the GPUs with lspci and dmesg there" ;;
    *) remedy="install or load the driver there, until nvidia-smi exits with 0" ;;
  esac
  mismatch "$1" driver "faulty ($fault)" "one that answers" "$remedy"
}

# judge_host HOST: compares its facts with those of this machine.
judge_host() {
  local host=$1 gpu_host candidate
  judge_answer "$host"
  compare "$host" os "${fact[$head os]}" \
    "use machines with the same system: programs built on one may not start on the other"
  compare "$host" mpi "${fact[$head mpi]}" \
    "install the same Open MPI there, in the PATH of non-interactive shells (~/.cshrc, ~/.bashrc)"
  compare "$host" libtorch "${fact[$head libtorch]}" "install the same LibTorch there"
  compare "$host" shared yes \
    "mount $(shell_word "$folder") there under the same path, or copy it; --folder selects another"
  judge_driver "$host"
  gpu_host=
  for candidate in "$head" "${reached[@]}"; do
    if [ -n "${fact[$candidate driver]}" ]; then
      gpu_host=$candidate
      break
    fi
  done
  if [ -n "${fact[$host driver]}" ]; then
    compare "$host" driver "${fact[$gpu_host driver]}" "install the same driver on all machines with GPUs"
    compare "$host" cuda "${fact[$gpu_host cuda]}" "install the same driver on all machines with GPUs"
  fi
  # A slow connection makes the host's clock look late, by at most the duration of the connection.
  if awk -v skew="${fact[$host clock]:-0}" -v most="$max_skew" \
    '{ exit !(skew > most || skew + $1 < -most) }' "$work/facts.$host.seconds"; then
    mismatch "$host" clock "${fact[$host clock]} s" "within $max_skew s of this machine's" \
      "start a time service there (chrony, systemd-timesyncd)"
  fi
  if is_missing "$host" interfaces; then
    mismatch "$host" interfaces none "an interface with an IPv4 address" "check the output of ip addr there"
  fi
}

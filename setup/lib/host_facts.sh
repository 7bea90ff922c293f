# The facts that check-hosts collects from each host, and the comparison with this machine.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables are the sourcing script's

# facts_script FOLDER NONCE TORCH-FOLDER: for sh on a host; prints one line "hpcboot:WHAT VALUE" per fact.
facts_script() {
  printf 'folder=%s\nnonce=%s\ntorch=%s\n' "$(shell_word "$1")" "$(shell_word "$2")" "$(shell_word "$3")"
  cat <<'SH'
say() { echo "hpcboot:$*"; }
say os "$( (. /etc/os-release && echo "$ID $VERSION_ID") 2>/dev/null || uname -s)" "$(uname -m)"
say cores "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)"
say load "$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null)"
say memory_mib "$(awk '/^MemTotal:/ { printf "%d", $2 / 1024 }' /proc/meminfo)"
if command -v nvidia-smi >/dev/null; then
  nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | while read -r name; do say gpu "$name"; done
  nvidia-smi --query-compute-apps=pid --format=csv,noheader 2>/dev/null | while read -r pid; do
    case $pid in '' | *[!0-9]*) continue ;; esac
    say gpu_user "$(ps -o user= -p "$pid" 2>/dev/null || echo unknown)" # of another container, for example
  done
  say driver "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | sed 1q)"
  say cuda "$(nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p' | sed 1q)"
fi
if command -v mpirun >/dev/null; then
  version=$(mpirun --version 2>/dev/null | sed 1q)
  case $version in *"Open MPI"*) version=${version##* } ;; *) version="other than Open MPI" ;; esac
  # A remote mpirun starts orted or prted here, not mpirun.
  command -v orted >/dev/null || command -v prted >/dev/null || version="$version without orted"
  say mpi "$version"
fi
for file in "$torch/TorchConfigVersion.cmake" /usr/lib/*/cmake/Torch/TorchConfigVersion.cmake \
  /usr/share/cmake/Torch/TorchConfigVersion.cmake; do
  if [ -r "$file" ]; then
    say libtorch "$(sed -n 's/^ *set(PACKAGE_VERSION "\(.*\)").*/\1/p' "$file" | sed 1q)"
    break
  fi
done
if [ "$(cat "$folder/$nonce" 2>/dev/null)" = "$nonce" ]; then say shared yes; else say shared no; fi
ip -o -4 addr show up scope global 2>/dev/null | awk '{ print "hpcboot:interface " $2 " " $4 }' |
  grep -Ev ' (docker|virbr|veth|cni|br-|lxc|podman)'
say time "$(date +%s.%N)"
SH
}

head='(head)' # this machine; no host can have this name
declare -A fact # by "HOST WHAT"; empty if the host did not report it
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

# compare HOST WHAT EXPECTED REMEDY: no mismatch if EXPECTED is empty.
compare() {
  if [ -z "$3" ] || [ "${fact[$1 $2]}" = "$3" ]; then return; fi
  mismatch "$1" "$2" "${fact[$1 $2]:-none}" "$3" "$4"
}

# judge_host HOST: compares its facts with those of this machine.
judge_host() {
  local host=$1 gpu_host candidate
  compare "$host" os "${fact[$head os]}" \
    "use machines with the same system: programs built on one may not start on the other"
  compare "$host" mpi "${fact[$head mpi]}" \
    "install the same Open MPI there, in the PATH of non-interactive shells (~/.cshrc, ~/.bashrc)"
  compare "$host" libtorch "${fact[$head libtorch]}" "install the same LibTorch there"
  compare "$host" shared yes \
    "mount $(shell_word "$folder") there under the same path, or copy it; --folder selects another"
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
  if [ -z "${fact[$host interfaces]}" ]; then
    mismatch "$host" interfaces none "an interface with an IPv4 address" "check the output of ip addr there"
  fi
}

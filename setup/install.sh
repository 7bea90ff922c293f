#!/usr/bin/env bash
# Installs the packages that a fresh Debian or Ubuntu machine lacks to build, run and test hpcboot.
# Running it again changes nothing; if nothing is missing, it says so in one line.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: bash setup/install.sh [--for run|test|all] [--dry-run]

  --for run    packages to build and run the programs (default)
  --for test   also packages for the tests; services are neither started nor
               enabled
  --for all    also developer tools (clang with libFuzzer, clang-tidy, gcovr,
               ccache)
  --dry-run    print what would be done
  --help       this text

exit code: 0 no package is missing (any more), 1 a package is missing, 2 usage
TEXT
}

# Debian 12's names, which Ubuntu shares.
run_packages=(
  g++ cmake ninja-build pkg-config git ca-certificates curl
  libboost-program-options-dev nlohmann-json3-dev libfmt-dev libspdlog-dev zlib1g-dev libhdf5-dev
  libtomlplusplus-dev libmstch-dev # job scripts
  libprotozero-dev libboost-dev
  libpmix-dev libpmi2-0-dev libtorch-dev openmpi-bin libopenmpi-dev libssl-dev libmunge-dev
  patchelf    # the target bundle
  gnuplot-nox # runtable plot
  libopenblas0-openmp # otherwise LibTorch multiplies matrices with the reference BLAS, which is far slower
)
test_packages=(
  libgtest-dev libgmock-dev libbenchmark-dev
  bats shellcheck clang-format python3 wget
  python3-torchvision # the reference that ResNet50 is compared with
  python3-venv        # for TensorBoard from PyPI, which reads the event files
  python3-yaml        # reads the rendered Kubernetes manifests
  gfortran            # the Fortran consumer of the C interface
  python3-pip         # downloads launchers and LibTorch (tests/cluster/get-launchers, setup/get-libtorch)
  gdb elfutils        # the stacks of silent ranks
  faketime            # a host with another time
  chromium chromium-driver python3-selenium # opens traces and reports
  zsh fish groff-base # completion and manual pages
  mpich               # mpiexec.hydra; mpirun remains Open MPI's, which has the higher priority
)
# tests/cluster runs real daemons in its own namespaces.
cluster_packages=(
  iproute2 procps openssh-client openssh-server munge slurmctld slurmd slurm-client
  slurm-wlm-torque # Debian's qsub, a wrapper around Slurm
  tcsh             # the login shell of many labs
)
developer_packages=(clang libclang-rt-14-dev clang-tidy gcovr ccache)

# What these packages are called upstream; the others have the same name there.
declare -A upstream_name=(
  [g++]="a C++17 compiler" [cmake]="CMake >= 3.21" [ninja-build]=Ninja [ca-certificates]="CA certificates"
  [libboost-program-options-dev]="Boost.Program_options >= 1.66" [nlohmann-json3-dev]=nlohmann-json [libfmt-dev]=fmt
  [libspdlog-dev]=spdlog [zlib1g-dev]=zlib [libhdf5-dev]="HDF5 (with C++)" [libtomlplusplus-dev]=toml++
  [libmstch-dev]=mstch [libprotozero-dev]=protozero [libboost-dev]="Boost (CRC)" [libpmix-dev]=OpenPMIx
  [libpmi2-0-dev]="PMI2 of Slurm" [libtorch-dev]="LibTorch 1.13 or >= 2.7" [openmpi-bin]="Open MPI"
  [libopenmpi-dev]="Open MPI" [libssl-dev]="OpenSSL >= 1.1" [libmunge-dev]=MUNGE [gnuplot-nox]=gnuplot
  [libopenblas0-openmp]="OpenBLAS (for OpenMP)"
  [libgtest-dev]=GoogleTest [libgmock-dev]=GoogleTest [libbenchmark-dev]="Google Benchmark"
  [clang-format]="clang-format 14" [python3]=Python [python3-torchvision]="torchvision (Python)"
  [python3-venv]="venv (Python)" [python3-yaml]="PyYAML" [gfortran]="a Fortran compiler" [python3-pip]=pip
  [chromium]=Chromium [chromium-driver]=chromedriver [python3-selenium]="Selenium (Python)" [groff-base]=groff
  [mpich]=MPICH [openssh-client]=OpenSSH [openssh-server]=OpenSSH [munge]=MUNGE [slurmctld]=Slurm [slurmd]=Slurm
  [slurm-client]=Slurm [slurm-wlm-torque]="Slurm's qsub"
)

# An older version counts as missing.
declare -A minimum_version=([cmake]=3.21 [libtorch-dev]=1.13)

# Packages that would start a service, and these services.
declare -A service_of=(
  [openssh-server]="ssh.service ssh.socket" [munge]=munge.service
  [slurmctld]=slurmctld.service [slurmd]=slurmd.service
)

dry_run=false
purpose=run
while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry_run=true ;;
    --for)
      purpose=${2-}
      shift
      ;;
    --help | -h)
      usage
      exit 0
      ;;
    *)
      echo "install.sh: unknown argument '$1'" >&2
      usage >&2
      exit 2
      ;;
  esac
  shift || true
done

case $purpose in
  run) wanted=("${run_packages[@]}") ;;
  test) wanted=("${run_packages[@]}" "${test_packages[@]}" "${cluster_packages[@]}") ;;
  all)
    wanted=("${run_packages[@]}" "${test_packages[@]}" "${cluster_packages[@]}"
      "${developer_packages[@]}")
    ;;
  *)
    echo "install.sh: --for takes run, test or all, not '$purpose'" >&2
    exit 2
    ;;
esac

no_root_recipe() {
  cat <<'TEXT'
Without root, as on a cluster, everything comes from modules and CMAKE_PREFIX_PATH
(setup/install.md; module names differ by site):
    module load gcc cmake openmpi boost
    export CMAKE_PREFIX_PATH=/path/to/libtorch     # an unpacked LibTorch from pytorch.org
    bash setup/quickstart.sh --no-install
TEXT
}

# names_elsewhere PACKAGE…: their names as other systems have them, in lines of at most 80 columns. No other program is
# needed.
names_elsewhere() {
  local package name names='' line=''
  for package in "$@"; do
    name=${upstream_name[$package]-$package}
    if [[ ", $names, " == *", $name, "* ]]; then continue; fi
    names+=${names:+, }$name
    if [ $((${#line} + ${#name} + 2)) -gt 74 ]; then
      echo "     $line"
      line=
    fi
    line+=" $name,"
  done
  echo "     ${line%,}"
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install.sh: this is not a Debian or Ubuntu system. Install with its package manager,"
  echo "libraries with their headers:"
  echo "  to build and run:"
  names_elsewhere "${run_packages[@]}"
  echo "  to test, also:"
  names_elsewhere "${test_packages[@]}" "${cluster_packages[@]}"
  no_root_recipe
  exit 1
fi

# Prints the wanted packages that are not installed, or are too old.
missing_packages() {
  local -A installed=()
  local name status version minimum
  while read -r name status version; do
    if [ "$status" = installed ]; then installed[$name]=$version; fi
  done < <(dpkg-query -W -f='${Package} ${db:Status-Status} ${Version}\n' "$@" 2>/dev/null || true)
  for name in "$@"; do
    minimum=${minimum_version[$name]-}
    if [ -z "${installed[$name]-}" ]; then
      echo "$name"
    elif [ -n "$minimum" ] && dpkg --compare-versions "${installed[$name]}" lt "$minimum"; then
      echo "$name"
    fi
  done
}

# True if the release offers the package in a version that is new enough.
is_offered() {
  local candidate minimum=${minimum_version[$1]-}
  candidate=$(LC_ALL=C apt-cache policy "$1" | sed -n 's/^ *Candidate: //p')
  [ -n "$candidate" ] && [ "$candidate" != "(none)" ] || return 1
  [ -z "$minimum" ] || dpkg --compare-versions "$candidate" ge "$minimum"
}

# Divides $missing into $offered and $not_offered.
ask_for_offers() {
  local package
  offered=()
  not_offered=()
  for package in "${missing[@]}"; do
    if is_offered "$package"; then offered+=("$package"); else not_offered+=("$package"); fi
  done
}

name_not_offered() {
  if [ ${#not_offered[@]} -eq 0 ]; then return; fi
  echo "install.sh: not offered by this release in a suitable version: ${not_offered[*]}"
  echo "Features that need them are left out: cmake lists them, and setup/install.md explains how to get them."
}

# print_commands AS_ROOT: what installs the missing packages, in one line. One package that is not offered would keep
# apt-get from installing all others. If none is offered, the package lists are not there yet.
print_commands() {
  ask_for_offers
  if [ ${#offered[@]} -eq 0 ]; then
    offered=("${missing[@]}")
    not_offered=()
  fi
  echo "    ${1}apt-get update && ${1}apt-get install --no-install-recommends ${offered[*]}"
  name_not_offered
}

# Can sudo ask for a password? It reads the terminal, whatever standard input is.
has_terminal() { [ -t 2 ] && { : </dev/tty; } 2>/dev/null; }

mapfile -t missing < <(missing_packages "${wanted[@]}")
if [ ${#missing[@]} -eq 0 ]; then
  echo "install.sh: nothing is missing (${#wanted[@]} packages for '$purpose')"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  cannot="this account cannot install them"
  if command -v sudo >/dev/null; then
    if sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    elif $dry_run || ! has_terminal; then
      cannot="sudo would ask for a password: run sudo -v first, then this again in the same terminal"
    else
      echo "install.sh: ${#missing[@]} packages are missing; sudo may ask for your password to install them"
      if sudo -v; then as_root=(sudo); fi
    fi
  fi
  if [ ${#as_root[@]} -eq 0 ]; then
    echo "install.sh: ${#missing[@]} packages are missing, and $cannot."
    echo "An administrator of this machine can install them with:"
    print_commands "sudo "
    no_root_recipe
    if $dry_run; then exit 0; fi
    exit 1
  fi
fi

# --no-remove: no package that the user has installed may be removed.
apt=(env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -y -q
  -o DPkg::Lock::Timeout=300 --no-install-recommends --no-remove)
if $dry_run; then
  echo "install.sh: would run"
  print_commands "${as_root[*]}${as_root:+ }"
  exit 0
fi

log=$(mktemp "${TMPDIR:-/tmp}/hpcboot-install.XXXXXX")
policy=/usr/sbin/policy-rc.d
policy_is_ours=false
cleanup() {
  if $policy_is_ours; then "${as_root[@]}" rm -f "$policy"; fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

echo "install.sh: installing ${#missing[@]} packages: ${missing[*]}"
if ! "${as_root[@]}" apt-get -q update >"$log" 2>&1; then
  echo "install.sh: apt-get update failed; continuing with the existing package lists" >&2
fi

ask_for_offers
services=()
for package in "${offered[@]}"; do
  read -r -a units <<<"${service_of[$package]-}"
  services+=("${units[@]}")
done

# The tests start their own daemons; those of the packages must not run on this machine. An existing
# policy of the administrator, which every container image has, is left unchanged.
if [ ${#services[@]} -gt 0 ] && [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
  policy_is_ours=true
fi
if [ ${#offered[@]} -gt 0 ] && ! "${as_root[@]}" "${apt[@]}" install "${offered[@]}" >>"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "install.sh: apt-get could not install the packages. Full output: $log" >&2
  echo "do: check the network and /etc/apt, then run this again" >&2
  exit 1
fi
if [ ${#services[@]} -gt 0 ] && command -v systemctl >/dev/null; then
  for service in "${services[@]}"; do
    # Not every release ships every unit; a missing one is not a failure.
    "${as_root[@]}" systemctl --quiet disable "$service" >>"$log" 2>&1 || true
  done
  echo "install.sh: not started and not enabled at boot: ${services[*]}"
fi
rm -f "$log"

name_not_offered
mapfile -t missing < <(missing_packages "${run_packages[@]}")
if [ ${#missing[@]} -gt 0 ]; then
  echo "install.sh: still missing to build and run: ${missing[*]}" >&2
  exit 1
fi

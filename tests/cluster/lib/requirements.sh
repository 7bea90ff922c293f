# shellcheck shell=bash
# Checks whether the cluster can run on this machine. Every failure names a remedy.

# command:package, as Debian 12 and Ubuntu 24.04 call them.
readonly NEEDED="ip:iproute2 ps:procps flock:util-linux setpriv:util-linux unshare:util-linux nsenter:util-linux
  ssh:openssh-client sshd:openssh-server munged:munge slurmctld:slurmctld slurmd:slurmd srun:slurm-client
  mpirun.openmpi:openmpi-bin mpiexec.hydra:mpich"

cannot_run() {
  printf 'cluster: cannot run here: %s\n' "$*" >&2
  exit 77
}

require_root() {
  ((EUID == 0)) || cannot_run "namespaces with several users need root; try: sudo $0 ${1:-up}"
}

check_requirements() {
  local item missing=() packages=()
  PATH=$PATH:/usr/sbin:/sbin
  for item in $NEEDED; do
    command -v "${item%%:*}" > /dev/null || { missing+=("${item%%:*}"); packages+=("${item##*:}"); }
  done
  ((${#missing[@]} == 0)) || cannot_run "not installed: ${missing[*]}
  apt-get install --no-install-recommends $(printf '%s\n' "${packages[@]}" | sort -u | tr '\n' ' ')"
  for item in munge slurm sshd; do
    getent passwd "$item" > /dev/null || cannot_run "user '$item' does not exist; reinstall its package"
  done
  require_root up
  local refusal
  refusal=$(unshare --net --uts --mount --ipc --pid --fork true 2>&1) ||
    cannot_run "cannot create namespaces: $refusal
  a container needs --privileged; the folder of a chroot must be a mount point: mount --bind FOLDER FOLDER"
}

# shellcheck shell=bash
# munge and Slurm: the controller on n0, a slurmd on each other host, simulated cores and GPUs.

# write_slurm N CORES MEMORY GPUS: GPUS is TYPE:COUNT, or two of these separated by a comma.
write_slurm() {
  local etc=$STATE/etc nodes="n[1-$1]" cores=$2 memory=$3 gpus=$4 gpu first=0
  mkdir -p "$etc/slurm" "$etc/munge"
  head -c 128 /dev/urandom > "$etc/munge/munge.key"
  chown -R munge: "$etc/munge"
  chmod 700 "$etc/munge"
  chmod 400 "$etc/munge/munge.key"

  # Addresses are numeric, so that Slurm does not depend on /etc/hosts; it has no notation for IPv6
  # addresses.
  # CR_Core, not CR_Core_Memory: the latter gives each job all memory, so that jobs would wait for each other.
  # task/none: binding fails if there are more simulated cores than real ones.
  # bf_interval: only the backfill scheduler starts heterogeneous jobs, by default every 30 s.
  # cred_expire: a requeued job waits that long before it starts again; Slurm's minimum is 5.
  cat > "$etc/slurm/slurm.conf" << CONFIG
ClusterName=hpcboot
$(if network_is ipv6_only; then
    printf '%s\n' SlurmctldHost=n0 CommunicationParameters=EnableIPv6,DisableIPv4
  else
    echo "SlurmctldHost=n0($(host_address n0))"
  fi)
SlurmUser=slurm
SlurmdUser=root
AuthType=auth/munge
AuthInfo=cred_expire=5
CredType=cred/munge
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
MpiDefault=none
ReturnToService=2
JobRequeue=1
KillWait=5
MessageTimeout=10
SlurmdTimeout=6
GresTypes=gpu
NodeName=$nodes $(network_is ipv6_only || echo "NodeAddr=10.77.0.[11-$((10 + $1))]") CPUs=$cores Boards=1 SocketsPerBoard=1 CoresPerSocket=$cores ThreadsPerCore=1 RealMemory=$memory Gres=gpu:${gpus//,/,gpu:} State=UNKNOWN
PartitionName=main Nodes=$nodes Default=YES MaxTime=1-00:00:00 State=UP OverSubscribe=NO
CONFIG
  for gpu in ${gpus//,/ }; do
    printf 'NodeName=%s Name=gpu Type=%s File=/run/fakegpu[%d-%d]\n' "$nodes" "${gpu%:*}" "$first" \
      "$((first + ${gpu#*:} - 1))"
    first=$((first + ${gpu#*:}))
  done > "$etc/slurm/gres.conf"
  # The hosts have their own sysfs without /sys/fs/cgroup; nothing is confined, and v1 needs no mount.
  printf '%s\n' CgroupPlugin=cgroup/v1 Constrain{Cores,RAMSpace,Devices}=no > "$etc/slurm/cgroup.conf"
}

# slurmstepd, srun and sbatch load the plug-ins in this file; this one is in slurm-wlm-basic-plugins.
write_spank_pbs() {
  echo 'required spank_pbs.so' > "$STATE/etc/slurm/plugstack.conf"
}

# On a host, as its root.
start_slurm() {
  local k
  install -d -o munge -g munge -m 755 /run/munge
  install -d -o munge -g munge -m 700 /var/log/munge
  install -d -o munge -g munge -m 711 /var/lib/munge
  install -d -o slurm -g slurm -m 755 /var/log/slurm /var/spool/slurmctld
  install -d /var/spool/slurmd
  setpriv --reuid munge --regid munge --clear-groups /usr/sbin/munged
  if [[ $1 == n0 ]]; then
    /usr/sbin/slurmctld
  else
    for k in {0..7}; do
      mknod -m 666 "/run/fakegpu$k" c 1 3 # the numbers of /dev/null
    done
    /usr/sbin/slurmd
  fi
}

# True if N compute hosts are idle.
slurm_is_ready() {
  [[ $(enter_host root n0 sinfo -h -N -t idle -o %N 2> /dev/null | wc -l) -ge $1 ]]
}

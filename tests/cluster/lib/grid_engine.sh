#!/usr/bin/env bash
# grid_engine.sh PART FOLDER STATE: starts a part of Grid Engine on a host of the cluster, as its root. FOLDER contains
# Debian's unpacked packages (get-launchers gridengine); STATE, which all hosts see, contains its state.
#   install    on every host: installs the packages for this host only
#   master     the qmaster, a queue all.q with four slots and GPUs per host, and parallel environments
#   exec       the daemon that starts jobs
# STATE/env.sh sets the environment for users.
set -euo pipefail
part=$1 folder=$2 state=$3

# The path /usr/lib/gridengine is compiled into the programs. It is mounted on this host, not on the machine.
install_packages() {
  local part
  for part in lib share; do
    mount -t overlay overlay -o "lowerdir=$folder/usr/$part:/usr/$part" "/usr/$part"
  done
}

write_state() {
  local part
  mkdir -p "$state/default/common" "$state/qmaster/job_scripts" "$state"/{bin,lib,utilbin}
  for part in bin lib utilbin; do
    ln -s /usr/lib/gridengine "$state/$part/lx-amd64"
  done
  ln -s /usr/share/gridengine/util "$state/util"
  hostname > "$state/default/common/act_qmaster"
  cat > "$state/default/common/bootstrap" << CONFIG
admin_user              none
default_domain          none
ignore_fqdn             true
spooling_method         classic
spooling_lib            libspoolc
spooling_params         $state/default/common;$state/qmaster
binary_path             $state/bin
qmaster_spool_dir       $state/qmaster
security_mode           none
listener_threads        2
worker_threads          2
scheduler_threads       1
CONFIG
  sed -e 's/^\(execd_spool_dir\) .*/\1 \/var\/spool\/gridengine/' -e 's/^\(mailer\) .*/\1 \/bin\/true/' \
    -e 's/^\(load_report_time\) .*/\1 00:00:05/' -e 's/ flush_time=/ accounting_flush_time=00:00:00&/' /usr/share/gridengine/default-configuration > "$state/configuration"
  cat > "$state/env.sh" << SETTINGS
export SGE_ROOT=$state SGE_CELL=default SGE_ARCH=lx-amd64 SGE_QMASTER_PORT=6444 SGE_EXECD_PORT=6445
export PATH=/usr/lib/gridengine:\$PATH
SETTINGS
}

# add KIND LINE…: adds an object that these KEY VALUE lines define.
add() {
  local kind=$1 file
  file=$(mktemp)
  shift
  printf '%s\n' "$@" > "$file"
  qconf "-A$kind" "$file"
  rm "$file"
}

start_master() {
  local host rule
  spoolinit classic libspoolc "$state/default/common;$state/qmaster" init
  spooldefaults configuration "$state/configuration"
  spooldefaults complexes /usr/share/gridengine/util/resources/centry
  spooldefaults usersets /usr/share/gridengine/util/resources/usersets
  spooldefaults managers root
  sge_qmaster
  for _ in {1..100}; do
    ! qconf -sconf > /dev/null 2>&1 || break
    sleep 0.1
  done
  for host in n1 n2; do
    qconf -ah "$host"
    qconf -as "$host"
  done
  qconf -sc | sed '$i gpu gpu INT <= YES YES 0 0' > "$state/complexes"
  qconf -Mc "$state/complexes"
  qconf -as n0
  add hgrp 'group_name @hosts' 'hostlist n1 n2'
  for rule in fill:\$fill_up mpi:\$fill_up robin:\$round_robin one:\$pe_slots smp:\$pe_slots two:2; do
    add p "pe_name ${rule%%:*}" 'slots 99' 'user_lists NONE' 'xuser_lists NONE' 'start_proc_args NONE' \
      'stop_proc_args NONE' "allocation_rule ${rule#*:}" 'control_slaves TRUE' 'job_is_first_task FALSE' \
      'urgency_slots min' 'accounting_summary TRUE' 'qsort_args NONE'
  done
  qconf -sq | sed -e 's/^\(qname\) .*/\1 all.q/' -e 's/^\(hostlist\) .*/\1 @hosts/' -e 's/^\(slots\) .*/\1 4/' \
    -e 's/^\(pe_list\) .*/\1 fill mpi robin one smp two/' -e 's/^\(shell\) .*/\1 \/bin\/bash/' \
    -e 's/^\(load_thresholds\) .*/\1 NONE/' -e 's/^\(seq_no\) .*/\1 0,[n2=1]/' > "$state/queue"
  qconf -Aq "$state/queue"
  for host in n1 n2; do
    qconf -rattr exechost complex_values gpu=4 "$host"
  done
  # Jobs start at once, not at the next scheduling interval, and on n1 before n2, whatever the load.
  qconf -ssconf | sed -e 's/^\(queue_sort_method\) .*/\1 seqno/' -e 's/^\(schedule_interval\) .*/\1 0:0:1/' -e 's/^\(flush_[a-z]*_sec\) .*/\1 1/' > "$state/scheduler"
  qconf -Msconf "$state/scheduler"
}

case $part in
  install) install_packages ;;
  master)
    write_state
    # shellcheck source=/dev/null
    . "$state/env.sh"
    start_master
    ;;
  exec)
    # shellcheck source=/dev/null
    . "$state/env.sh"
    mkdir -p /var/spool/gridengine
    sge_execd
    ;;
esac

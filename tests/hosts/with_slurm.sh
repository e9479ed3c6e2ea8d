#!/usr/bin/env bash
# tests/hosts/with_slurm.sh COMMAND [ARGUMENT ...]: runs a command on a machine that has a Slurm cluster of three nodes, n1 to n3:
# a controller and three daemons of this machine, in namespaces of their own, which end with the command. The nodes share the file
# system, the network (10.97.0.1) and the clock. Slurm is this machine's, or the one that scripts/fetch-servers unpacked.
#
# For the command: SLURM_CONF, PATH with sbatch, srun and the others, HOME, a new one, and CLUSTER, a folder with the logs.
#
# Exit status: the command's; 77 if this machine cannot have a cluster, with the reason.
set -euo pipefail
cannot() { printf 'SKIPPED: a cluster: %s\n' "$*"; exit 77; }

servers=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/third_party/servers
root=
if ! command -v /usr/sbin/slurmctld-wlm >/dev/null; then root=$servers; fi
libraries=$(echo "$root"/usr/lib/*-linux-gnu*/slurm-wlm)

if [[ "${INSIDE:-}" != 1 ]]; then
  [[ -x $root/usr/sbin/slurmctld-wlm && -x $root/usr/sbin/munged ]] ||
    cannot "there is no Slurm (scripts/fetch-servers fetches one, or install slurm-wlm and munge)"
  [[ "$(id -u)" == 0 ]] || cannot "its daemons have to be root's"
  unshare --net --mount true 2>/dev/null || cannot "the kernel refuses namespaces to this user"
  INSIDE=1 exec unshare --net --mount --uts --pid --fork --kill-child --mount-proc "$0" "$@"
fi
unset INSIDE

CLUSTER=$(mktemp -d)
chmod 755 "$CLUSTER"
trap 'rm -rf "$CLUSTER"' EXIT
mkdir -p "$CLUSTER"/{state,spool/n1,spool/n2,spool/n3,bin,home}
# Slurm looks for an address other than the loopback's, and for this machine by its name.
ip link set lo up
ip address add 10.97.0.1/24 dev lo
hostname cluster
printf '127.0.0.1 localhost\n10.97.0.1 cluster\n' >"$CLUSTER/hosts"
mount --bind "$CLUSTER/hosts" /etc/hosts

head -c 1024 /dev/urandom >"$CLUSTER/munge.key"
chmod 400 "$CLUSTER/munge.key"
cat >"$CLUSTER/slurm.conf" <<X
ClusterName=test
SlurmctldHost=cluster(10.97.0.1)
SlurmctldPort=16817
SlurmUser=root
SlurmdUser=root
PluginDir=$libraries
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$CLUSTER/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/builtin
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
StateSaveLocation=$CLUSTER/state
SlurmdSpoolDir=$CLUSTER/spool/%n
SlurmctldPidFile=$CLUSTER/slurmctld.pid
SlurmdPidFile=$CLUSTER/slurmd.%n.pid
SlurmctldLogFile=$CLUSTER/slurmctld.log
SlurmdLogFile=$CLUSTER/slurmd.%n.log
ReturnToService=2
SlurmdTimeout=300
InactiveLimit=0
KillWait=5
MinJobAge=300
SlurmdParameters=config_overrides
NodeName=n[1-3] NodeHostname=cluster NodeAddr=10.97.0.1 Port=[17001-17003] CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
X

# Each program finds its libraries, and its own name: newer daemons know by it what they are.
program() { # NAME PATH: CLUSTER/bin/NAME runs it
  printf '#!/bin/bash\nLD_LIBRARY_PATH=%s:%s exec -a %s %s "$@"\n' "$libraries" "${libraries%/*}" "${1%-wlm}" "$root$2" >"$CLUSTER/bin/$1"
  chmod +x "$CLUSTER/bin/$1"
}
for name in munged slurmctld-wlm slurmd-wlm slurmstepd-wlm; do program "$name" "/usr/sbin/$name"; done
for client in srun sbatch salloc scancel squeue sinfo scontrol; do program "$client" "/usr/bin/$client"; done
export SLURM_CONF=$CLUSTER/slurm.conf PATH="$CLUSTER/bin:$PATH" HOME="$CLUSTER/home" CLUSTER

start() { "$@" >"$CLUSTER/start.log" 2>&1 || cannot "$(basename "$1") does not start: $(tail -n 1 "$CLUSTER/start.log")"; }
start munged --key-file "$CLUSTER/munge.key" --socket "$CLUSTER/munge.socket" --pid-file "$CLUSTER/munged.pid" \
  --log-file "$CLUSTER/munged.log" --seed-file "$CLUSTER/munge.seed" --num-threads 2
start slurmctld-wlm -f "$SLURM_CONF"
for node in n1 n2 n3; do start slurmd-wlm -N "$node" -f "$SLURM_CONF" -d "$CLUSTER/bin/slurmstepd-wlm"; done
for ((i = 0; i < 600; ++i)); do
  if [[ "$(sinfo --noheader --states idle --format %D 2>/dev/null)" == 3 ]]; then break; fi
  sleep 0.1
done
[[ "$(sinfo --noheader --states idle --format %D)" == 3 ]] || cannot "its nodes do not come up: $(tail -n 1 "$CLUSTER/slurmctld.log")"
"$@"

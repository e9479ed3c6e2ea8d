#!/bin/bash
#SBATCH --job-name=paretopipe
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --output=paretopipe-%j.log
# usage: sbatch [--nodes=N] sweep-nodes.sh EXPERIMENT.json [flags of `paretopipe sweep`]
#
# Measures an experiment over the nodes of one allocation, a stage a node, in the order in which Slurm lists them. The driver runs
# on the first node. Each stage is a job step, so it ends with the job, whatever ends that. The tensors travel over TCP between
# the addresses by which Slurm itself reaches the nodes; for another network, write a devices file by hand.
#
# A job that is run again (`scontrol requeue JOB`, or a node failure) continues its sweep, if it gets the same nodes.
set -euo pipefail

if [[ $# -lt 1 ]]; then
  echo "usage: sbatch sweep-nodes.sh EXPERIMENT.json [flags of paretopipe sweep]" >&2
  exit 2
fi
mapfile -t nodes < <(scontrol show hostnames "${SLURM_JOB_NODELIST:?this must be a Slurm job, as with sbatch}")

# The driver and a stage share the first node, hence --overlap. A step has one CPU unless it asks for more.
step=(srun --nodes=1 --ntasks=1 --cpus-per-task="$SLURM_CPUS_ON_NODE" --cpu-bind=none --overlap)

# To itself, a node's name is often the loopback (127.0.1.1): another node looks it up.
address_of() { # NODE NEIGHBOUR
  local name
  name=$(scontrol show node --oneliner "$1" | sed -n 's/.* NodeAddr=\([^ ]*\).*/\1/p')
  "${step[@]}" --nodelist="$2" getent ahosts "$name" | awk 'NR == 1 { print $1 }'
}

devices=$(mktemp)
trap 'rm -f "$devices"' EXIT
on=() entries=()
for ((i = 0; i < ${#nodes[@]}; ++i)); do
  address=$(address_of "${nodes[i]}" "${nodes[(i + 1) % ${#nodes[@]}]}")
  on+=(--on "${nodes[i]}")
  entries+=("\"${nodes[i]}\": {\"launch\": \"${step[*]} --nodelist={node} --unbuffered --input=all\", \"address\": \"$address\"}")
done
(IFS=, && echo "{${entries[*]}}") >"$devices"

paretopipe sweep "$@" "${on[@]}" --devices "$devices" --resume

#!/bin/bash
#SBATCH --job-name=paretopipe
#SBATCH --array=1-16
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --exclusive
#SBATCH --output=paretopipe-%A-%a.log
# usage: sbatch sweep-array.sh EXPERIMENT.json [flags of `paretopipe sweep`]
#
# Measures an experiment in as many shards as the array has tasks; `sbatch --array=1-8 ...` chooses another number. Tasks
# have their nodes to themselves (--exclusive): neighbours would disturb what is measured, and the CPUs that a task may
# use, which are part of a trial, would differ from task to task. Choose nodes of one kind (--constraint, --partition).
#
# A task that is run again (`scontrol requeue JOB_TASK`, or a node failure) continues its shard. When all have ended:
#   paretopipe merge results/EXPERIMENT/shard-* --out results/EXPERIMENT
set -euo pipefail

if [[ $# -lt 1 ]]; then
  echo "usage: sbatch sweep-array.sh EXPERIMENT.json [flags of paretopipe sweep]" >&2
  exit 2
fi
for argument in "$@"; do
  case "$argument" in
    --out | --out=* | --shard | --shard=*)
      echo "sweep-array.sh: leave ${argument%%=*} out: each task has a shard and a folder of its own, results/EXPERIMENT/shard-N-of-M" >&2
      exit 2 ;;
  esac
done
# An array with gaps would leave shards out.
count=${SLURM_ARRAY_TASK_COUNT:-}
if [[ -z "$count" || "${SLURM_ARRAY_TASK_MIN:-}" != 1 || "${SLURM_ARRAY_TASK_MAX:-}" != "$count" ]]; then
  echo "sweep-array.sh: this must be a job array without gaps that counts from 1, as with sbatch --array=1-16" >&2
  exit 2
fi

exec paretopipe sweep "$@" --shard "$SLURM_ARRAY_TASK_ID/$count" --resume

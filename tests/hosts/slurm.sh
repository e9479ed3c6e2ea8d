#!/usr/bin/env bash
# usage: with_slurm.sh slurm.sh SOURCE_DIR BIN_DIR
# Sweeps on a Slurm cluster of three nodes (with_slurm.sh) with fake-stage as the stage program: both job scripts that we ship,
# devices that srun starts inside an allocation, and what ends them: a cancelled job, a killed step. Nothing is left running,
# no record is lost, and the same job run again does the rest.
set -euo pipefail
export PATH="$2:$PATH" PARETOPIPE_STAGE="$2/fake-stage"
scripts=$1/configs/slurm
cd "$HOME"

fail() { printf '%s\n' "$*" >&2; tail -n 5 paretopipe-*.log >&2 || true; exit 1; }

write_experiment() { # FILE BATCHES REPETITIONS
  printf '{"models": ["synthetic:1ms/40kB,1ms/40kB,1ms"], "data": "random", "batches": %d, "warmup": 1, "repeat": %d, "repeat_slow": 0}\n' \
    "$2" "$3" >"$1"
}

# Records are whole lines of JSON, so many of them, and so many are ok.
records() { # FILE RECORDS OK
  python3 - "$@" <<'PY' || fail "$1 is not as it should be"
import json, sys
path, count, ok = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
records = [json.loads(line) for line in open(path)]
statuses = [record["status"] for record in records]
assert len(records) == count and statuses.count("ok") == ok, statuses
PY
}

wait_until() { # WHAT COMMAND ...: at most a minute
  local what=$1 i
  shift
  for ((i = 0; i < 600; ++i)); do
    if "$@"; then return 0; fi
    sleep 0.1
  done
  fail "$what: not within a minute: $(ps -eo pid,stat,args | grep -E 'paretopipe|fake-stage|srun' | head -n 20)"
}
has_records() { [[ -e $1 && "$(wc -l <"$1")" -ge "$2" ]]; }
nothing_runs() { ! pgrep -f 'fake-stage|paretopipe sweep|srun|sweep-(nodes|array)' >left && [[ -z "$(squeue --noheader)" ]]; }
job_of() { sed -n 's/^Submitted batch job \([0-9]*\)$/\1/p' "$1"; }

echo "== a sweep over the nodes of an allocation, a stage a node"
write_experiment short.json 6 1
sbatch --wait --nodes=3 "$scripts/sweep-nodes.sh" short.json --out nodes >/dev/null || fail "the job failed"
records nodes/records.jsonl 3 3
grep -q '"on":\["n1","n2","n3"\]' nodes/records.jsonl || fail "records do not name the nodes"
wait_until "after a sweep" nothing_runs

echo "== devices of a person's own, from inside an allocation"
step="srun -N1 -n1 -w {node} --overlap --unbuffered --input=all"
printf '{"n1": {"launch": "%s", "address": "10.97.0.1"}, "n2": {"launch": "%s", "address": "10.97.0.1"}}\n' "$step" "$step" >devices.json
salloc --quiet --nodes=2 paretopipe devices check n1 n2 --devices devices.json >checked || fail "devices check: $(cat checked)"
salloc --quiet --nodes=2 paretopipe sweep short.json --on n2 --on n1 --devices devices.json --out own >/dev/null || fail "the sweep failed"
records own/records.jsonl 4 4
wait_until "after a sweep from inside" nothing_runs

echo "== the shards of an array job, and merge"
write_experiment shards.json 6 3
sbatch --wait --array=1-3 "$scripts/sweep-array.sh" shards.json >/dev/null || fail "an array task failed"
paretopipe merge results/shards/shard-* --out merged >/dev/null
records merged/records.jsonl 12 12
! sbatch --wait --array=2-3 "$scripts/sweep-array.sh" shards.json >/dev/null || fail "an array with gaps is not refused"
wait_until "after an array" nothing_runs

echo "== a cancelled job, and the same job again"
write_experiment long.json 150 3
sbatch --nodes=2 "$scripts/sweep-nodes.sh" long.json --out cancelled >submitted
wait_until "a first record" has_records cancelled/records.jsonl 1
scancel "$(job_of submitted)"
wait_until "after scancel" nothing_runs
before=$(grep -c '"status":"ok"' cancelled/records.jsonl)
((before < 12)) || fail "the job had ended before it was cancelled"
sbatch --wait --nodes=2 "$scripts/sweep-nodes.sh" long.json --out cancelled >/dev/null || fail "the job that continues failed"
(($(grep -c '"status":"ok"' cancelled/records.jsonl) == 12)) || fail "the job that continues did not do the rest"

echo "== a killed step fails one trial by name, and the sweep goes on"
sbatch --nodes=2 "$scripts/sweep-nodes.sh" long.json --out killed >submitted
wait_until "a first record" has_records killed/records.jsonl 1
victim=$(squeue --steps --noheader --format %i --jobs "$(job_of submitted)" | grep -E '\.[0-9]+$' | tail -n 1)
scancel --signal=KILL "$victim" 2>/dev/null || true  # "No error", it says
wait_until "the end of the job" nothing_runs
grep '"status":"failed"' killed/records.jsonl | grep -qE 'stage [01] on n[12]' || fail "no failed record names the stage of $victim"
records killed/records.jsonl 12 11
echo "all of it held"

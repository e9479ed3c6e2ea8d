#!/usr/bin/env bash
# usage: gate.sh BIN_DIR [PAIRS [BUSY [COMPARISON_FILE]]]
# Does the gate of the manual (apps/paretopipe/README.md) cry wolf, and does it find what it is for? PAIRS times (40) it
# measures two equal stage programs in turns, and as often one beside a program that takes 10 % longer, while BUSY other
# processes (as many as there are CPUs) compute in bursts. Prints how many gates failed: of 40 equal pairs at most 2 should,
# of 40 slower ones at least 38. Decides nothing. A quarter of an hour for 40. The first comparison with a slower program
# is kept as COMPARISON_FILE.
set -euo pipefail
bin=$(cd "$1" && pwd)
pairs=${2:-40}
busy=${3:-$(nproc)}
example=${4:-}
folder=$(mktemp -d)
export PARETOPIPE_STAGE=$bin/bench-stage

# Somebody else's work: a process that computes for a while and rests for a while.
burst() {
  while :; do
    timeout --foreground "$((RANDOM % 3 + 1))" sha256sum /dev/zero || true
    sleep "0.$((RANDOM % 9 + 1))"
  done
}
load=()
for ((i = 0; i < busy; ++i)); do
  setsid bash -c "$(declare -f burst); burst" >/dev/null 2>&1 &
  load+=($!)
done
trap 'for leader in "${load[@]}"; do kill -- "-$leader" 2>/dev/null || true; done; rm -rf "$folder"' EXIT

# The base of each comparison; the new side is the bench-stage itself, slowed or not.
printf '#!/bin/sh\nunset FAKE_STAGE_FAULT\nexec "%s" "$@"\n' "$PARETOPIPE_STAGE" > "$folder/base-stage"
chmod +x "$folder/base-stage"

# How the new side differs, and the number: 0 if the gate passes, 1 if it fails.
gate() {
  local out=$folder/$1-$2
  local fault=
  if [[ $1 == slower ]]; then fault=slower; fi
  FAKE_STAGE_FAULT=$fault "$bin/paretopipe" sweep --model synthetic:2ms/100kB,3ms/50kB,2ms/50kB,3ms --split 1-3 --data random \
    --batches 6 --warmup 1 --repeat 8 --repeat-slow 0 --against "$folder/base-stage" --out "$out" > /dev/null || exit "$?"
  local status=0
  "$bin/paretopipe" compare "$out/base" "$out" --fail-on 'throughput < -5%' --fail-on 'latency_min > +5%' \
    > "$out/comparison.txt" || status=$?
  if ((status > 1)); then exit "$status"; fi
  return "$status"
}

failed_equal=0
found_slower=0
for ((pair = 1; pair <= pairs; ++pair)); do
  if ! gate equal "$pair"; then
    failed_equal=$((failed_equal + 1))
    cat "$folder/equal-$pair/comparison.txt" >&2
  fi
  if gate slower "$pair"; then
    cat "$folder/slower-$pair/comparison.txt" >&2
  else
    found_slower=$((found_slower + 1))
  fi
  if ((pair == 1)) && [[ -n $example ]]; then cp "$folder/slower-$pair/comparison.txt" "$example"; fi
  echo "after $pair pairs: $failed_equal equal ones failed, $found_slower slower ones found" >&2
  rm -rf "$folder/equal-$pair" "$folder/slower-$pair"
done
echo "Beside $busy other processes that compute in bursts, the gate failed for $failed_equal of $pairs pairs of equal programs (promised:"
echo "at most 5 %), and found $found_slower of $pairs programs that take 10 % longer (promised: at least 95 %)."

#!/usr/bin/env bash
# usage: vanishing.sh BIN_DIR
# A host that vanishes during a sweep (with_two_hosts.sh; the cable is pulled) fails the trial by name within seconds, is started
# again when it is back, and keeps nothing running, even if nothing was under way. --resume does the rest. Behind a launcher that
# does not notice, the guard's signs of life tell.
set -euo pipefail
# shellcheck source=tests/hosts/on_two_hosts.sh
source "$(dirname "${BASH_SOURCE[0]}")/on_two_hosts.sh"
devices pi
sweep=(paretopipe sweep --model "synthetic:1ms/40kB,1ms" --data random --on "local" --on pi --split 1 --batches 100 --warmup 1 --repeat 6
       --repeat-slow 0)

names_pi() { grep '"status":"failed"' vanished/records.jsonl | grep -q 'stage 1 on pi'; }
last_is_ok() { tail -n 1 "$1/records.jsonl" | grep -q '"status":"ok"'; }

echo "== a host that vanishes"
"${sweep[@]}" --out vanished >output 2>&1 &
driver=$!
wait_until "a first record" has_records vanished 1
ip link set to-pi down
pulled=$EPOCHREALTIME
# SSH asks every 2 s whether it is there, and believes three answers that do not come.
wait_until "a vanished host" names_pi
echo "the trial failed by name $(((${EPOCHREALTIME/./} - ${pulled/./}) / 1000)) ms after the cable was pulled"
ip link set to-pi up
status=0
wait "$driver" || status=$?
((status == 1)) || fail "exit code $status, not 1: $(cat output)"
[[ "$(wc -l <vanished/records.jsonl)" == 6 ]] || fail "not every trial has a record: $(cat output)"
last_is_ok vanished || fail "it is back, and was not started again: $(cat output)"
# It hears of the connections' end when TCP tries again, which it does ever more seldom.
wait_until "what ran on the vanished host ends" all_is_quiet

echo "== --resume does the rest"
"${sweep[@]}" --out vanished --resume >output 2>&1 || fail "--resume: $(cat output)"
all_ok vanished 6 || fail "not all are ok: $(cat output)"
nothing_runs "--resume"

echo "== a host that vanishes while its stage waits, for longer than this one repeats its farewell"
# Nothing of pi's is under way then, so that only a guard's sign of life tells it. Once instead of 8 times, which takes minutes.
echo 1 >/proc/sys/net/ipv4/tcp_orphan_retries
paretopipe sweep --model synthetic:3000ms/40kB,1ms --data random --on local --on pi --split 1 --batches 5 --warmup 1 --repeat 1 \
  --repeat-slow 0 --out idle >output 2>&1 &
driver=$!
wait_until "a sweep" test -d idle
sleep 3.5
ip link set to-pi down
wait "$driver" || true
sleep 5  # until the kernel here has given up
ip link set to-pi up
wait_until "what ran on the vanished host ends" all_is_quiet

echo "== a host that vanishes behind a launcher that says nothing of it"
printf '{"pi": {"launch": "ssh -T pi", "program": "%s", "address": "10.99.0.2"}}\n' "$PARETOPIPE_STAGE" >home/.config/paretopipe/devices.json
paretopipe sweep --model synthetic:100ms/40kB,1ms --data random --on local --on pi --split 1 --batches 600 --warmup 1 --repeat 1 \
  --repeat-slow 0 --out unnoticed >output 2>&1 &
driver=$!
wait_until "a sweep" test -d unnoticed
sleep 8  # until a sign of life has come
ip link set to-pi down
pulled=$EPOCHREALTIME
wait_until "a vanished host" grep -qs 'stage 1 on pi has vanished' unnoticed/records.jsonl
echo "the trial failed by name $(((${EPOCHREALTIME/./} - ${pulled/./}) / 1000)) ms after the cable was pulled"
wait "$driver" || true
sleep 5
ip link set to-pi up
wait_until "what ran on the vanished host ends" all_is_quiet

#!/usr/bin/env bash
# usage: networks.sh BIN_DIR
# Sweeps over networks between two hosts (with_two_hosts.sh), with fake-stage as the stage program: every link is shaped by the
# host that sends over it, a relay or its kernel, on top of the network that is really there, and nothing is left on either.
set -euo pipefail
# shellcheck source=tests/hosts/on_slow_network.sh
source "$(dirname "${BASH_SOURCE[0]}")/on_slow_network.sh"

echo "== the same between processes of this machine, over the same wire"
printf '{"local": {"address": "10.99.0.1"}, "pi": {"launch": "nsenter --target %s --net", "program": "%s", "address": "10.99.0.2"}}\n' \
  "$PI" "$PARETOPIPE_STAGE" >near.json
# False if it takes longer between hosts, by more than 15 % and 0.5 ms. What is compared are the medians over the repetitions of the
# least latencies: a busy machine holds up most batches, but not all. Other outputs fail at once.
as_fast() {
  local status=0
  python3 - over_ssh/records.jsonl near/records.jsonl <<'PY' || status=$?
import json, statistics, sys
there, here = ([json.loads(line) for line in open(name)] for name in sys.argv[1:])
assert len(there) == len(here) == 5, (len(there), len(here))
for record in there + here:
    assert record["fidelity"] == here[0]["fidelity"] and record["fidelity"]["max_abs_difference"] == 0, record["fidelity"]
there_ns, here_ns = (statistics.median(record["summary"]["latency"]["min_ns"] for record in records) for records in (there, here))
print(f"latency between hosts {there_ns / 1e6:.3f} ms, between processes {here_ns / 1e6:.3f} ms")
sys.exit(77 if there_ns - here_ns > max(0.15 * here_ns, 0.5e6) else 0)
PY
  ((status == 0 || status == 77)) || fail "two hosts compute something else than processes of one"
  return $status
}
# What else runs here may slow one of the two down.
for ((try = 1; try <= 5; ++try)); do
  rm -rf over_ssh near
  REPEAT=5 BATCHES=20 sweep over_ssh
  REPEAT=5 BATCHES=20 sweep near --devices near.json
  if as_fast; then break; fi
done
((try <= 5)) || fail "between two hosts it takes longer than between processes of one"
nothing_runs "after both"

echo "== a profile between two hosts"
sweep shaped --network ./slow.json --shaping emulated
check shaped/records.jsonl 0 5 || fail "the record does not say what the network should be"
nothing_runs "after a sweep"

echo "== two networks in one sweep"
sweep both --network ./slow.json --network unshaped --shaping emulated
[[ "$(wc -l <both/records.jsonl)" == 2 ]] || fail "not one record for each network: $(cat both.txt)"
# A relay that a busy machine made late leaves nothing to be named.
if grep '"status":"ok"' both/records.jsonl | grep -q '"name":"slow"'; then
  paretopipe frontier both | grep -q 'over slow (emulated' || fail "tables do not name the network"
fi
nothing_runs "after two networks"

echo "== what is killed takes its relays along"
BATCHES=50000 sweep killed --network ./slow.json --shaping emulated &
driver=$!
relays=0
for ((i = 0; i < 1200 && relays < 2; ++i)); do
  relays=$(pgrep -cf 'fake-stage relay') || true
  sleep 0.05
done
[[ $relays == 2 ]] || fail "there are $relays relays where each host should have one"
kill -9 "$(pgrep -f 'paretopipe sweep .*--out killed')"
wait "$driver" || true
nothing_runs "after kill -9 of the driver"

echo "== a relay that is killed, at whatever moment of a trial, fails its trial by name, and the sweep goes on"
# Before its folder is there, a sweep is being prepared, and has no trial that could fail.
trials_run() { [[ -d broken ]] && pgrep -f 'fake-stage relay' >relay; }
for moment in 0 0.5 1.5; do
  rm -rf broken
  BATCHES=100 REPEAT=3 sweep broken --network ./slow.json --shaping emulated &
  driver=$!
  wait_until "a sweep" trials_run
  sleep $moment
  wait_until "a sweep" trials_run  # between two trials there are others, or none
  kill -9 "$(shuf -n 1 relay)"
  wait "$driver" || true
  nothing_runs broken
  [[ "$(wc -l <broken/records.jsonl)" == 3 ]] || fail "not every trial has a record: $(cat broken.txt)"
  grep -q 'emulates the network of this stage.s links was killed by signal 9' broken/records.jsonl || fail "no record names it: $(cat broken.txt)"
done

echo "== what cannot be had is refused before anything starts"
refused() { # TEXT ARGUMENT ...
  local text=$1 status=0
  shift
  paretopipe sweep --model synthetic:1ms/40kB,1ms --data random --on local --on pi --split 1 --out refused "$@" >output 2>&1 || status=$?
  [[ $status == 2 ]] || fail "$*: exit code $status, not 2: $(cat output)"
  grep -qF -- "$text" output || fail "$*: it does not say \"$text\": $(cat output)"
}
refused 'lose packets' --network lossy --shaping emulated
nothing_runs "after refusals"

printf '{"forward": {"rate": "80 Mbit/s"}, "backward": {"rate": "40 Mbit/s"}}\n' >paced.json
shaped() { [[ "$(tc qdisc show dev to-pi)" == *'htb 7a7a:'* && "$(in_pi tc qdisc show dev to-here)" == *'htb 7a7a:'* ]]; }
one_is_unshaped() { ! shaped; }
pi_is_unshaped() { [[ "$(in_pi tc qdisc show dev to-here)" != *7a7a* ]]; }
# A process that is about to become tc still has the name of the one that began it, so a victim is a second old.
kill_last() { kill -9 "$(pgrep --older 1 -f "$1" | tail -n 1)" 2>/dev/null; } # PATTERN
unshaped() { [[ "$(tc qdisc show dev to-pi)$(in_pi tc qdisc show dev to-here)" != *7a7a* ]]; }

lease_refused() { # TEXT OUT
  local status=0
  paretopipe sweep --model synthetic:1ms/40kB,1ms --data random --on local --on pi --split 1 --batches 6 --warmup 1 --repeat 1 \
    --repeat-slow 0 --network ./paced.json --shaping netem --out "$2" >"$2.txt" 2>&1 || status=$?
  ((status == 1 || status == 3)) || fail "$2: exit code $status: $(cat "$2.txt")"
  grep -qsF -- "$1" "$2.txt" "$2/records.jsonl" || fail "$2: it does not say \"$1\": $(cat "$2.txt")"
  wait_until "after a refusal" unshaped
}

# by_default KIND OUT: what shapes the links where nothing is asked for.
by_default() {
  sweep "$2" --network ./paced.json
  grep -q "\"shaping\":\"$1\"" "$2/records.jsonl" || fail "$2: not $1: $(cat "$2.txt")"
  local says=0
  grep -q 'relays emulate the network between the devices: stage . on .* cannot shape its interface' "$2.txt" || says=$?
  if [[ $1 == emulated ]]; then ((says == 0)) || fail "$2: it does not say why there are relays: $(cat "$2.txt")"; fi
  if [[ $1 == netem ]]; then ((says != 0)) || fail "$2: it says that there are relays: $(cat "$2.txt")"; fi
  wait_until "$2" unshaped
  nothing_runs "$2"
}

if ((OUTER_UID != 0)); then
  echo "== the kernel shapes no interface for a login without the right, and relays do it by default"
  lease_refused 'stage 1 on pi cannot shape its interface' without_right
  by_default emulated relayed
  echo "== what neither can do is refused with both reasons"
  status=0
  paretopipe sweep --model synthetic:1ms/40kB,1ms --data random --on local --on pi --split 1 --network lossy --out neither >output 2>&1 ||
    status=$?
  [[ $status == 3 ]] || fail "exit code $status, not 3: $(cat output)"
  grep -q 'stage . on .* cannot shape its interface.*Relays: .*lose packets' output || fail "it does not say both: $(cat output)"
else
  echo "== the kernels shape their interfaces, for this link alone"
  sweep leased --network ./paced.json --shaping netem
  python3 - leased/records.jsonl <<'PY' || fail "the record does not say what shaped the link"
import json, sys
(record,) = [json.loads(line) for line in open(sys.argv[1])]
network = record["network"]
assert record["trial"]["shaping"] == "netem", record["trial"]
assert [link["emulated_on"] for link in network["links"]] == ["local", "pi"]
assert [link["interface"] for link in network["links"]] == ["to-pi", "to-here"]
assert network["read_back"]["forward"]["rate_bit_per_s"] == 80e6
assert network["read_back"]["backward"]["rate_bit_per_s"] == 40e6
for probe, rate in zip(network["probes"], (80e6, 40e6)):
    assert probe["forward_bit_per_s"] < 1.06 * rate, probe
assert record["fidelity"]["max_abs_difference"] == 0
PY
  wait_until "after a sweep" unshaped
  by_default netem kernels

  for victim in 'paretopipe sweep .*--out shaped_and' 'fake-stage serve$' 'fake-stage guard$' 'fake-stage keep-lease$'; do
    echo "== the interfaces are as before when what matches \"$victim\" is killed"
    rm -rf shaped_and
    BATCHES=20000 sweep shaped_and --network ./paced.json --shaping netem &
    driver=$!
    wait_until "a sweep" shaped
    wait_until "a victim" kill_last "$victim"
    if [[ $victim == *keep-lease* ]]; then
      wait_until "a stage whose keeper was killed" one_is_unshaped
      pkill -INT -f 'paretopipe sweep .*--out shaped_and' || true  # without its keeper a sweep that begins has ended
    fi
    wait "$driver" || true
    wait_until "$victim" unshaped
    nothing_runs "$victim"
  done

  echo "== what somebody else put on an interface is left alone"
  tc qdisc add dev to-pi root tbf rate 500mbit burst 100kb latency 100ms
  lease_refused 'somebody made' foreign
  grep -qsF 'with --shaping emulated relays do it' foreign.txt foreign/records.jsonl || fail "it does not say what works: $(cat foreign.txt)"
  wait_until "pi's side" pi_is_unshaped
  sweep beside_foreign --network ./paced.json
  grep -q 'relays emulate .*stage 0 on local .*somebody made' beside_foreign.txt || fail "relays do not do it: $(cat beside_foreign.txt)"
  [[ "$(tc qdisc show dev to-pi)" == *'tbf'*500Mbit* ]] || fail "it is gone"
  tc qdisc del dev to-pi root
  wait_until "after a refusal" unshaped
fi

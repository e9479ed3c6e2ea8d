#!/usr/bin/env bash
# usage: networks.sh BIN_DIR
# Sweeps over networks between two hosts (with_two_hosts.sh), with fake-stage as the stage program: every link is emulated by the
# host that sends over it, on top of the network that is really there, and nothing is left on either.
set -euo pipefail
export PATH="$1:$PATH" PARETOPIPE_STAGE="$1/fake-stage"
cd "$HOSTS"
mkdir -p home/.config/paretopipe
printf '{"pi": {"ssh": "pi", "program": "%s"}}\n' "$PARETOPIPE_STAGE" >home/.config/paretopipe/devices.json
printf '{"forward": {"delay": "8 ms", "rate": "80 Mbit/s"}, "backward": {"delay": "4 ms", "rate": "40 Mbit/s"}}\n' >slow.json

fail() { printf '%s\n' "$*" >&2; exit 1; }

sweep() { # OUT [ARGUMENT ...]
  local out=$1 status=0
  shift
  paretopipe sweep --model synthetic:1ms/40kB,1ms --data random --on local --on pi --split 1 --batches "${BATCHES:-6}" --warmup 1 \
    --repeat "${REPEAT:-1}" --repeat-slow 0 --out "$out" "$@" >"$out.txt" 2>&1 || status=$?
  # A busy machine may make a relay late: the trial says so, and the exit code is 1.
  ((status <= 1)) || fail "$out: exit code $status: $(cat "$out.txt")"
}

nothing_runs() {
  local i
  for ((i = 0; i < 200; ++i)); do
    if ! pgrep -f 'fake-stage|ssh -F .*ssh_config' >left 2>/dev/null; then return 0; fi
    sleep 0.05
  done
  fail "$1: still running: $(ps -o pid,stat,args -p "$(paste -sd, left)")"
}

# check RECORDS LEAST_OWN_MS MOST_OWN_MS: one record whose links did what slow.json says, above a network with such a round trip.
check() {
  python3 - "$@" <<'PY'
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
least, most = (float(text) * 1e6 for text in sys.argv[2:])
assert len(records) == 1, len(records)
network = records[0]["network"]
links = network["links"]
assert [(link["from"], link["to"], link["emulated_on"]) for link in links] == [(0, 1, "local"), (1, 0, "pi")]
for link, probe, rate in zip(links, network["probes"], (80e6, 40e6)):
    assert least <= link["own_round_trip_ns"] <= most, link
    assert probe["round_trip_ns"] >= 12e6 + link["own_round_trip_ns"], probe
    assert probe["forward_bit_per_s"] < 1.06 * rate, probe
    assert link["lateness"]["deliveries"] > 0
assert records[0]["fidelity"]["max_abs_difference"] == 0
# 8 ms there and 4 ms back, and the frames' time at the rates.
if records[0]["status"] == "ok":
    assert network["deviations"] == []
    assert records[0]["summary"]["latency"]["min_ns"] >= 12e6 + 40e3 * 8 / 0.08, records[0]["summary"]["latency"]
PY
}

echo "== a profile between two hosts"
sweep shaped --network ./slow.json
check shaped/records.jsonl 0 5 || fail "the record does not say what the network should be"
nothing_runs "after a sweep"

echo "== two networks in one sweep"
sweep both --network ./slow.json --network unshaped
[[ "$(wc -l <both/records.jsonl)" == 2 ]] || fail "not one record for each network: $(cat both.txt)"
paretopipe frontier both | grep -q 'over slow (emulated' || fail "tables do not name the network"
nothing_runs "after two networks"

echo "== what is killed takes its relays along"
BATCHES=50000 sweep killed --network ./slow.json &
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

echo "== a relay that is killed fails its trial by name, and the sweep goes on"
BATCHES=200 REPEAT=3 sweep broken --network ./slow.json &
driver=$!
for ((i = 0; i < 1200; ++i)); do
  if [[ -s broken/records.jsonl ]]; then break; fi
  sleep 0.05
done
sleep 1
kill -9 "$(pgrep -f 'fake-stage relay' | shuf -n 1)"
wait "$driver"
grep -q 'emulates the network of this stage.s links was killed by signal 9' broken/records.jsonl || fail "no record says how: $(cat broken.txt)"
[[ "$(wc -l <broken/records.jsonl)" == 3 ]] || fail "not every trial has a record: $(cat broken.txt)"
nothing_runs "after a relay was killed"

echo "== what cannot be had is refused before anything starts"
refused() { # TEXT ARGUMENT ...
  local text=$1 status=0
  shift
  paretopipe sweep --model synthetic:1ms/40kB,1ms --data random --on local --on pi --split 1 --out refused "$@" >output 2>&1 || status=$?
  [[ $status == 2 ]] || fail "$*: exit code $status, not 2: $(cat output)"
  grep -qF -- "$text" output || fail "$*: it does not say \"$text\": $(cat output)"
}
refused 'paretopipe net apply' --network wifi --shaping netem
refused 'lose packets' --network lossy
nothing_runs "after refusals"

if tc qdisc add dev to-pi root netem delay 10ms 2>/dev/null; then
  echo "== a profile's delay comes on top of the real network's"
  sweep above --network ./slow.json
  tc qdisc del dev to-pi root
  check above/records.jsonl 10 20 || fail "the real network's round trip is not told apart from the profile's"
else
  echo "SKIPPED: this kernel has no netem to make the real network slower with"
fi

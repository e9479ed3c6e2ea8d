# shellcheck shell=bash
# For tests on two hosts (with_two_hosts.sh), to be sourced with BIN_DIR: sweeps between them, and the profile slow.json.
# shellcheck source=tests/hosts/on_two_hosts.sh
source "$(dirname "${BASH_SOURCE[0]}")/on_two_hosts.sh"
devices pi
printf '{"forward": {"delay": "8 ms", "rate": "80 Mbit/s"}, "backward": {"delay": "4 ms", "rate": "40 Mbit/s"}}\n' >slow.json

sweep() { # OUT [ARGUMENT ...]
  local out=$1 status=0
  shift
  paretopipe sweep --model synthetic:1ms/40kB,1ms --data random --on local --on pi --split 1 --batches "${BATCHES:-6}" --warmup 1 \
    --repeat "${REPEAT:-1}" --repeat-slow 0 --out "$out" "$@" >"$out.txt" 2>&1 || status=$?
  # A busy machine may make a relay late: the trial says so, and the exit code is 1.
  ((status <= 1)) || fail "$out: exit code $status: $(cat "$out.txt")"
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
    assert probe["round_trip_ns"] >= 12e6 + least, probe
    assert probe["forward_bit_per_s"] < 1.06 * rate, probe
    assert link["lateness"]["deliveries"] > 0
    assert "interface" not in link, link
assert records[0]["fidelity"]["max_abs_difference"] == 0
# 8 ms there and 4 ms back, and the frames' time at the rates.
if records[0]["status"] == "ok":
    assert network["deviations"] == []
    assert records[0]["summary"]["latency"]["min_ns"] >= 12e6 + 40e3 * 8 / 0.08, records[0]["summary"]["latency"]
PY
}

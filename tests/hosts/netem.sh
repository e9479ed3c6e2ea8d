#!/usr/bin/env bash
# usage: netem.sh BIN_DIR
# Sweeps between two hosts (with_two_hosts.sh) whose kernels have netem: it delays what relays then delay on top of that, and
# delays itself where the kernels shape the links.
set -euo pipefail
# shellcheck source=tests/hosts/on_slow_network.sh
source "$(dirname "${BASH_SOURCE[0]}")/on_slow_network.sh"
if ! tc qdisc add dev to-pi root netem delay 10ms 2>/dev/null; then
  echo "SKIPPED: this kernel has no netem, which the one of uml_hosts_netem has"
  exit 77
fi

echo "== a profile's delay comes on top of the real network's"
sweep above --network ./slow.json --shaping emulated
tc qdisc del dev to-pi root
check above/records.jsonl 10 20 || fail "the real network's round trip is not told apart from the profile's"
echo "== the kernels delay, too"
sweep delayed --network ./slow.json --shaping netem
python3 - delayed/records.jsonl <<'PY' || fail "the kernels do not do what slow.json says: $(cat delayed/records.jsonl)"
import json, sys
(record,) = [json.loads(line) for line in open(sys.argv[1])]
assert record["network"]["read_back"]["forward"]["delay_ns"] == 8e6 and record["network"]["read_back"]["backward"]["delay_ns"] == 4e6
assert record["network"]["round_trip_ns"] >= 12e6
assert record["summary"]["latency"]["min_ns"] >= 12e6 + 40e3 * 8 / 0.08
PY

#!/usr/bin/env bash
# usage: strangers.sh BIN_DIR
# Who reaches the ports of data links, on two hosts (with_two_hosts.sh): stages do, through a firewall that lets in only SSH and
# the range that the devices file names. Strangers do, from both hosts, and no sweep takes harm.
set -euo pipefail
stranger=$(realpath "$(dirname "${BASH_SOURCE[0]}")")/stranger.py
# shellcheck source=tests/hosts/on_two_hosts.sh
source "$(dirname "${BASH_SOURCE[0]}")/on_two_hosts.sh"
# Below those that kernels give to whoever connects, so that no stranger's own connection takes one.
ports=27000-27003
devices pi "$PARETOPIPE_STAGE" ", \"address\": \"10.99.0.2\", \"ports\": \"$ports\"" \
  ", \"local\": {\"address\": \"10.99.0.1\", \"ports\": \"$ports\"}"

sweep() { # OUT [ARGUMENT ...]
  local out=$1
  shift
  paretopipe sweep --model synthetic:1ms/40kB,1ms --data random --on local --on pi --split 1 --batches 6 --warmup 1 --repeat 2 \
    --repeat-slow 0 --out "$out" "$@" >"$out.txt" 2>&1 || fail "$out: exit code $?: $(cat "$out.txt")"
}
ms_since() { echo $(((${EPOCHREALTIME/./} - ${1/./}) / 1000)); } # EPOCHREALTIME

echo "== a firewall that lets in SSH and the ports of data links"
# What comes from such a port answers pi, which has connected to it.
close_pi "dport 2222" "dport $ports" "sport $ports"
began=$EPOCHREALTIME
sweep walled
undisturbed=$(ms_since "$began")
all_ok walled 2 || fail "not all trials are ok: $(cat walled.txt)"
open_pi
nothing_runs "a firewall"

echo "== strangers from both hosts: 64 silent connections, a scan, garbage"
# So that each has met some sweep.
have_been_in() {
  python3 - ./*.counts <<'PY'
import json, sys
for counts in (json.load(open(name)) for name in sys.argv[1:]):
    if min(counts["scanned"], counts["garbage"], counts["silent"]) == 0 or counts["silent_at_once"] < 64: sys.exit(1)
PY
}
python3 "$stranger" here.counts ${ports/-/ } 10.99.0.1 10.99.0.2 &
strangers=$!
in_pi python3 "$stranger" there.counts ${ports/-/ } 10.99.0.1 10.99.0.2 &
strangers+=" $!"
wait_until "strangers" test -e there.counts -a -e here.counts
longest=0 delayed=0
for ((round = 1; round <= 40; ++round)); do
  began=$EPOCHREALTIME
  case $((round % 3)) in
    0) sweep "bothered$round" ;;
    1) sweep "bothered$round" --link tls ;;
    2) sweep "bothered$round" --baseline data-parallel --scenario offline ;;
  esac
  all_ok "bothered$round" "$(wc -l <"bothered$round/records.jsonl")" || fail "not all trials are ok: $(cat "bothered$round.txt")"
  ms=$(ms_since "$began")
  longest=$((ms > longest ? ms : longest))
  # A silent connection may stay for 10 s. A sweep that waits for its end takes so much longer, but for the moment between that
  # connection and its own, and however slow the machine is.
  delayed=$((delayed + (ms - undisturbed > 9000)))
  if ((round >= 9)) && have_been_in; then break; fi
done
# shellcheck disable=SC2086  # a list
kill $strangers
((2 * delayed < round)) || fail "$delayed of $round sweeps took over 9 s longer than without strangers ($undisturbed ms)"
have_been_in || fail "strangers did not get in: $(cat ./*.counts)"
echo "$round sweeps between strangers, the longest of $longest ms ($undisturbed ms without them)"
echo "strangers here $(cat here.counts), there $(cat there.counts)"
nothing_runs "strangers"

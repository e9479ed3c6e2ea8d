#!/usr/bin/env bash
# usage: interrupted.sh BIN_DIR
# Ctrl-C of a sweep over SSH (with_two_hosts.sh), at whatever moment, ends it with exit code 130. Nothing is left on either host, and
# --resume does the rest.
set -euo pipefail
# shellcheck source=tests/hosts/on_two_hosts.sh
source "$(dirname "${BASH_SOURCE[0]}")/on_two_hosts.sh"
devices pi

sweep() { # OUT [ARGUMENT ...], in the place of this shell
  local out=$1
  shift
  exec paretopipe sweep --model synthetic:1ms/40kB,1ms --data random --on local --on pi --split 1 --batches 100 --warmup 1 --repeat 4 \
    --repeat-slow 0 --out "$out" "$@"
}
dials() { pgrep -f 'ssh -F .*ssh_config' >/dev/null; }
serves() { [[ "$(pgrep -cf 'fake-stage serve$')" == 2 ]]; }

# This machine's stage hangs at its next batch after as many trials as RECORDS, so that no sweep is over, or further, before it is
# interrupted.
interrupted_when() { # OUT RECORDS COMMAND ...
  local out=$1 records=$2 driver status=0
  shift 2
  # A job of its own, as at a terminal, where Ctrl-C reaches the driver and whatever it has left in its process group.
  set -m
  # Two phases of 101 batches are a trial.
  (FAKE_STAGE_FAULT="hang@0-1@$((202 * records + 1))@$PWD/$out.hung" sweep "$out") >output 2>&1 &
  driver=$!
  set +m
  wait_until "$out" "$@"
  kill -INT -- "-$driver"
  wait "$driver" || status=$?
  ((status == 130)) || fail "$out: exit code $status, not 130: $(cat output)"
  nothing_runs "$out"
  local before=0
  if [[ -e $out/records.jsonl ]]; then before=$(wc -l <"$out/records.jsonl"); fi
  ((before == records)) || fail "$out: it was interrupted after $before trials, not after $records"
  (sweep "$out" --resume) >output 2>&1 || fail "$out: --resume: $(cat output)"
  all_ok "$out" 4 || fail "$out: not all trials are ok: $(cat output)"
  nothing_runs "$out: --resume"
  echo "interrupted $out, with $before records: --resume did the rest"
}

interrupted_when at_login 0 dials
interrupted_when at_the_start 0 serves
interrupted_when in_between 1 test -s in_between.hung

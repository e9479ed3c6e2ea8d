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

interrupted_when() { # OUT COMMAND ...
  local out=$1 driver status=0
  shift
  # A job of its own, as at a terminal, where Ctrl-C reaches the driver and whatever it has left in its process group.
  set -m
  (sweep "$out") >output 2>&1 &
  driver=$!
  set +m
  wait_until "$out" "$@"
  kill -INT -- "-$driver"
  wait "$driver" || status=$?
  ((status == 130)) || fail "$out: exit code $status, not 130: $(cat output)"
  nothing_runs "$out"
  local before=0
  if [[ -e $out/records.jsonl ]]; then before=$(wc -l <"$out/records.jsonl"); fi
  ((before < 4)) || fail "$out: it was over before it was interrupted"
  (sweep "$out" --resume) >output 2>&1 || fail "$out: --resume: $(cat output)"
  all_ok "$out" 4 || fail "$out: not all trials are ok: $(cat output)"
  nothing_runs "$out: --resume"
  echo "interrupted $out, with $before records: --resume did the rest"
}

interrupted_when at_login dials
interrupted_when at_the_start serves
interrupted_when in_between has_records in_between 1

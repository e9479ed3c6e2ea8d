#!/usr/bin/env bash
# What tests/uml/run.sh promises: netem works inside, output and exit status come out, a time limit holds, nothing remains.
# Exit status 77, for CTest to skip it, where this machine cannot boot user-mode Linux.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
TMPDIR=$(mktemp -d)  # what is left behind is then ours, and found by this name
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }

"$here/run.sh" --time-limit 120 "$here/netem_smoke.sh"
status=$?
((status == 77)) && exit 77
((status == 0)) || fail "netem_smoke.sh exited with $status"

out=$("$here/run.sh" --time-limit 60 bash -c 'echo "to stdout, with  two spaces"; echo "to stderr" >&2; exit 7' 2>"$TMPDIR/stderr")
status=$?
((status == 7)) || fail "exit 7 came out as $status"
[[ "$out" == "to stdout, with  two spaces" ]] || fail "stdout came out as: $out"
[[ "$(cat "$TMPDIR/stderr")" == "to stderr" ]] || fail "stderr came out as: $(cat "$TMPDIR/stderr")"
rm "$TMPDIR/stderr"

# A machine that dies is no skipped test. 169 is reboot(2), here without a word to run.sh.
"$here/run.sh" --time-limit 60 perl -e 'syscall(169, 0xfee1dead, 672274793, 0x4321fedc, 0); sleep 60' 2>"$TMPDIR/stderr"
status=$?
((status == 70)) || fail "a virtual machine that ended in the middle of its command gave $status"
rm "$TMPDIR/stderr"

"$here/run.sh" --time-limit 5 sleep 1000 2>/dev/null
status=$?
((status == 124)) || fail "a command that outlives its time limit gave $status"

# The kernel ends the processes of a PID namespace after its first one, which takes a moment. The brackets
# keep grep from finding itself.
for _ in {1..50}; do
  left=$(grep -lsz "[/]${TMPDIR#/}" /proc/[0-9]*/cmdline | wc -l)
  ((left == 0)) && break
  sleep 0.1
done
((left == 0)) || fail "$left processes were left behind"
[[ -z "$(ls -A "$TMPDIR")" ]] || fail "files were left behind: $(ls -A "$TMPDIR")"

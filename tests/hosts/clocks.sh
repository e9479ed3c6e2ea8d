#!/usr/bin/env bash
# usage: [TRIALS=3] clocks.sh BIN_DIR
# How far the clocks of two hosts (with_two_hosts.sh) are apart, where that is known to the nanosecond: pi's stage is in a time
# namespace, and the way there takes 150 ms, the way back 50. In every trial the interval that the record states has to contain
# the truth, although half of the round trip, by which others would go, is 50 ms off. By hand with TRIALS=100, in four minutes.
set -euo pipefail
export PATH="$1:$PATH" PARETOPIPE_STAGE="$1/fake-stage"
cd "$HOSTS"
mkdir -p home/.config/paretopipe
ahead_ns=987654321123456

# Takes effect for children: the guard, and the stage that it starts.
cat >stage-ahead <<PY
#!/usr/bin/env python3
import ctypes, os, sys
CLONE_NEWTIME, CLONE_NEWUSER = 0x80, 0x10000000
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(CLONE_NEWTIME) != 0 and libc.unshare(CLONE_NEWUSER | CLONE_NEWTIME) != 0:
    sys.exit(77)
seconds, rest = divmod($ahead_ns, 10**9)
with open("/proc/self/timens_offsets", "w") as offsets:
    offsets.write(f"monotonic {seconds} {rest}\n")
if len(sys.argv) == 1:
    sys.exit(0)
child = os.fork()
if child == 0:
    os.execv("$PARETOPIPE_STAGE", ["$PARETOPIPE_STAGE"] + sys.argv[1:])
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)
PY
chmod +x stage-ahead
status=0
ssh -o StrictHostKeyChecking=yes pi "$HOSTS/stage-ahead" || status=$?
if ((status == 77)); then echo "SKIPPED: the kernel refuses time namespaces to this user"; exit 77; fi
((status == 0)) || { echo "clocks.sh: the stage in a time namespace ended with status $status" >&2; exit 1; }

printf '{"pi": {"ssh": "pi", "program": "%s"}}\n' "$HOSTS/stage-ahead" >home/.config/paretopipe/devices.json
printf '{"forward": {"delay": "150 ms"}, "backward": {"delay": "50 ms"}}\n' >uneven.json
status=0
paretopipe sweep --model synthetic:1ms/4kB,1ms --data random --on local --on pi --split 1 --batches 4 --warmup 1 --scenario single-stream \
  --repeat "${TRIALS:-3}" --repeat-slow 0 --network ./uneven.json --out out >output 2>&1 || status=$?
# A busy machine may make a relay late: such a trial says so, and its bounds have to hold all the same.
((status <= 1)) || { cat output >&2; exit 1; }

# Both hosts have one wall clock, which is no farther ahead of itself than exchanges show.
paretopipe devices check pi --format json >check.json || true
python3 - check.json "$ahead_ns" <<'PY'
import json, sys
(pi,) = json.load(open(sys.argv[1]))["devices"]
for key, truth in ("clock_offset_ns", int(sys.argv[2])), ("wall_clock_offset_ns", 0):
    assert pi[key]["low"] - 1000 <= truth <= pi[key]["high"] + 1000, (key, pi[key])
PY

python3 - out/records.jsonl "$ahead_ns" "${TRIALS:-3}" <<'PY'
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
truth, trials = -int(sys.argv[2]), int(sys.argv[3])  # stage 0's clock less stage 1's
assert len(records) == trials, len(records)
off, bounds = [], []
for record in records:
    clock = record["clocks"][1]
    assert not clock["same_clock"]
    bounds.append(clock["error_bound_ns"])
    for offset in clock["offset_before_ns"], clock["offset_after_ns"]:
        off.append(abs(offset - truth))
        assert off[-1] <= bounds[-1], (offset - truth, clock)
# The bound is half of the round trip, 100 ms, and what the machine adds.
assert min(bounds) >= 100e6, min(bounds)
assert min(off) > 25e6, "the ways are not as uneven as they should be"
print(f"the truth was in the interval in {trials} of {trials} trials; its middle was off by {min(off) / 1e6:.1f} to "
      f"{max(off) / 1e6:.1f} ms, the stated bound {min(bounds) / 1e6:.1f} to {max(bounds) / 1e6:.1f} ms")
PY

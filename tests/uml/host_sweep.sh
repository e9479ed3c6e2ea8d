#!/usr/bin/env bash
# [TRIALS=3] tests/uml/host_sweep.sh BIN_DIR: a sweep between this machine and a really different host: a virtual machine (run.sh) with a kernel,
# a clock and an sshd of its own, reached over a network interface. By hand, as root; it takes some minutes, and an idle machine.
#
# - Over a profile, which both kernels give their interfaces, what crosses the cut takes at least the delay and the frames' time at
#   the rate, and not much more.
# - Where the guest's netem takes 150 ms one way and 50 the other, the interval of the clocks' offset that every record states contains
#   the offset that is known from before and after to a fraction of a millisecond, although half of the round trip is 50 ms off.
# - The guest's clock is made to run fast (adjtimex): the interval of the drift that records state contains what was injected, and
#   not 0 any more. Stage 0's clock then drifts that much the other way, seen from the guest's.
#
# Exit status: 0 all of it held; 1 something did not; 77 this machine cannot have such a host, with the reason.
set -euo pipefail
cannot() { printf 'SKIPPED: a virtual machine as another host: %s\n' "$*"; exit 77; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
servers=$(cd "$here/../.." && pwd)/third_party/servers
sshd=/usr/sbin/sshd libraries=
if [[ ! -x $sshd ]]; then sshd=$servers/usr/sbin/sshd libraries=$(echo "$servers"/usr/lib/*-linux-gnu*); fi

if [[ "${INSIDE:-}" != 1 ]]; then
  [[ -x $sshd ]] || cannot "there is no sshd (scripts/fetch-servers fetches one)"
  command -v linux.uml >/dev/null || cannot "there is no linux.uml (the package user-mode-linux)"
  [[ "$(id -u)" == 0 && -c /dev/net/tun ]] || cannot "it takes root and /dev/net/tun"
  INSIDE=1 exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi
export PATH="$1:$PATH" PARETOPIPE_STAGE="$1/fake-stage"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
ip link set lo up
ip tuntap add dev guest mode tap
ip address add 10.98.0.1/24 dev guest
ip link set guest up

mkdir -m 700 home
for key in host_key id; do ssh-keygen -q -t ed25519 -N '' -f $key -C $key; done
cat >sshd_config <<X
ListenAddress 10.98.0.2
HostKey $folder/host_key
PidFile none
AuthorizedKeysFile $folder/id.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UseDNS no
SetEnv HOME=$folder/home PATH=$PATH
X
echo "10.98.0.2 $(cut -d' ' -f1,2 host_key.pub)" >known_hosts
cat >ssh_config <<X
Host guest
  HostName 10.98.0.2
  User root
  IdentityFile $folder/id
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile $folder/known_hosts
  GlobalKnownHostsFile /dev/null
X
mkdir bin
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$folder/ssh_config" >bin/ssh
chmod +x bin/ssh
export PATH="$folder/bin:$PATH" HOME="$folder/home"

"$here/run.sh" --time-limit 1500 --tap guest "$here/guest_host.sh" "$sshd" "$libraries" >guest.log 2>&1 &
machine=$!
until ssh -o ConnectTimeout=5 guest true 2>ssh.log; do
  kill -0 $machine 2>/dev/null || cannot "it ended: $(tail -n 3 guest.log)"
  sleep 1
done
echo "this kernel is $(uname -r), the guest's is $(ssh guest uname -r)"

printf '{"guest": {"ssh": "guest", "program": "%s"}}\n' "$PARETOPIPE_STAGE" >devices.json
# This machine's kernel may have no netem, the guest's has.
printf '{"forward": {"rate": "40 Mbit/s"}, "backward": {"delay": "30 ms", "rate": "40 Mbit/s"}}\n' >slow.json
sweep() { # OUT BATCHES REPEAT [ARGUMENT ...]
  local out=$1 batches=$2 repeat=$3 status=0
  shift 3
  paretopipe sweep --model synthetic:2ms/200kB,2ms --data random --on local --on guest --devices devices.json --split 1 \
    --batches "$batches" --warmup 2 --scenario single-stream --repeat "$repeat" --repeat-slow 0 --out "$out" "$@" >"$out.txt" 2>&1 || status=$?
  ((status <= 1)) || { cat "$out.txt"; exit 1; }
}

check() { # RECORDS PPM: the guest's drift as the records have it is such as was injected
  python3 - "$@" <<'PY'
import json, sys
injected = float(sys.argv[2])
records = [json.loads(line) for line in open(sys.argv[1])]
assert len(records) == 3, len(records)
for record in records:
    clock = record["clocks"][1]
    low, high = clock["drift_ppm"]
    assert not clock["same_clock"]
    print(f"offset {clock['offset_before_ns']} ns within {clock['error_bound_ns']} ns; drift {low:.1f} to {high:.1f} ppm, injected {injected:+.0f}")
    assert low <= injected <= high, "the drift is not what was injected"
    if injected:
        assert not low <= 0 <= high, "the drift might be none"
PY
}

adjust() { # PPM: the guest's clock
  # shellcheck disable=SC2016  # python's
  ssh guest "python3 -c '
import ctypes, sys
class Timex(ctypes.Structure):
    _fields_ = [(\"modes\", ctypes.c_uint), (\"offset\", ctypes.c_long), (\"freq\", ctypes.c_long), (\"rest\", ctypes.c_long * 60)]
timex = Timex(modes=2, freq=int($1 * 65536))  # ADJ_FREQUENCY, in ppm with a 16 bit fraction
sys.exit(ctypes.CDLL(None).adjtimex(ctypes.byref(timex)) < 0)'"
}

echo "== over a profile"
sweep shaped 20 3 --network ./slow.json
python3 - shaped/records.jsonl <<'PY'
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
assert len(records) == 3, len(records)
own = max(link["own_round_trip_ns"] for record in records for link in record["network"]["links"])
predicted = 2e6 + 2e6 + 30e6 + 200e3 * 8 / 0.04 + 40 * 8 / 0.04  # two blocks, both delays, both payloads at the rate
for record in records:
    latency = record["summary"]["latency"]["p50_ns"]
    print(f"predicted {predicted / 1e6:.1f} ms, measured {latency / 1e6:.1f} ms; the real round trip is {own / 1e6:.2f} ms")
    assert record["status"] == "ok", record
    assert record["trial"]["shaping"] == "netem", "relays shaped it, not the kernels"
    at_once = record["network"]["read_back"]["forward"].get("burst_bytes", 0) * 8 / 0.04  # what passes through a full bucket
    assert predicted - at_once <= latency < 1.1 * predicted + own, (at_once, record["network"]["read_back"])
PY

echo "== the guest's clock as it is"
sweep level 600 3
check level/records.jsonl 0

echo "== with 150 ms there and 50 ms back"
ssh guest '
tc qdisc add dev vec0 root netem delay 50ms
ip link set ifb0 up
tc qdisc add dev ifb0 root netem delay 150ms
tc qdisc add dev vec0 ingress
tc filter add dev vec0 parent ffff: protocol ip u32 match u32 0 0 action mirred egress redirect dev ifb0'
sweep uneven 4 "${TRIALS:-3}"
ssh guest 'tc qdisc del dev vec0 root; tc qdisc del dev vec0 ingress'
sweep level_again 600 3
python3 - "${TRIALS:-3}" <<'PY'
import json, sys
def clocks(name):
    return [json.loads(line)["clocks"][1] for line in open(f"{name}/records.jsonl")]
level = clocks("level") + clocks("level_again")
low = max(clock["offset_before_ns"] - clock["error_bound_ns"] for clock in level)
high = min(clock["offset_before_ns"] + clock["error_bound_ns"] for clock in level)
assert low <= high, "the clocks drifted apart meanwhile"
uneven = clocks("uneven")
assert len(uneven) == int(sys.argv[1]), len(uneven)
off = []
for clock in uneven:
    bound = clock["error_bound_ns"]
    for offset in clock["offset_before_ns"], clock["offset_after_ns"]:
        assert offset - bound <= low and high <= offset + bound, (offset, bound, low, high)
        off.append(abs(offset - (low + high) / 2))
assert min(off) > 25e6, "the ways are not as uneven as they should be"
print(f"the truth, known to {(high - low) / 1e3:.0f} us, was in the interval in {len(uneven)} of {len(uneven)} trials; its middle was off by "
      f"{min(off) / 1e6:.1f} to {max(off) / 1e6:.1f} ms")
PY

echo "== the guest's clock 400 ppm too fast"
adjust 400
sweep fast 600 3
check fast/records.jsonl -400
touch done
wait $machine
echo "all of it held"

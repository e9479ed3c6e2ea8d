#!/usr/bin/env bash
# usage: [ROUNDS=15] faults.sh BIN_DIR
# What can go wrong with another host, tried on two (with_two_hosts.sh) with fake-stage as the stage program: set-ups that do not
# work end in one sentence and exit code 3, and whatever is killed, nothing is left anywhere and no record is lost.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/nothing_runs.sh"
export PATH="$1:$PATH" PARETOPIPE_STAGE="$1/fake-stage"
cd "$HOSTS"
mkdir -p home/.config/paretopipe

devices() { printf '{"pi": {"ssh": "%s", "program": "%s"%s}}\n' "${1:-pi}" "${2:-$PARETOPIPE_STAGE}" "${3:-}" >home/.config/paretopipe/devices.json; }

sweep() { # OUT [ARGUMENT ...]
  local out=$1
  shift
  paretopipe sweep --model synthetic:1ms/40kB,1ms/40kB,1ms --data random --on local --on pi --split all --batches 6 --warmup 1 \
    --repeat-slow 0 --out "$out" "$@"
}

refused() { # NAME TEXT COMMAND ...
  local name=$1 text=$2 status=0
  shift 2
  "$@" >output 2>&1 || status=$?
  [[ $status == 3 ]] || fail "$name: exit code $status, not 3: $(cat output)"
  grep -qF -- "$text" output || fail "$name: it does not say \"$text\": $(cat output)"
  [[ "$(grep -c '^paretopipe: ' output)" == 1 ]] || fail "$name: not one sentence: $(cat output)"
  nothing_runs "$name"
}

echo "== the same sweep here and over SSH"
devices
paretopipe sweep --model synthetic:1ms/40kB,1ms/40kB,1ms --data random --split all --batches 6 --warmup 1 --repeat 1 --repeat-slow 0 --out here >/dev/null
sweep there --repeat 1 >/dev/null
grep -q '"on":\["local","pi"\]' there/records.jsonl || fail "records do not name the devices"
paretopipe frontier there | grep -q 'on local | pi' || fail "tables do not name the devices"
nothing_runs "after a sweep"

paretopipe sweep --model synthetic:1ms/40kB,1ms --data random --on pi --on local --split 1 --batches 6 --warmup 1 --repeat 1 \
  --repeat-slow 0 --link tls --out encrypted >/dev/null

echo "== replicas that add up their gradients, beside a pipeline"
paretopipe sweep --model synthetic:2ms+3ms/4kB,2ms+3ms --data random --task train --on local --on pi --split 1 --baseline data-parallel \
  --batch 8 --micro-batch 2 --steps 4 --warmup 1 --repeat 1 --repeat-slow 0 --out replicas >output 2>&1 || fail "$(cat output)"
[[ "$(grep -c '"verified_steps":2' replicas/records.jsonl)" == 2 ]] || fail "not both were verified: $(cat output)"
nothing_runs "after training"

echo "== a login that prints"
echo 'echo "Welcome to pi"; echo "and to stderr" >&2' >home/.bashrc
sweep noisy --repeat 1 >/dev/null
rm home/.bashrc

echo "== set-ups that do not work"
devices pi /no/such/program
refused "a missing program" "paretopipe devices deploy" sweep refused
devices pi /bin/false
refused "a wrong program" "exited with status 1" sweep refused
# All that this driver knows of a program of another release is its greeting.
cat >other-release <<'X'
#!/bin/sh
printf '\n%s\n' "PARETOPIPE-STAGE-CONTROL-LINK"
read -r order
echo '{"release":"0.0.1","architecture":"x86_64","ssh_connection":""}'
exec cat >/dev/null
X
chmod +x other-release
devices pi "$HOSTS/other-release"
refused "another release" "is of release 0.0.1" sweep refused
devices no-such-host.invalid
refused "an unresolvable name" "no-such-host.invalid" sweep refused
devices stranger@pi
refused "a user without a key" "Permission denied" sweep refused
devices pi "$PARETOPIPE_STAGE" ', "address": "10.99.0.77"'
refused "an address that is not the device's" "10.99.0.77" sweep refused --trial-timeout 20
devices
cp known_hosts known_hosts.right
sed -i "s/ssh-ed25519 .*/$(cut -d' ' -f1,2 id.pub | sed 's/[\/&]/\\&/g')/" known_hosts
refused "a changed host key" "Host key verification failed" sweep refused
mv known_hosts.right known_hosts
# Pi's firewall lets SSH in, and drops everything else without a word.
rules() { nsenter --target "$PI" --net ip rule "$@"; }
rules add pref 1 iif to-here ipproto tcp dport 2222 lookup local
rules add pref 2 iif to-here ipproto tcp blackhole
rules add pref 3 lookup local
rules del pref 0
refused "a firewall" "tried for" sweep refused --trial-timeout 20
rules add pref 0 lookup local
for rule in 1 2 3; do rules del pref $rule; done
[[ ! -e refused ]] || fail "a refused sweep left a folder behind"

echo "== killed at random moments"
victims=(driver ssh session guard stage)
pid_of() { # VICTIM
  case $1 in
    driver) pgrep -f 'paretopipe sweep' | head -n 1 ;;
    ssh) pgrep -f 'ssh -F .*ssh_config' | head -n 1 ;;
    session) pgrep -f '^sshd(-session)?: .*(@notty|\[priv\])' | shuf -n 1 ;;  # sshd's children: one with rights, one without
    guard) pgrep -f 'fake-stage guard$' | head -n 1 ;;
    stage) pgrep -f 'fake-stage serve$' | shuf -n 1 ;;
  esac
}
declare -A hits=()
for ((round = 0; round < ${ROUNDS:-15}; ++round)); do
  victim=${victims[round % ${#victims[@]}]}
  rm -rf killed
  sweep killed --repeat 3 >output 2>&1 &
  driver=$!
  sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
  # It may not run yet, or not any more.
  until pid=$(pid_of "$victim") || ! kill -0 "$driver" 2>/dev/null; do sleep 0.01; done
  if [[ -n "$pid" ]] && kill -9 "$pid" 2>/dev/null; then hits[$victim]=$((${hits[$victim]:-0} + 1)); fi
  wait "$driver" || true
  nothing_runs "round $round: $victim killed"
  before=0
  if [[ -e killed/records.jsonl ]]; then before=$(wc -l <killed/records.jsonl); fi
  sweep killed --repeat 3 --resume >output 2>&1 || fail "round $round: $victim killed: --resume: $(cat output)"
  after=$(wc -l <killed/records.jsonl)
  ((after >= before)) || fail "round $round: $victim killed: $before records became $after"
  ok=$(grep -c '"status":"ok"' killed/records.jsonl)
  ((ok == 12)) || fail "round $round: $victim killed: $ok of 12 trials are ok"
done
((${#hits[@]} > 0)) || fail "nothing was ever killed"
killed=
for victim in "${!hits[@]}"; do killed+=" $victim ${hits[$victim]},"; done
echo "killed in $round rounds:${killed%,}"

echo "== the frontier after a kill and --resume is that of an undisturbed sweep"
# Blocks wait asleep, so that even a busy machine keeps these apart: the periods of cuts 1, 2 and 3 are 140, 80 and 140 ms, and what
# they send doubles from one to the next.
far_apart() { # OUT [ARGUMENT ...]
  paretopipe sweep --model synthetic:20ms/2kB,60ms/4kB,60ms/8kB,20ms --data random --on local --on pi --split 1,2,3 --batches 4 \
    --warmup 1 --repeat 3 --repeat-slow 0 --out "$@"
}
members() {
  paretopipe frontier "$1" --objective throughput --objective payload --format json | python3 -c '
import json, sys
(group,) = json.load(sys.stdin)["groups"]
print([split["split_points"] for split in group["splits"] if split["on_frontier"]])'
}
far_apart undisturbed >/dev/null
undisturbed=$(members undisturbed)
[[ "$undisturbed" == "[[1], [2]]" ]] || fail "the frontier of an undisturbed sweep is $undisturbed: $(paretopipe frontier undisturbed)"
for victim in driver stage; do
  rm -rf killed
  far_apart killed >output 2>&1 &
  driver=$!
  for ((i = 0; i < 1200; ++i)); do
    if [[ -s killed/records.jsonl ]]; then break; fi
    sleep 0.05
  done
  kill -9 "$(pid_of "$victim")"
  wait "$driver" || true
  nothing_runs "$victim killed"
  before=$(wc -l <killed/records.jsonl)
  far_apart killed --resume >output 2>&1 || fail "$victim killed: --resume: $(cat output)"
  [[ "$(members killed)" == "$undisturbed" ]] || fail "$victim killed: the frontier is $(members killed), not $undisturbed"
  echo "$victim killed, with $before records: the frontier is $undisturbed"
done
echo "all of it held"

#!/usr/bin/env bash
# usage: [ROUNDS=15] faults.sh BIN_DIR
# What can go wrong with another host, tried on two (with_two_hosts.sh) with fake-stage as the stage program: set-ups that do not
# work end in one sentence and exit code 3, and whatever is killed, nothing is left anywhere and no record is lost.
set -euo pipefail
bin=$1
archive=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../golden/weights/script.pt")
# shellcheck source=tests/hosts/on_two_hosts.sh
source "$(dirname "${BASH_SOURCE[0]}")/on_two_hosts.sh"

sweep() { # OUT [ARGUMENT ...]
  local out=$1
  shift
  paretopipe sweep --model synthetic:1ms/40kB,1ms/40kB,1ms --data random --on local --on pi --split all --batches 6 --warmup 1 \
    --repeat-slow 0 --out "$out" "$@"
}

# refused NAME PROBLEM ADVICE COMMAND ...: one sentence, which says what the problem is and what to do.
refused() {
  local name=$1 problem=$2 advice=$3 status=0
  shift 3
  "$@" >output 2>&1 || status=$?
  [[ $status == 3 ]] || fail "$name: exit code $status, not 3: $(cat output)"
  grep -qF -- "$problem" output || fail "$name: it does not say \"$problem\": $(cat output)"
  grep -qF -- "$advice" output || fail "$name: it does not advise \"$advice\": $(cat output)"
  [[ "$(grep '^paretopipe: ' output | grep -vc '^paretopipe: copies ')" == 1 ]] || fail "$name: not one sentence: $(cat output)"
  [[ ! -e refused ]] || fail "$name: it left a folder behind"
  nothing_runs "$name"
}

echo "== the same sweep here and over SSH"
devices pi
paretopipe sweep --model synthetic:1ms/40kB,1ms/40kB,1ms --data random --split all --batches 6 --warmup 1 --repeat 1 --repeat-slow 0 --out here >/dev/null
sweep there --repeat 1 >/dev/null
grep -q '"on":\["local","pi"\]' there/records.jsonl || fail "records do not name the devices"
paretopipe frontier there | grep -q 'on local | pi' || fail "tables do not name the devices"
nothing_runs "after a sweep"

paretopipe sweep --model synthetic:1ms/40kB,1ms --data random --on pi --on local --split 1 --batches 6 --warmup 1 --repeat 1 \
  --repeat-slow 0 --link tls --out encrypted >/dev/null

echo "== under load"
sweep load --repeat 1 --scenario server --rate 50 --queries 20 >output 2>&1 || fail "$(cat output)"
all_ok load 4 || fail "not all trials are ok: $(cat output)"
grep -q '"on":\["local","pi"\]' load/records.jsonl || fail "records do not name the devices"
nothing_runs "a load"

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
refused "a missing program" "/no/such/program: No such file" "run \`paretopipe devices deploy\`" sweep refused
devices pi /bin/false
refused "a wrong program" "exited with status 1" "\`paretopipe devices check\` says more" sweep refused
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
refused "another release" "is of release 0.0.1" "run \`paretopipe devices deploy\`" sweep refused
login_works="\`ssh\` to the device from a shell must work"
devices no-such-host.invalid
refused "an unresolvable name" "Could not resolve hostname no-such-host.invalid" "$login_works" sweep refused
devices stranger@pi
refused "a user without a key" "Permission denied" "$login_works" sweep refused
in_pi python3 -c 'import signal, socket; port = socket.create_server(("10.99.0.2", 27000)); print(flush=True); signal.pause()' >holds_port &
holder=$!
wait_until "a taken port" test -s holds_port
devices pi "$PARETOPIPE_STAGE" ', "ports": "27000"'
refused "a port that is taken" "10.99.0.2:27000: Address already in use" "or choose another port" sweep refused
kill "$holder"
devices pi "$PARETOPIPE_STAGE" ', "address": "10.99.0.77"'
refused "an address that is not the device's" "10.99.0.77" "choose an address of this host" sweep refused --trial-timeout 20
devices pi
cp known_hosts known_hosts.right
sed -i "s/ssh-ed25519 .*/$(cut -d' ' -f1,2 id.pub | sed 's/[\/&]/\\&/g')/" known_hosts
refused "a changed host key" "Host key verification failed" "$login_works" sweep refused
mv known_hosts.right known_hosts
close_pi "dport 2222"
refused "a firewall" "tried for" "check that the other side is running, that the port is right and that no firewall is between" \
  sweep refused --trial-timeout 20
open_pi

if [[ -x $bin/paretopipe-stage ]]; then
  # Fake stages have no files to keep.
  devices pi "$bin/paretopipe-stage"
  mkdir -p home/.cache
  mount -t tmpfs -o size=4k tmpfs home/.cache
  sweep_archive() {
    PARETOPIPE_STAGE=$bin/paretopipe-stage paretopipe sweep --model "$archive" --input 2x8x8 --cuts all --data random --on local --on pi \
      --split 1 --batches 6 --warmup 1 --repeat 1 --repeat-slow 0 --out "$1"
  }
  refused "a device without room for an archive" "stage 1 on pi cannot take $archive" "make room there" sweep_archive refused
  [[ -z "$(find home/.cache -type f)" ]] || fail "a part of the archive is left"
  umount home/.cache
  sweep_archive made_room >output 2>&1 || fail "there is room, and it fails: $(cat output)"
  nothing_runs "a device that has room again"
  rm -r home/.cache
  devices pi
else
  echo "SKIPPED: a device without room for an archive, for want of a paretopipe-stage"
fi

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

# Kills it at a random moment of a sweep, and lets --resume do the rest. False if there was nothing to kill.
killed_at_random() { # VICTIM
  local victim=$1 driver pid before=0 after was_hit=1
  rm -rf killed
  sweep killed --repeat 3 >output 2>&1 &
  driver=$!
  sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
  # It may not run yet, or not any more.
  until pid=$(pid_of "$victim") || ! kill -0 "$driver" 2>/dev/null; do sleep 0.01; done
  if [[ -n "$pid" ]] && kill -9 "$pid" 2>/dev/null; then was_hit=0; fi
  wait "$driver" || true
  nothing_runs "$victim killed"
  if [[ -e killed/records.jsonl ]]; then before=$(wc -l <killed/records.jsonl); fi
  sweep killed --repeat 3 --resume >output 2>&1 || fail "$victim killed: --resume: $(cat output)"
  after=$(wc -l <killed/records.jsonl)
  ((after >= before)) || fail "$victim killed: $before records became $after"
  all_ok killed 12 || fail "$victim killed: not all of 12 trials are ok: $(cat output)"
  return $was_hit
}
declare -A hits=()
for ((round = 0; round < ${ROUNDS:-15}; ++round)); do
  victim=${victims[round % ${#victims[@]}]}
  for ((try = 1; try <= 5; ++try)); do
    if killed_at_random "$victim"; then break; fi
  done
  ((try <= 5)) || fail "round $round: there was never a $victim to kill"
  hits[$victim]=$((${hits[$victim]:-0} + 1))
done
killed=
for victim in "${!hits[@]}"; do killed+=" $victim ${hits[$victim]},"; done
echo "killed in $round rounds:${killed%,}"

echo "== the frontier after a kill and --resume is that of an undisturbed sweep"
# Blocks wait asleep, so that even a busy machine keeps these apart: the periods of cuts 1, 2 and 3 are 140, 80 and 140 ms, and what
# they send doubles from one to the next.
far_apart() { # OUT [ARGUMENT ...]
  paretopipe sweep --model synthetic:20ms/2kB,60ms/4kB,60ms/8kB,20ms --data random --on local --on pi --split 1,2,3 --batches 4 \
    --warmup 1 --scenario offline --repeat 3 --repeat-slow 0 --out "$@"
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
for victim in "${victims[@]}"; do
  rm -rf killed
  far_apart killed >output 2>&1 &
  driver=$!
  wait_until "a first record" has_records killed 1
  kill -9 "$(pid_of "$victim")" || fail "there was no $victim to kill: $(cat output)"
  wait "$driver" || true
  nothing_runs "$victim killed"
  before=$(wc -l <killed/records.jsonl)
  far_apart killed --resume >output 2>&1 || fail "$victim killed: --resume: $(cat output)"
  [[ "$(members killed)" == "$undisturbed" ]] || fail "$victim killed: the frontier is $(members killed), not $undisturbed"
  echo "$victim killed, with $before records: the frontier is $undisturbed"
done
echo "all of it held"

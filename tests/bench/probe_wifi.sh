#!/usr/bin/env bash
# usage: probe_wifi.sh BIN_DIR PROFILE
# Measures a Wi-Fi link as a person would: two hosts (network namespaces of this kernel), the shipped profile `wifi` on the link
# between them (`net apply`), and `net probe`, which writes what it found to the file PROFILE. As root, on a kernel with netem, or in
# tests/uml/run.sh, where the file must be in the project's folder.
set -euo pipefail
bin=$(cd "$1" && pwd)
profile=$2
near=paretopipe-near-$$ far=paretopipe-far-$$
pids=()
clean_up() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  ip netns delete "$near" 2>/dev/null || true
  ip netns delete "$far" 2>/dev/null || true
}
trap clean_up EXIT
# Starts a paretopipe in a namespace, and returns when it has said the words.
start() { # NAMESPACE WORDS ARGUMENT...
  local namespace=$1 words=$2 line
  shift 2
  exec {output}< <(exec ip netns exec "$namespace" "$bin/paretopipe" "$@")
  pids+=($!)
  while read -r line <&"$output"; do
    echo "$line" >&2
    if [[ $line == *"$words"* ]]; then return; fi
  done
  echo "paretopipe $* ended without saying: $words" >&2
  exit 1
}

ip netns add "$near"
ip netns add "$far"
ip link add to-far netns "$near" type veth peer name to-near netns "$far"
ip -n "$near" address add 10.7.0.1/24 dev to-far
ip -n "$far" address add 10.7.0.2/24 dev to-near
ip -n "$near" link set to-far up
ip -n "$far" link set to-near up
start "$near" until net apply wifi --interface to-far --peer 10.7.0.2 --for 60s
start "$far" until net apply wifi --interface to-near --peer 10.7.0.1 --direction backward --for 60s
start "$far" listening net probe --listen 10.7.0.2:5001
ip netns exec "$near" "$bin/paretopipe" net probe 10.7.0.2:5001 --profile-out "$profile" >&2

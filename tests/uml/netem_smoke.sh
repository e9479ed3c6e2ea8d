#!/usr/bin/env bash
# Inside tests/uml/run.sh: two namespaces joined by a veth pair whose ends delay by 10 ms each must answer one another after
# 20 ms, and a user without privilege must be able to set up the same in a user namespace of its own.
set -euo pipefail

ip netns add near
ip netns add far
ip link add to-far netns near type veth peer name to-near netns far
ip -n near address add 10.7.0.1/24 dev to-far
ip -n far address add 10.7.0.2/24 dev to-near
ip -n near link set to-far up
ip -n far link set to-near up
tc -n near qdisc add dev to-far root netem delay 10ms
tc -n far qdisc add dev to-near root netem delay 10ms

# Says when it listens, then sends every byte back until the caller is gone.
# shellcheck disable=SC2016  # perl's variables
coproc ECHO { exec ip netns exec far perl -MIO::Socket::INET -e '
  my $server = IO::Socket::INET->new(LocalPort => 5000, Listen => 1) or die "listen: $@"; $| = 1; print "listening\n";
  my $peer = $server->accept or die; while (sysread($peer, my $byte, 1)) { syswrite($peer, $byte) }'; }
read -r -u "${ECHO[0]}" _

# The shortest of nine round trips, in microseconds: a busy machine makes any of them longer.
# shellcheck disable=SC2016  # the inner shell expands it
rtt=$(ip netns exec near bash -c '
  exec 3<>/dev/tcp/10.7.0.2/5000
  for _ in {1..9}; do
    before=${EPOCHREALTIME/[.,]/}; printf x >&3; read -r -N 1 -u 3 _; echo $((${EPOCHREALTIME/[.,]/} - before))
  done' | sort -n | head -n 1)
echo "round trip over 10 ms + 10 ms: $rtt us"
# A third delay would make it 30.
((rtt >= 20000 && rtt < 30000)) || { echo "that is not 20 ms" >&2; exit 1; }

setpriv --reuid 1000 --regid 1000 --clear-groups unshare --user --map-root-user --net bash -c '
  ip link add v0 type veth peer name v1 && tc qdisc add dev v0 root netem delay 3ms && tc qdisc show dev v0'

#!/usr/bin/env bash
# tests/hosts/with_two_hosts.sh COMMAND [ARGUMENT ...]: runs a command on a machine that has two hosts: this one, 10.99.0.1, and
# "pi", 10.99.0.2, which has a network namespace, an sshd and keys of its own and is reached as `ssh pi`. Both share the file
# system and the clock. Everything is in namespaces of its own and ends with the command; nothing of the caller's ssh is read or
# written. As root, or without any privilege where the kernel lets users make namespaces. The sshd is this machine's, or the one
# that scripts/fetch-servers unpacked.
#
# PI_PATH is the PATH of logins to pi, by default this one.
#
# For the command: HOSTS, a folder with ssh_config, keys and sshd.log, and PATH, whose ssh reads that ssh_config; HOME is a new
# one for both hosts, and PI a process in pi's network, for nsenter.
#
# Exit status: the command's; 77 if this machine cannot have two hosts, with the reason.
set -euo pipefail
cannot() { printf 'SKIPPED: two hosts: %s\n' "$*"; exit 77; }

servers=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/third_party/servers
sshd=(/usr/sbin/sshd)
if [[ ! -x ${sshd[0]} ]]; then
  # By its whole path: sshd starts itself again.
  sshd=(env "LD_LIBRARY_PATH=$(echo "$servers"/usr/lib/*-linux-gnu*)" "$servers/usr/sbin/sshd")
fi

if [[ "${INSIDE:-}" != 1 ]]; then
  [[ -x ${sshd[-1]} ]] || cannot "there is no sshd (scripts/fetch-servers fetches one, or install openssh-server)"
  command -v ssh >/dev/null || cannot "there is no ssh (the package openssh-client)"
  unprivileged=()
  [[ "$(id -u)" == 0 ]] || unprivileged=(--user --map-root-user)
  OUTER_UID=$(id -u) OUTER_GID=$(id -g)
  export OUTER_UID OUTER_GID
  unshare "${unprivileged[@]}" --net --mount true 2>/dev/null || cannot "the kernel refuses namespaces to this user"
  INSIDE=1 exec unshare "${unprivileged[@]}" --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi
unset INSIDE

HOSTS=$(mktemp -d)
trap 'rm -rf "$HOSTS"' EXIT
ip link set lo up
unshare --net sleep infinity &
PI=$!
# The namespace is there once it is another one.
until [[ "$(readlink "/proc/$PI/ns/net")" != "$(readlink /proc/self/ns/net)" ]]; do sleep 0.01; done
ip link add to-pi type veth peer name to-here netns "$PI"
ip address add 10.99.0.1/24 dev to-pi
ip link set to-pi up
nsenter --target "$PI" --net sh -c 'ip link set lo up; ip address add 10.99.0.2/24 dev to-here; ip link set to-here up'

user=$(id -un)
as_user=()
if ((OUTER_UID != 0)); then
  # sshd drops no rights that it does not have: it runs as the user outside, who needs a shell.
  user=tester
  { grep -v "^[^:]*:[^:]*:$OUTER_UID:" /etc/passwd; echo "tester:x:$OUTER_UID:$OUTER_GID::$HOSTS:/bin/bash"; } >"$HOSTS/passwd"
  mount --bind "$HOSTS/passwd" /etc/passwd
  as_user=(unshare --user --map-user="$OUTER_UID" --map-group="$OUTER_GID")
else
  # sshd wants a folder there, and a user without rights.
  mount -t tmpfs -o mode=755 tmpfs /run
  mkdir -m 755 /run/sshd
  if ! getent passwd sshd >/dev/null; then
    { cat /etc/passwd; echo "sshd:x:64999:65534::/run/sshd:/usr/sbin/nologin"; } >"$HOSTS/passwd"
    mount --bind "$HOSTS/passwd" /etc/passwd
  fi
fi

mkdir -m 700 "$HOSTS/home"
for key in host_key id; do ssh-keygen -q -t ed25519 -N '' -f "$HOSTS/$key" -C "$key"; done
cp "$HOSTS/id.pub" "$HOSTS/authorized_keys"
cat >"$HOSTS/sshd_config" <<X
Port 2222
ListenAddress 10.99.0.2
HostKey $HOSTS/host_key
PidFile $HOSTS/sshd.pid
AuthorizedKeysFile $HOSTS/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PermitUserEnvironment no
SetEnv HOME=$HOSTS/home PATH=${PI_PATH:-$PATH}
PrintMotd no
PrintLastLog no
UseDNS no
MaxStartups 100
MaxSessions 100
X
# Since version 9.8 it is several programs.
if [[ ${#sshd[@]} -gt 1 && -e $servers/usr/lib/openssh/sshd-session ]]; then
  echo "SshdSessionPath $servers/usr/lib/openssh/sshd-session" >>"$HOSTS/sshd_config"
  if [[ -e $servers/usr/lib/openssh/sshd-auth ]]; then echo "SshdAuthPath $servers/usr/lib/openssh/sshd-auth" >>"$HOSTS/sshd_config"; fi
fi
echo "[10.99.0.2]:2222 $(cut -d' ' -f1,2 "$HOSTS/host_key.pub")" >"$HOSTS/known_hosts"
cat >"$HOSTS/ssh_config" <<X
Host pi
  HostName 10.99.0.2
  Port 2222
  User $user
  IdentityFile $HOSTS/id
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile $HOSTS/known_hosts
  GlobalKnownHostsFile /dev/null
X
mkdir "$HOSTS/bin"
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$HOSTS/ssh_config" >"$HOSTS/bin/ssh"
chmod +x "$HOSTS/bin/ssh"
nsenter --target "$PI" --net "${as_user[@]}" "${sshd[@]}" -D -e -f "$HOSTS/sshd_config" 2>"$HOSTS/sshd.log" </dev/null &
for ((i = 0; i < 500; ++i)); do
  if [[ -s "$HOSTS/sshd.pid" ]]; then break; fi
  sleep 0.02
done
[[ -s "$HOSTS/sshd.pid" ]] || cannot "sshd does not start: $(tail -n 1 "$HOSTS/sshd.log")"

export HOSTS PI PATH="$HOSTS/bin:$PATH" HOME="$HOSTS/home"
"$@"

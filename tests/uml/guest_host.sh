#!/usr/bin/env bash
# Inside tests/uml/run.sh --tap, in the folder that host_sweep.sh made: the virtual machine becomes a host, 10.98.0.2, with an sshd.
# Ends when the folder has a file "done".
set -euo pipefail
ip address add 10.98.0.2/24 dev vec0
ip link set vec0 up
mkdir -p -m 755 /run/sshd
# Where the machine below gave no privilege, root is somebody else there, whose account counts as locked here.
printf 'root:*:19000:0:99999:7:::\n' >/run/shadow
mount --bind /run/shadow /etc/shadow
{ grep -v '^sshd:' /etc/passwd; echo "sshd:x:64999:65534::/run/sshd:/usr/sbin/nologin"; } >/run/passwd
mount --bind /run/passwd /etc/passwd
LD_LIBRARY_PATH=$2 "$1" -D -e -f "$PWD/sshd_config" 2>"$PWD/sshd.log" &
until [[ -e done ]]; do sleep 0.2; done

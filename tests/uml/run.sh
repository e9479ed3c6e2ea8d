#!/usr/bin/env bash
# tests/uml/run.sh [--time-limit SECONDS] [--memory SIZE] [--tap INTERFACE] COMMAND [ARGUMENT...]
# Runs a command as root of a small virtual machine: user-mode Linux, whose kernel has what the one below may lack (netem)
# and where root can shape, without any privilege out here. Needs Debian's package user-mode-linux.
#
# Inside: this machine's files, read-only, but for the project's folder and the current one, which can be written to (with
# your rights on them); an empty /tmp of its own; veth, namespaces, tc with netem, tbf, htb, prio; no network to outside, but
# for vec0, the other end of this machine's INTERFACE; one CPU; SIZE of memory (2G). The command starts in the current folder, with your PATH and no other variable of yours
# (use env to give it some). Its stdin is empty; its stdout and stderr come out here while it runs. Booting takes 3 s.
#
# Exit status: the command's; 2 bad usage; 77 this machine cannot do it (it says why, after the word SKIPPED); 70 the virtual
# machine ended before the command did; 124 out of time (600 s unless given, from the command's start: booting is not the
# command's time).
# Leaves no process behind, whatever ends it, and no file unless it is killed by kill -9.
set -euo pipefail

say() { printf 'tests/uml/run.sh: %s\n' "$*" >&2; }
usage() { echo "usage: tests/uml/run.sh [--time-limit SECONDS] [--memory SIZE] [--tap INTERFACE] COMMAND [ARGUMENT...]" >&2; exit 2; }
cannot() { say "SKIPPED: $*"; exit 77; }

limit=600
boot_limit=120  # booting takes 3 s, and many more where other work has the processors
memory=2G
network=()
while [[ "${1:-}" == --* ]]; do
  (($# >= 2)) || usage
  case "$1" in
    --time-limit) limit=$2 ;;
    --memory) memory=$2 ;;
    --tap) network=("vec0:transport=tap,ifname=$2,gro=1") ;;  # bulk transfers hang without gro
    *) usage ;;
  esac
  shift 2
done
if (($# == 0)) || ! [[ "$limit" =~ ^[1-9][0-9]*$ && "$memory" =~ ^[1-9][0-9]*[MG]$ ]]; then usage; fi

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
project=$(cd "$here/../.." && pwd -P)

command -v linux.uml >/dev/null ||
  cannot "there is no linux.uml here. Install the package user-mode-linux (Debian: apt-get install user-mode-linux)."
for program in unshare setpriv timeout perl; do
  command -v "$program" >/dev/null || cannot "there is no $program here, which this script needs."
done

# The virtual machine calls setsid and forks a process for each of its own; in a PID namespace they all die with the first.
contained=(unshare --pid --fork --kill-child)
"${contained[@]}" true 2>/dev/null || contained=(unshare --user --map-root-user --pid --fork --kill-child)
"${contained[@]}" true 2>/dev/null ||
  cannot "a PID namespace to keep the virtual machine in was refused (unshare --pid). Run this as root, or allow user" \
         "namespaces: sysctl kernel.unprivileged_userns_clone=1, and in a container its security profile."

shared=$(mktemp -d "${TMPDIR:-/tmp}/paretopipe-uml.XXXXXX")
machine='' printers=()
# shellcheck disable=SC2317  # the trap calls it
clean_up() {
  trap '' INT TERM HUP
  if [[ -n "$machine" ]]; then kill -KILL "$machine" 2>/dev/null || true; fi
  for printer in "${printers[@]}"; do kill "$printer" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$shared"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

cp "$here/init.sh" "$shared/init.sh"
chmod +x "$shared/init.sh"
printf '%q ' "$@" >"$shared/command"
printf '%s\0' "$project" "$PWD" "$PATH" >"$shared/settings"
touch "$shared/stdout" "$shared/stderr"

# Its memory is a file without a name. In a container /dev/shm is often too small, and a touched page too many is SIGBUS.
ram=/dev/shm
if [[ ! -w "$ram" ]] || (($(df --output=avail -B1 "$ram" | tail -n 1) < $(numfmt --from=iec "$memory"))); then ram=$shared; fi

# Its own limit ends it even where this script is stopped.
TMPDIR=$ram setpriv --pdeathsig KILL "${contained[@]}" timeout --signal=KILL $((boot_limit + limit)) \
  linux.uml mem="$memory" rootfstype=hostfs rootflags=/ ro init="$shared/init.sh" PARETOPIPE_SHARED="$shared" \
  uml_dir="$shared/uml/" "${network[@]}" con=null con0=null,fd:1 ssl=null \
  </dev/null >"$shared/console" 2>&1 &
machine=$!
tail -s 0.1 --pid="$machine" -c +1 -f "$shared/stdout" & printers+=($!)
tail -s 0.1 --pid="$machine" -c +1 -f "$shared/stderr" >&2 & printers+=($!)

end_if_late() {
  local late=$((SECONDS + boot_limit)) begun=false
  while kill -0 "$machine" 2>/dev/null; do
    if ! $begun && [[ -e "$shared/booted" ]]; then begun=true late=$((SECONDS + limit)); fi
    if ((SECONDS >= late)); then kill -KILL "$machine" 2>/dev/null || true; fi
    sleep 0.1
  done
}
end_if_late 2>/dev/null  # where bash says that it was killed
how=0
wait "$machine" || how=$?
machine=''
wait "${printers[@]}" || true
printers=()
if [[ -s "$shared/status" ]]; then exit "$(cat "$shared/status")"; fi
if ((how == 137 || how == 124)) && [[ -e "$shared/booted" ]]; then
  say "the command was still running after $limit s and was stopped; --time-limit gives it more."
  exit 124
fi
say "the virtual machine ended before the command did. The end of its console:"
tail -n 15 "$shared/console" >&2
if [[ -e "$shared/booted" ]]; then
  say "It had begun the command; $memory of memory may be too little (--memory)."
  exit 70
fi
if grep -q put_fp_registers "$shared/console"; then
  cannot "It has no room for all registers of this processor, as happens with Intel's AMX. Only another machine helps."
fi
cannot "It did not get as far as the command. It needs ptrace: in a container allow it (docker run" \
       "--cap-add=SYS_PTRACE --security-opt seccomp=unconfined), and see that kernel.yama.ptrace_scope is below 3."

#!/usr/bin/env bash
# with_cgroups.sh v1|v2 COMMAND [ARGUMENT...]: mounts the controllers cpu and memory, then runs the command. Inside of run.sh
# only, whose virtual machine has none mounted.
set -euo pipefail
[[ "${PARETOPIPE_UML:-}" == 1 ]] || { echo "with_cgroups.sh: this is for the virtual machine of run.sh" >&2; exit 2; }
version=$1
shift
if [[ "$version" == v2 ]]; then
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
else
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  for controller in cpu memory; do
    mkdir "/sys/fs/cgroup/$controller"
    mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller" ||
      { echo "SKIPPED: this kernel has no controller $controller of cgroup v1 (Debian 13's has not)." >&2; exit 77; }
  done
fi
"$@"

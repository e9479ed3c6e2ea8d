#!/usr/bin/env bash
# tests/hosts/as_nobody.sh COMMAND [ARGUMENT ...]: runs a command as a user without any privilege, where the caller is root.
#
# Exit status: the command's; 77 if there is no such user here, or nothing for it to run, with the reason.
set -euo pipefail
cannot() { printf 'SKIPPED: as nobody: %s\n' "$*"; exit 77; }

[[ "$(id -u)" == 0 ]] || cannot "the caller is no root, and so the tests beside this one have run without privilege"
command -v setpriv >/dev/null || cannot "there is no setpriv (the package util-linux)"
id nobody >/dev/null 2>&1 || cannot "there is no user nobody"
unprivileged=(setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups --no-new-privs --inh-caps=-all env HOME=/tmp)
for path; do
  # A build in a folder of root's own is not within reach.
  [[ ! -e $path ]] || "${unprivileged[@]}" test -r "$path" -a -x "$path" || cannot "this user may not read and execute $path"
done
cd /
exec "${unprivileged[@]}" "$@"

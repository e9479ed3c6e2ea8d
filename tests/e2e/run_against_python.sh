#!/usr/bin/env bash
# usage: run_against_python.sh BIN_DIR
# What `paretopipe run` writes, beside what Python's torchvision computes: run_against_python.py. Without torchvision
# (Debian's python3-torchvision) nothing is tested, which it says.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$1:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for python in python3 /usr/bin/python3; do
  if "$python" -c 'import torchvision' 2>/dev/null; then break; fi
  python=
done
if [[ -z "$python" ]]; then
  echo "SKIPPED: no python3 here has torchvision (apt install python3-torchvision): NOTHING WAS COMPARED WITH PYTHON" >&2
  exit 77
fi
"$python" -W ignore "$here/run_against_python.py" "$folder"

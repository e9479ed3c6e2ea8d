#!/usr/bin/env bash
# usage: run_against_python.sh BIN_DIR
# What `paretopipe run` writes, beside what Python's torchvision computes: run_against_python.py. Without torchvision
# (Debian's python3-torchvision) nothing is tested, which it says.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$1:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

source "$here/python_with_torchvision.sh" "NOTHING WAS COMPARED WITH PYTHON"
"$python" -W ignore "$here/run_against_python.py" "$folder"

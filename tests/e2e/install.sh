#!/usr/bin/env bash
# usage: install.sh BUILD_DIR
# What `cmake --install` puts elsewhere runs from there: the driver finds the stage beside it, whatever the current folder.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$1" --prefix "$folder/prefix" > "$folder/log"
cd /
"$folder/prefix/bin/paretopipe" --version
"$folder/prefix/bin/paretopipe" models alexnet --format json > "$folder/alexnet.json"
grep -q '"features.12"' "$folder/alexnet.json"
test -f "$folder/prefix/share/paretopipe/configs/quickstart.json"

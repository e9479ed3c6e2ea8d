#!/usr/bin/env bash
# usage: readme_commands.sh SOURCE_DIR BIN_DIR
# Runs every ```sh block of the README, word for word and in order, as a person would who has the programs on the PATH:
# one folder for all, and a block fails if any of its commands does. Set-up commands stand in ```console blocks: they are
# what brought us here. Exit status 77, for CTest to skip it, where a block could not be run whole.
set -euo pipefail
source_dir=$1
export PATH=$2:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$source_dir/configs" "$folder/"
cd "$folder"

awk -v prefix=block- '
  /^```sh$/ { inside = 1; file = sprintf("%s%03d.sh", prefix, ++count); printf "" > file; next }
  /^```$/   { inside = 0; next }
  inside    { print > file }' "$source_dir/README.md"

shopt -s nullglob
blocks=(block-*.sh)
result=0
if [[ ${#blocks[@]} -eq 0 ]]; then
  echo "the README has no sh block: nothing was run" >&2
  exit 1
fi
for block in "${blocks[@]}"; do
  echo "== $block"
  cat "$block"
  status=0
  bash -euo pipefail "$block" < /dev/null || status=$?
  if [[ $status == 3 ]] && grep -q '^paretopipe report ' "$block"; then
    echo "SKIPPED: $block: this build has no charting library, so that no report page was written." >&2
    result=77
  elif [[ $status != 0 ]]; then
    exit "$status"
  fi
done
echo "${#blocks[@]} blocks of the README ran"
exit "$result"

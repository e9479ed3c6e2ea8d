#!/usr/bin/env bash
# usage: readme_commands.sh SOURCE_DIR BIN_DIR
# Runs the README's commands word for word and in order, as a person would who has the programs on the PATH: one folder for
# all. What stands behind ```sh says what a block needs, and how it may end:
#   sh            nothing; every command must succeed
#   sh measured   a busy machine may spoil what it measures: a command may exit with 1, if the output says why
#   sh python     a Python that has torchvision, else the block is skipped; my.py, photos and weights are made here beforehand
#   sh cgroups    the right to limit processes, else the block is skipped: exit status 3; otherwise as measured
# A ```console block is not run, and a comment before it says why, or this fails: <!-- not run by the tests: REASON -->.
# Exit status 77, for CTest to skip it, where a block could not be run whole.
set -euo pipefail
source_dir=$1
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$2:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$source_dir/configs" "$folder/"
cd "$folder"

awk '
  /^```sh( |$)/ { inside = 1; kind = $2 == "" ? "plain" : $2; file = sprintf("block-%03d-%s.sh", ++count, kind); printf "" > file; next }
  /^```console$/ { if (last !~ /^<!-- not run by the tests: .* -->$/) { print FILENAME ":" FNR ": nothing says why this is not run" > "/dev/stderr"; wrong = 1 } }
  /^```$/   { inside = 0; next }
  inside    { print > file }
  /./       { last = $0 }
  END       { exit wrong }' "$source_dir/README.md"

result=0
skipped() { echo "SKIPPED: $1" >&2; result=77; }

# What a person would bring: a model of their own, weights that were trained elsewhere, photos and their classes.
prepare_python() {
  cat >my.py <<'PYTHON'
import torch, torchvision
def model():
    torch.manual_seed(0)
    return torchvision.models.resnet18()
torch.save(model().state_dict(), "resnet18-f37072fd.pth")
PYTHON
  "$python" -c 'import my' 2>/dev/null
  mkdir -p photos bin
  cp "$source_dir"/tests/golden/images/*.jpg photos/
  for _ in photos/*; do echo 7; done >classes.txt
  ln -sf "$(command -v "$python")" bin/python3
  export PATH=$folder/bin:$PATH
}

for python in python3 /usr/bin/python3 ""; do
  if [[ -z "$python" ]] || "$python" -c 'import torchvision' 2>/dev/null; then break; fi
done
if [[ -n "$python" ]]; then prepare_python; fi

run() { # BLOCK
  local status=0
  rm -f spoiled
  # shellcheck disable=SC2016  # the inner shell expands it
  if [[ $1 == *-measured.sh || $1 == *-cgroups.sh ]]; then
    bash -uo pipefail -c 'trap "case \$? in 1) touch spoiled ;; *) exit \$? ;; esac" ERR; . "./$1"; true' bash "$1" </dev/null
  else
    bash -euo pipefail "$1" </dev/null
  fi >output 2>&1 || status=$?
  cat output
  if [[ -e spoiled ]] && ! grep -qE 'invalid|MISSED|problem|no rate|slow window|kept from its work' output; then status=1; fi
  case "$status:$1" in
    0:*) ;;
    3:*-cgroups.sh) skipped "$1: $(tail -n 1 output)" ;;
    3:*) grep -q 'fetch-echarts' output && skipped "$1: $(tail -n 1 output)" ;;
    *) return "$status" ;;
  esac
}

shopt -s nullglob
blocks=(block-*.sh)
if [[ ${#blocks[@]} -eq 0 ]]; then
  echo "the README has no sh block: nothing was run" >&2
  exit 1
fi
for block in "${blocks[@]}"; do
  echo "== $block"
  cat "$block"
  if [[ $block == *-python.sh && -z "$python" ]]; then
    skipped "$block: no python3 here has torchvision (apt install python3-torchvision)"
    continue
  fi
  run "$block" || { echo "$block failed" >&2; exit 1; }
done
echo "${#blocks[@]} blocks of the README ran"
exit "$result"

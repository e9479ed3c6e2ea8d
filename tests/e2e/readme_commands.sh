#!/usr/bin/env bash
# usage: readme_commands.sh SOURCE_DIR BIN_DIR
# Runs the commands of README.md, of the manual, apps/paretopipe/README.md, and of configs/README.md, word for word and in order, as a person would
# who has the programs on the PATH. Each document has a fresh folder of its own. What stands behind ```sh says what a block
# needs, and how it may end:
#   sh            nothing; every command must succeed
#   sh measured   a busy machine may spoil what it measures: a command may exit with 1, if the output says why
#   sh python     a Python that has torchvision, else the block is skipped; my.py, photos and weights are made here beforehand
#   sh hosts      namespaces and sshd, else the block is skipped; another host is `ssh pi` (tests/hosts/with_two_hosts.sh);
#                 otherwise as measured
#   sh cgroups    the right to limit processes, else the block is skipped: exit status 3; otherwise as measured
# A ```console block is not run, and a comment before it says why, or this fails: <!-- not run by the tests: REASON -->.
# The commands in the README's table of tasks are not run here but are parts of the manual's, which this checks.
# Exit status 77, for CTest to skip it, where a block could not be run whole.
set -euo pipefail
source_dir=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PATH=$folder/bin:$2:$PATH

# Writes a document's sh blocks to block-NNN-KIND.sh in this folder.
split_blocks() { # DOCUMENT
  awk '
    /^```sh( |$)/ { inside = 1; kind = $2 == "" ? "plain" : $2; file = sprintf("block-%03d-%s.sh", ++count, kind); printf "" > file; next }
    /^```console$/ { if (last !~ /^<!-- not run by the tests: .* -->$/) { print FILENAME ":" FNR ": nothing says why this is not run" > "/dev/stderr"; wrong = 1 } }
    /^```$/   { inside = 0; next }
    inside    { print > file }
    /./       { last = $0 }
    END       { exit wrong }' "$1"
}

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
  mkdir -p photos "$folder/bin"
  cp "$source_dir"/tests/golden/images/*.jpg photos/
  for _ in photos/*; do echo 7; done >classes.txt
  ln -sf "$python" "$folder/bin/python3"
}

for python in python3 /usr/bin/python3 ""; do
  if [[ -z "$python" ]] || "$python" -c 'import torchvision' 2>/dev/null; then break; fi
done
if [[ -n "$python" ]]; then python=$(command -v "$python"); fi

run() { # BLOCK
  local status=0
  rm -f spoiled
  # shellcheck disable=SC2016  # the inner shell expands it
  local spoilable='trap "case \$? in 1) touch spoiled ;; *) exit \$? ;; esac" ERR; . "./$1"; true'
  if [[ $1 == *-measured.sh || $1 == *-cgroups.sh ]]; then
    bash -uo pipefail -c "$spoilable" bash "$1" </dev/null
  elif [[ $1 == *-hosts.sh ]]; then
    local there=$PATH  # has the programs
    if grep -q 'devices deploy' "$1"; then there=/usr/bin:/bin; fi
    PI_PATH=$there "$source_dir/tests/hosts/with_two_hosts.sh" bash -uo pipefail -c "$spoilable" bash "$1" </dev/null
  else
    bash -euo pipefail "$1" </dev/null
  fi >output 2>&1 || status=$?
  cat output
  if [[ -e spoiled ]] && ! grep -qE 'invalid|MISSED|problem|latency bound is not kept|slow window|kept from its work|were to be expected' output; then status=1; fi
  case "$status:$1" in
    0:*) ;;
    77:*-hosts.sh) skipped "$1: $(tail -n 1 output)" ;;
    3:*-cgroups.sh) skipped "$1: $(tail -n 1 output)" ;;
    3:*) grep -q 'fetch-echarts' output && skipped "$1: $(tail -n 1 output)" ;;
    *) return "$status" ;;
  esac
}

shopt -s nullglob
run_document() { # DOCUMENT
  local block blocks
  mkdir "$folder/$((++documents))"
  cd "$folder/$documents"
  cp -r "$source_dir/configs" .
  split_blocks "$source_dir/$1"
  blocks=(block-*.sh)
  if [[ ${#blocks[@]} -eq 0 ]]; then
    echo "$1 has no sh block: nothing was run" >&2
    return 1
  fi
  if [[ -n "$python" && -n "$(echo block-*-python.sh)" ]]; then prepare_python; fi
  for block in "${blocks[@]}"; do
    echo "== $1: $block"
    cat "$block"
    if [[ $block == *-python.sh && -z "$python" ]]; then
      skipped "$1: $block: no python3 here has torchvision (apt install python3-torchvision)"
      continue
    fi
    run "$block" || { echo "$1: $block failed" >&2; exit 1; }
  done
  echo "${#blocks[@]} blocks of $1 ran"
}

manual=apps/paretopipe/README.md
# shellcheck disable=SC2016  # the backquotes are the table's
tasks=$(sed -nE '/^\| to \| command \|$/,/^$/s/^.*\| `(.*)` \|$/\1/p' "$source_dir/README.md")
while read -r task; do
  if [[ -z "$task" ]] || ! grep -qF -- "$task" "$source_dir/$manual"; then
    echo "the README's table of tasks has \"$task\", which is in no command of $manual" >&2
    exit 1
  fi
done <<<"$tasks"

documents=0
run_document README.md
run_document "$manual"
run_document configs/README.md
exit "$result"

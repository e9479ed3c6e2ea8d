#!/usr/bin/env bash
# usage: torchvision_archives.sh BIN_DIR [--every-cut]
# Archives as people have them: torchvision's ResNet-18 and MobileNetV2, traced and scripted. The number of cuts must be
# what it is known to be, and cuts must not change a bit of the output (sweep fails otherwise): some of them, or, with
# --every-cut, all. Without torchvision (Debian's python3-torchvision) nothing is tested, which it says.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$1:$PATH
every_cut=${2:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

source "$here/python_with_torchvision.sh" "NO REAL ARCHIVE WAS TESTED"
"$python" "$here/torchvision_archives.py" "$folder" resnet18 mobilenet_v2 2>/dev/null

check() { # ARCHIVE CUTS BLOCKS SPLITS [CROSSING]
  local cuts=(--input 3x224x224 --cuts "$2" --max-crossing "${5:-1}") blocks
  blocks=$(paretopipe models "./$1.pt" "${cuts[@]}" --format json | grep -c '"name"')
  echo "$1, ${cuts[*]}: $blocks blocks"
  [[ $blocks == "$3" ]] || { echo "$1 has $blocks blocks with ${cuts[*]}, not $3" >&2; exit 1; }
  local splits=$4
  if [[ $every_cut == --every-cut ]]; then splits=all; fi
  paretopipe sweep --model "./$1.pt" "${cuts[@]}" --data random --split "$splits" \
    --batches 2 --warmup 0 --repeat 1 --repeat-slow 0 --out "$1-$2-${5:-1}"
}

for kind in traced scripted; do
  check "resnet18_$kind" unit 12 1,3,11
  check "mobilenet_v2_$kind" unit 34 1,9,33
done
check resnet18_traced all 23 2,20
check resnet18_scripted all 23 1,22
check resnet18_traced unit 28 3,9,22 2
check resnet18_scripted unit 28 6 2

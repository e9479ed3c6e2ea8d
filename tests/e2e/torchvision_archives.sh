#!/usr/bin/env bash
# usage: torchvision_archives.sh BIN_DIR
# Archives as people have them: torchvision's ResNet-18, MobileNetV2 and DenseNet-121, traced and scripted, and Swin-T. The number of cuts
# must be what it is known to be, and every cut is run in both modes: in eager mode none may change a bit of the output, in
# optimized mode none more than the mode's tolerance, or the sweep fails. Images of 64 pixels keep that short. Without
# torchvision (Debian's python3-torchvision) nothing is tested, which it says.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$1:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

source "$here/python_with_torchvision.sh" "NO REAL ARCHIVE WAS TESTED"
"$python" "$here/torchvision_archives.py" "$folder" resnet18 mobilenet_v2 densenet121 swin_t 2>/dev/null

check() { # ARCHIVE CUTS BLOCKS [CROSSING]
  local cuts=(--input 3x64x64 --cuts "$2" --max-crossing "${4:-1}") blocks compute
  blocks=$(paretopipe models "./$1.pt" "${cuts[@]}" --format json | grep -c '"name"')
  echo "$1, ${cuts[*]}: $blocks blocks"
  [[ $blocks == "$3" ]] || { echo "$1 has $blocks blocks with ${cuts[*]}, not $3" >&2; exit 1; }
  for compute in eager optimized; do
    paretopipe sweep --model "./$1.pt" "${cuts[@]}" --data random --compute "$compute" \
      --batches 2 --warmup 0 --repeat 1 --repeat-slow 0 --out "$1-$2-${4:-1}-$compute"
  done
}

for kind in traced scripted; do
  check "resnet18_$kind" unit 12
  check "mobilenet_v2_$kind" unit 34
done
check resnet18_traced all 23
check resnet18_scripted all 23
check resnet18_traced unit 28 2
check resnet18_scripted unit 28 2
check densenet121_traced unit 18
check densenet121_scripted unit 18
check swin_t_traced unit 41  # its dropout has probability 0

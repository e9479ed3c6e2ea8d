#!/usr/bin/env bash
# usage: train_against_python.sh BIN_DIR
# torchvision's ResNet-18 and MobileNetV2 as archives, traced and scripted, are trained for two steps of two micro-batches, by one device and
# by two stages. Every tensor of the saved weights must be the one that eager PyTorch trains, bit for bit, and PyTorch must load the file.
# After 50 steps the file of the two stages is that of one device, and the model that PyTorch makes of it knows the images that it learned and
# has, bit for bit, the logits of the built-in model with these weights, cut elsewhere.
# Without torchvision (Debian's python3-torchvision) nothing is tested, which it says.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$1:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

source "$here/python_with_torchvision.sh" "NO REAL ARCHIVE WAS TRAINED"

check() { # MODEL KIND: cut in the middle, and not at all
  local archive=(--model "./$1_$2.pt" --input 3x64x64) names blocks dropout split
  names=$(paretopipe models "./$1_$2.pt" --input 3x64x64 --task train --format json | sed -n 's/.*"name": "\(.*\)".*/\1/p')
  blocks=$(wc -l <<<"$names")
  dropout=$(grep -n 'classifier' <<<"$names" | head -n 1 | cut -d: -f1) || dropout=1  # no dropout
  for split in $((blocks / 2)) "$blocks"; do
    paretopipe train "${archive[@]}" --data tensor:images.safetensors --labels classes.txt --batch 2 --micro-batch 1 \
      --split "$split" --epochs 2 --lr 0.05 --momentum 0.9 --save "$1_$2_$split.safetensors"
    "$python" "$here/train_against_python.py" check . "$1" $((dropout - 1)) "$1_$2_$split.safetensors"
  done
}

fifty_steps() { # MODEL KIND: a cut changes no byte of what 50 steps make, and PyTorch computes with it
  for split in 4 "$3"; do
    paretopipe train --model "./$1_$2.pt" --input 3x64x64 --data tensor:images.safetensors --labels classes.txt --batch 2 --micro-batch 1 \
      --schedule 1f1b --split "$split" --epochs 50 --lr 0.01 --momentum 0.9 --save "fifty_$split.safetensors" | tail -n 2
  done
  cmp "fifty_4.safetensors" "fifty_$3.safetensors"
  paretopipe run --model "$1" --classes 10 --weights fifty_4.safetensors --compute eager --split 7 --input enlarged.safetensors \
    --output logits.safetensors
  "$python" "$here/train_against_python.py" logits . "$1" fifty_4.safetensors logits.safetensors
}

for model in resnet18 mobilenet_v2; do
  "$python" "$here/train_against_python.py" make . "$model" 2>/dev/null
  check "$model" traced
  check "$model" scripted
done
fifty_steps resnet18 traced 12

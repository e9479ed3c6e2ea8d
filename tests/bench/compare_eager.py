#!/usr/bin/env python3
"""Model compute of paretopipe against the same model in eager Python: same LibTorch, one thread, contiguous float32.

usage: compare_eager.py BENCH_MODEL_PROGRAM

Both sides live as long as a comparison and take turns, so that a slow spell of the machine hits both.
Needs torch and torchvision (Debian: python3-torchvision).
"""

import os
import statistics
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"

import torch  # noqa: E402  (the thread count must be set before)
import torchvision  # noqa: E402

TURNS = 7
CASES = [("mobilenet_v2", 1, 8), ("mobilenet_v2", 8, 2), ("resnet18", 1, 6), ("resnet18", 8, 1), ("alexnet", 1, 4), ("vgg16", 1, 1),
         ("resnet50", 1, 3), ("inception_v3", 1, 3)]


def python_model(name):
    options = {"aux_logits": False, "init_weights": False} if name == "inception_v3" else {}
    return getattr(torchvision.models, name)(weights=None, **options).eval()


def compare(program, name, batch, batches):
    model = python_model(name)
    size = 299 if name == "inception_v3" else 224
    inputs = torch.randn(batch, 3, size, size)
    other = subprocess.Popen([program, name, str(batch)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    other.stdout.readline()

    def ours():
        other.stdin.write(f"{batches}\n")
        other.stdin.flush()
        return int(other.stdout.readline()) / batches * 1e-6

    def theirs():
        begin = time.perf_counter_ns()
        for _ in range(batches):
            model(inputs)
        return (time.perf_counter_ns() - begin) / batches * 1e-6

    with torch.inference_mode():
        ours(), theirs()
        turns = [(ours(), theirs()) for _ in range(TURNS)]
    other.stdin.close()
    other.wait()
    ratio = statistics.median(mine / python for mine, python in turns)
    mine, python = (statistics.median(side) for side in zip(*turns))
    what = f"compute of {name}, batch {batch}: {mine:.1f} ms to Python's {python:.1f} ms"
    print(f"{what:<58} {ratio:>14.3f}   {'at most 1':<28} {'kept' if ratio <= 1 else 'MISSED'}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    for case in CASES:
        compare(sys.argv[1], *case)

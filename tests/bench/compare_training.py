#!/usr/bin/env python3
"""How long a step of training takes on one device, beside eager PyTorch on one thread, as a table in Markdown.

usage: compare_training.py FOLDER_OF_PROGRAMS [MODEL...]

Ours is `paretopipe sweep --task train` with the whole model on one stage; Python's is torchvision's model with torch.optim.SGD, on as many
images, which are random on both sides. They take turns, so that a slow spell of the machine hits both: medians over the turns, and ratios
within a turn. Needs torch and torchvision (Debian: python3-torchvision).
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"

import torch  # noqa: E402  (the thread count must be set before)
import torchvision  # noqa: E402

TURNS = 3
STEPS = 4
BATCH = 32
BLOCKS = {"mobilenet_v2": 20, "resnet18": 10}


def python_step_ms(model):
    network = getattr(torchvision.models, model)(num_classes=10)
    network.train()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    inputs, labels = torch.randn(BATCH, 3, 224, 224), torch.randint(10, (BATCH,))
    times = []
    for _ in range(STEPS + 1):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(network(inputs), labels).backward()
        optimizer.step()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times[1:])


def our_step_ms(programs, model):
    with tempfile.TemporaryDirectory() as folder:
        command = [programs / "paretopipe", "sweep", "--task", "train", "--model", model, "--split", BLOCKS[model], "--batch", BATCH,
                   "--data", "random", "--steps", STEPS, "--warmup", 1, "--repeat", 1, "--repeat-slow", 0, "--out", folder]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        record = json.loads(pathlib.Path(folder, "records.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    return record["summary"]["training"]["step"]["p50_ns"] / 1e6


def main():
    programs, models = pathlib.Path(sys.argv[1]), sys.argv[2:] or list(BLOCKS)
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    print("| model | paretopipe, ms a step | PyTorch eager, ms a step | ratio |\n| --- | ---: | ---: | ---: |")
    for model in models:
        turns = [(our_step_ms(programs, model), python_step_ms(model)) for _ in range(TURNS)]
        ours, pythons = (statistics.median(side) for side in zip(*turns))
        ratio = statistics.median(our / python for our, python in turns)
        print(f"| {model} | {ours:.0f} | {pythons:.0f} | {ratio:.2f} |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()

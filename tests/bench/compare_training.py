#!/usr/bin/env python3
"""How long a step of training takes on one device, beside eager PyTorch on one thread, as a table in Markdown.

usage: compare_training.py FOLDER_OF_PROGRAMS [SIZE...]

SIZE is that of the images: 224 and 32 if none is named. Ours is `paretopipe sweep --task train` with the whole model on one stage: the
built-in one at 224, torchvision's own as an archive at any other size. Python's is torchvision's model with torch.optim.SGD, on as many
images, which are random on both sides. They take turns, so that a slow spell of the machine hits both: medians over the turns, and ratios
within a turn. Needs torch and torchvision (Debian: python3-torchvision).
"""

import itertools
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
MODELS = ["mobilenet_v2", "resnet18"]


def python_step_ms(model, size):
    network = getattr(torchvision.models, model)(num_classes=10)
    network.train()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    inputs, labels = torch.randn(BATCH, 3, size, size), torch.randint(10, (BATCH,))
    times = []
    for _ in range(STEPS + 1):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(network(inputs), labels).backward()
        optimizer.step()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times[1:])


def flags_of(model, size, folder):
    """Of the built-in model, or of an archive that is written for it."""
    if size == 224:
        return [model, "--task", "train"]
    network = getattr(torchvision.models, model)(num_classes=10).eval()
    archive = pathlib.Path(folder, f"{model}.pt")
    torch.jit.trace(network, torch.randn(1, 3, size, size)).save(archive)
    return [archive, "--task", "train", "--input", f"3x{size}x{size}"]


def our_step_ms(programs, model, size):
    with tempfile.TemporaryDirectory() as folder:
        flags = flags_of(model, size, folder)
        describe = [programs / "paretopipe", "models", *flags, "--batch", BATCH, "--format", "json"]
        description = subprocess.run(list(map(str, describe)), check=True, stdout=subprocess.PIPE)
        blocks = len(json.loads(description.stdout)["blocks"])
        command = [programs / "paretopipe", "sweep", "--model", *flags, "--split", blocks, "--batch", BATCH, "--data", "random", "--steps", STEPS,
                   "--warmup", 1, "--repeat", 1, "--repeat-slow", 0, "--out", folder]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        record = json.loads(pathlib.Path(folder, "records.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    return record["summary"]["training"]["step"]["p50_ns"] / 1e6


def main():
    programs, sizes = pathlib.Path(sys.argv[1]), [int(size) for size in sys.argv[2:]] or [224, 32]
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    print("| model | images | paretopipe, ms a step | PyTorch eager, ms a step | ratio |\n| --- | ---: | ---: | ---: | ---: |")
    for size, model in itertools.product(sizes, MODELS):
        turns = [(our_step_ms(programs, model, size), python_step_ms(model, size)) for _ in range(TURNS)]
        ours, pythons = (statistics.median(side) for side in zip(*turns))
        ratio = statistics.median(our / python for our, python in turns)
        print(f"| {model} | {size} | {ours:.0f} | {pythons:.0f} | {ratio:.2f} |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()

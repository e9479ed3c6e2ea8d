#!/usr/bin/env python3
"""How long one batch of an unsplit model takes in each way to compute it, on one thread, as a table in Markdown.

usage: compare_compute.py BENCH_MODEL_PROGRAM [MODEL...]

Ours are the modes of --compute, in the environment that a sweep starts its stages in. Python's are torchvision's model in
eager mode, frozen, frozen in channels_last, and after torch.jit.optimize_for_inference. ONNX Runtime is the npm package
onnxruntime-node, where node finds it (NODE_PATH); without it its column stays empty.
All sides live as long as a comparison and take turns, so that a slow spell of the machine hits all of them: medians over
the turns, and ratios within a turn. Times are of the CPU (/proc/PID/task/*/schedstat), which is what a batch takes on one
thread that nothing interrupts; what else the machine does still costs caches and memory. Needs torch and torchvision (Debian: python3-torchvision).
"""

import copy
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

os.environ["OMP_NUM_THREADS"] = "1"

import torch  # noqa: E402  (the thread count must be set before)
import torchvision  # noqa: E402

TURNS = 5
TURN_S = 0.25  # of each side, roughly
MODELS = ["mobilenet_v2", "resnet18", "resnet50", "alexnet", "vgg16", "inception_v3"]
BATCHES = [1, 8]
PYTHON = ["Python eager", "Python frozen", "Python NHWC", "Python optimised"]
SIDES = ["optimized", "eager", *PYTHON, "ONNX Runtime"]
RATIOS = ["eager / Python eager", "optimized / best of Python", "optimized / ONNX Runtime"]
STAGE_ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}


class Process:
    """A side in a process of its own, which is told how many batches to run."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})})
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"{command[0]} did not get ready")

    def cpu_ns(self):
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)

    def __call__(self, batches):
        begin = self.cpu_ns()
        self.process.stdin.write(f"{batches}\n")
        self.process.stdin.flush()
        self.process.stdout.readline()
        return (self.cpu_ns() - begin) / batches * 1e-6

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Python:
    """A side in this process."""

    def __init__(self, model, inputs):
        self.model, self.inputs = model, inputs

    def __call__(self, batches):
        begin = time.process_time_ns()
        for _ in range(batches):
            self.model(self.inputs)
        return (time.process_time_ns() - begin) / batches * 1e-6

    def end(self):
        pass


def onnx_side(model, inputs, folder):
    file = pathlib.Path(folder) / "model.onnx"
    torch.onnx.export(model, inputs, str(file), opset_version=13)
    script = pathlib.Path(__file__).with_name("onnx_side.cjs")
    return Process(["node", str(script), str(file), *map(str, inputs.shape)])


def frozen(model, inputs):
    return torch.jit.freeze(torch.jit.trace(model, inputs))


def python_sides(model, inputs):
    by_pixel = inputs.to(memory_format=torch.channels_last)
    model_by_pixel = copy.deepcopy(model).to(memory_format=torch.channels_last)
    return {
        "Python eager": Python(model, inputs),
        "Python frozen": Python(frozen(model, inputs), inputs),
        "Python NHWC": Python(frozen(model_by_pixel, by_pixel), by_pixel),
        "Python optimised": Python(torch.jit.optimize_for_inference(frozen(model, inputs)), inputs),
    }


def sides_of(program, name, batch, folder):
    more = {"init_weights": False} if name == "inception_v3" else {}
    model = getattr(torchvision.models, name)(weights=None, **more).eval()
    size = 299 if name == "inception_v3" else 224
    inputs = torch.randn(batch, 3, size, size)
    sides = {mode: Process([program, name, str(batch), mode], STAGE_ENVIRONMENT) for mode in ("optimized", "eager")}
    sides |= python_sides(model, inputs)
    try:
        sides["ONNX Runtime"] = onnx_side(model, inputs, folder)
    except (OSError, RuntimeError) as error:
        print(f"without ONNX Runtime: {error}", file=sys.stderr)
    return sides


def row(program, name, batch):
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        sides = sides_of(program, name, batch, folder)
        counts = {side: max(1, round(TURN_S * 1e3 / min(run(1) for _ in range(2)))) for side, run in sides.items()}
        turns = [{side: run(counts[side]) for side, run in sides.items()} for _ in range(TURNS)]
        for side in sides.values():
            side.end()
    times = {side: statistics.median(turn[side] for turn in turns) for side in sides}
    ratios = [lambda turn: turn["eager"] / turn["Python eager"],
              lambda turn: turn["optimized"] / min(turn[side] for side in PYTHON)]
    if "ONNX Runtime" in times:
        ratios.append(lambda turn: turn["optimized"] / turn["ONNX Runtime"])
    cells = [f"{times[side]:.1f}" if side in times else "" for side in SIDES]
    cells += [f"{statistics.median(map(ratio, turns)):.2f}" for ratio in ratios] + [""] * (len(RATIOS) - len(ratios))
    print(f"| {name} | {batch} | " + " | ".join(cells) + " |", flush=True)


def main(program, names):
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    print("| model | batch | " + " | ".join([f"{side}, ms" for side in SIDES] + RATIOS) + " |")
    print("| --- | ---: |" + " ---: |" * (len(SIDES) + len(RATIOS)))
    for name in names or MODELS:
        for batch in BATCHES:
            row(program, name, batch)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])

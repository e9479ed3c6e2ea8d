#!/usr/bin/env python3
"""How far predictions are off, for scripts/figures: splits that were held out, of real models on this machine.

usage: predictions.py [--small] FOLDER    the table of held-out splits, in Markdown; records go into FOLDER

Of each model and number of stages, a few splits are measured to fit the pipeline (`predict --fit`), and others are predicted and then
measured (`predict --check`). Each number of stages has a network of its own, another one for the next model, so that all nine pairs are
measured of some models (a Latin square). Stages beyond the number of CPUs share them. What is in FOLDER already is not measured again.
VGG-16 is left out: to prepare and time its 630 runs of blocks takes more than half an hour. The programs are on the PATH; archives need a
Python with torchvision (Debian: python3-torchvision).
"""

import json
import math
import os
import random
import subprocess
import sys
import time

CNNS = ["alexnet", "resnet18", "resnet50", "mobilenet_v2", "inception_v3"]
ARCHIVES = ["squeezenet1_1", "mnasnet1_0"]
SYNTHETIC = "synthetic:10ms/200kB,12ms/400kB,18ms/200kB,8ms/100kB,14ms/40kB,9ms/40kB,11ms/20kB,7ms/20kB,6ms"
NETWORKS = {"loopback": None,
            "lan": {"both": {"delay": "100 us", "rate": "1 Gbit/s"}},
            "far": {"both": {"delay": "5 ms", "rate": "200 Mbit/s"}}}
STAGES = [2, 3, 4]
FITTED, HELD_OUT = 5, 4
ROUNDS = 3  # of a profile
PHASE_S = 0.7  # of measuring in each phase of a trial, and as many batches as fit


def say(text):
    print(text, file=sys.stderr, flush=True)


def paretopipe(*arguments, answers=(0, 1)):
    done = subprocess.run(["paretopipe", *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in answers:
        sys.exit(f"paretopipe {' '.join(arguments)} ended with {done.returncode}")
    return done.stdout


def python_with_torchvision():
    for python in ("python3", "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import torchvision"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    sys.exit("no python3 here has torchvision (Debian: apt-get install python3-torchvision)")


def archive(folder, name):
    file = f"{folder}/{name}.pt"
    if not os.path.exists(file):
        make = ("import sys, torch, torchvision; torch.manual_seed(1); m = getattr(torchvision.models, sys.argv[1])(weights=None).eval(); "
                "torch.jit.save(torch.jit.trace(m, torch.zeros(1, 3, 224, 224)), sys.argv[2])")
        subprocess.run([python_with_torchvision(), "-c", make, name, file + ".new"], check=True, stderr=subprocess.DEVNULL)
        os.replace(file + ".new", file)
    return ["--model", os.path.abspath(file), "--input", "3x224x224"]


def flags_of(folder, name):
    return archive(folder, name) if name in ARCHIVES else ["--model", SYNTHETIC if name == "synthetic" else name]


def profile_of(folder, name):
    """Both CPUs, one after the other."""
    file = f"{folder}/{name}.json"
    if not os.path.exists(file):
        say(f"profiling {name}")
        paretopipe("profile", *flags_of(folder, name), "--rounds", str(ROUNDS), "--out", file, answers=(0,))
    with open(file, encoding="utf-8") as text:
        return json.load(text)


def chain_of(folder, name, profile, stages):
    """A profile of as many devices: those that were profiled, again and again, as a sweep of so many stages places them."""
    file = f"{folder}/{name}-{stages}.json"
    count = len(profile["devices"])
    chain = dict(profile, devices=[profile["devices"][i % count] for i in range(stages)],
                 links=[dict(profile["links"][i % count], **{"from": i, "to": (i + 1) % stages}) for i in range(stages)])
    with open(file, "w", encoding="utf-8") as text:
        json.dump(chain, text)
    return file


def batches_for(profile):
    """As many as take PHASE_S through the whole model, at least six."""
    blocks = len(profile["model"]["blocks"])
    whole = next(run for run in profile["devices"][0]["runs"] if run["begin"] == 0 and run["end"] == blocks)
    return max(6, min(40, math.ceil(PHASE_S * 1e9 / sorted(whole["compute_ns"])[len(whole["compute_ns"]) // 2])))


def draw_splits(name, blocks, stages, fitted, held_out):
    """All local is always among those that are fitted: nothing crosses a link there."""
    draw = random.Random(f"{name}/{stages}")
    local, seen = [blocks] * (stages - 1), []
    while len(seen) < fitted + held_out - 1:
        cuts = sorted(draw.sample(range(1, blocks), stages - 1))
        if cuts not in seen:
            seen.append(cuts)
        if len(seen) == math.comb(blocks - 1, stages - 1):
            break
    held_out = min(held_out, len(seen) - (fitted - 1))  # where there are few, fewer are held out
    return [local] + seen[held_out:], seen[:held_out]


def sweep(folder, out, name, splits, stages, network, batches):
    conditions = ["--shaping", "none"]
    if NETWORKS[network]:
        file = f"{folder}/{network}-network.json"
        with open(file, "w", encoding="utf-8") as text:
            json.dump(NETWORKS[network], text)
        conditions = ["--network", os.path.abspath(file), "--shaping", "emulated"]
    partitions = [word for cuts in splits for word in ("--partitions", ",".join(map(str, cuts)))]
    for _ in range(2):  # trials that failed are measured again, once
        done = subprocess.run(["paretopipe", "sweep", *flags_of(folder, name), "--data", "random", "--stages", str(stages), *partitions,
                               *conditions, "--batches", str(batches), "--warmup", "2", "--repeat", "1", "--repeat-slow", "1",
                               "--out", out, *(["--resume"] if os.path.exists(out) else [])],
                              stdout=subprocess.DEVNULL, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"the sweep into {out} ended with {done.returncode}")
        if done.returncode == 0:
            break
    return conditions[:2] if NETWORKS[network] else []


def check(profile, fit, held_out, network):
    """Predictions of what was held out, or nothing where too few trials have a result."""
    done = subprocess.run(["paretopipe", "predict", profile, "--fit", fit, "--check", held_out, *network,
                           *(["--shaping", "emulated"] if network else []), "--format", "json"],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        say(f"{held_out}: left out, because too few of its trials have a result")
        return []
    return json.loads(done.stdout)["splits"]


def cases_of(splits, name, stages, network):
    cases = []
    for split in splits:
        for number in ("latency_ns", "throughput_image_per_s"):
            predicted, measured = split["predicted"][number], split["measured"][number]
            cases.append({"model": name, "stages": stages, "network": network, "number": number.split("_")[0],
                          "split": ",".join(map(str, split["split_points"])), "error": predicted["value"] / measured - 1,
                          "inside": predicted["low"] <= measured <= predicted["high"],
                          "band": (predicted["high"] - predicted["low"]) / 2 / predicted["value"], "missed": split["missed"]})
    return cases


def median(numbers):
    ordered = sorted(numbers)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def table(header, rows, words):
    print("| " + " | ".join(header) + " |")
    print("|" + " --- |" * words + " ---: |" * (len(header) - words))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def summary(cases):
    def errors(number):
        return f"{100 * median([abs(case['error']) for case in cases if case['number'] == number]):.1f} %"
    inside = sum(case["inside"] for case in cases) / len(cases)
    return [str(len(cases)), errors("latency"), errors("throughput"), f"{100 * inside:.0f} %",
            f"± {100 * median([case['band'] for case in cases]):.1f} %"]


def report(cases):
    if not cases:
        sys.exit("no trial has a result")
    columns = ["numbers", "median error of latency", "of throughput", "inside the 95 % band", "median band"]

    def rows_by(key):
        groups = {}
        for case in cases:
            groups.setdefault(key(case), []).append(case)
        return [[str(name), *summary(group)] for name, group in groups.items()]

    real = [case for case in cases if case["model"] != "synthetic"]
    table(["of all", *columns], [["real models", *summary(real)]] if real else [], 1)
    print()
    table(["stages, network", *columns], sorted(rows_by(lambda case: f"{case['stages']}, {case['network']}")), 1)
    print()
    table(["model", *columns], rows_by(lambda case: case["model"]), 1)
    print("\nThe worst rows:\n")
    worst = sorted(cases, key=lambda case: -abs(case["error"]))[:8]
    table(["model", "stages", "network", "split", "number", "the model of the pipeline missed", "error", "inside"],
          [[case["model"], str(case["stages"]), case["network"], case["split"], case["number"], case["missed"],
            f"{100 * case['error']:+.1f} %", "yes" if case["inside"] else "no"] for case in worst], 6)


def measure(folder, small):
    models = ["synthetic", *(["alexnet"] if small else CNNS + ARCHIVES)]
    cases = []
    for row, name in enumerate(models):
        profile = profile_of(folder, name)
        blocks, batches = len(profile["model"]["blocks"]), 6 if small else batches_for(profile)
        for column, stages in enumerate([2, 3] if small else STAGES):
            if math.comb(blocks - 1, stages - 1) < FITTED + 1:
                continue  # too few to hold any out
            chain = chain_of(folder, name, profile, stages)
            fitted, held_out = draw_splits(name, blocks, stages, FITTED, HELD_OUT)
            for network in ["loopback", "lan"] if small else [list(NETWORKS)[(row + column) % len(NETWORKS)]]:
                begin, where = time.monotonic(), f"{folder}/{name}-{stages}-{network}"
                sweep(folder, f"{where}-fit", name, fitted, stages, network, batches)
                flags = sweep(folder, f"{where}-held-out", name, held_out, stages, network, batches)
                cases += cases_of(check(chain, f"{where}-fit", f"{where}-held-out", flags), name, stages, network)
                say(f"{name}, {stages} stages, {network}: {time.monotonic() - begin:.0f} s")
    report(cases)


def main(arguments):
    small = "--small" in arguments
    rest = [argument for argument in arguments if argument != "--small"]
    if len(rest) != 1:
        sys.exit(__doc__)
    os.makedirs(rest[0], exist_ok=True)
    measure(rest[0], small)


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
"""What scripts/figures needs beyond a shell: figures in documents, and tables out of what was measured.

usage: figures.py check NAMES DOCUMENT...     every marker is known and closed (NAMES: with blanks between them)
       figures.py place NAME TEXT DOCUMENT... puts the file TEXT wherever a document has the figure NAME
       figures.py machine RECORDS             the line that says what was measured on
       figures.py splits CSV                  a table of splits, of what `frontier --format csv` writes
       figures.py promises [BEGINNING...]     a table of the rows on stdin, as the benches print them, or of some of them
       figures.py fidelity RECORDS...         a table of how exact the splits of each model are
       figures.py training EXPLAINED          a table of micro-batches, of what `explain --format json` writes
       figures.py around STATED               networks below.json and above.json, 20 % off the rate that `codecs --format json` states
       figures.py break-even FOLDER...        a table of codecs; of a FOLDER stated.json, and below and above, records and .explained.json
       figures.py codec-cuts CSV...           the best cut, and the cuts on the frontier, of each codec over each network
       figures.py codec-answer CSV...         a row a network: not splitting, the best cut without a codec, and that of any codec
       figures.py sort-quantisation CSV...    the published rows of sort quantisation, beside what was published
       figures.py guided FULL GUIDED S S      what a guided sweep found beside a full one, and the seconds that each took
       figures.py guided-again FULL GUIDED... how many trials each of several guided sweeps took, and what they left out
       figures.py recompute CSV...            what `--recompute` saves in memory, and costs in time
       figures.py training-published EXPLAINED...  who trains fastest, by how much, and why, beside what was published
       figures.py four-stages CSV SCHEMES     a table of schemes; a line of SCHEMES is MODEL SCHEME CUTS

A figure stands between the lines <!-- figure NAME --> and <!-- end of figure -->.
"""

import csv
import json
import os
import re
import sys

from codec_figures import around, break_even, codec_answer, codec_cuts, sort_quantisation
from figure_tables import MODELS, records_of, scientific, table, three

BEGIN = re.compile(r"<!-- figure (\S+) -->$")
END = "<!-- end of figure -->"


def parts_of(document):
    """The document's lines as pairs (figure's name or None, lines); the markers belong to the text around a figure."""
    parts, name = [(None, [])], None
    with open(document, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for number, line in enumerate(lines, 1):
        begin = BEGIN.match(line)
        if begin and name:
            sys.exit(f"{document}:{number}: the figure {begin[1]} begins before the figure {name} has ended")
        if line == END and not name:
            sys.exit(f"{document}:{number}: a figure ends that has not begun")
        if line == END:
            parts.append((None, []))
            name = None
        parts[-1][1].append(line)
        if begin:
            name = begin[1]
            parts.append((name, []))
    if name:
        sys.exit(f"{document}: the figure {name} has no end; this line ends it: {END}")
    return parts


def check(names, *documents):
    for document in documents:
        for name, _ in parts_of(document):
            if name and name not in names.split():
                sys.exit(f"{document}: scripts/figures does not know the figure {name}")


def place(name, text_file, *documents):
    with open(text_file, encoding="utf-8") as file:
        text = ["", *file.read().strip("\n").splitlines(), ""]
    parsed = {document: parts_of(document) for document in documents}
    having = [document for document, parts in parsed.items() if any(part == name for part, _ in parts)]
    if not having:
        sys.exit(f"no document has the figure {name}; this line in one begins it: <!-- figure {name} -->")
    for document in having:
        lines = [line for part, old in parsed[document] for line in (text if part == name else old)]
        with open(document + ".new", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        os.replace(document + ".new", document)


def machine(folder):
    record = records_of(folder)[0]
    host, provenance = record["stages"][0]["host"], record["provenance"]
    commit = provenance["git_state"].removesuffix("-dirty")
    dirty = commit != provenance["git_state"]
    print(f"*Measured on {provenance['started_at'][:10]}: {host['cpu_count']} CPUs ({host['cpu_model']}), "
          f"{host['memory_bytes'] / 2**30:.0f} GiB, {host['os']}, LibTorch {record['stages'][0]['compute']['torch_version']}, "
          f"commit {commit}{' with uncommitted changes' if dirty else ''}.*")


def interval(row, metric, unit):
    if not row[metric + "_low"]:
        return ""
    return f"{three(float(row[metric + '_low']) * unit)}–{three(float(row[metric + '_high']) * unit)}"


def cells_of(row):
    split, last = int(row["split"]), int(row["block_count"])
    name = f"{split}" + (" (all remote)" if split == 0 else " (all local)" if split == last else "")
    beaten_by = "; ".join(row["dominated_by"].split(" | "))
    cells = [name, three(float(row["latency_p50_ns"]) * 1e-6), interval(row, "latency_p50_ns", 1e-6),
             three(float(row["throughput_image_per_s"])), interval(row, "throughput_image_per_s", 1),
             three(float(row["payload_bytes"]) / 1024), three(float(row["speed_up_single"])),
             "**on it**" if row["on_frontier"] == "true" else f"beaten by {beaten_by}"]
    return [f"**{cell}**" if row["on_frontier"] == "true" and cell and "*" not in cell else cell for cell in cells]


def splits(csv_file):
    """Every third split, both ends, and what is on the frontier."""
    with open(csv_file, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    chosen = [row for row in rows
              if row["on_frontier"] == "true" or int(row["split"]) % 3 == 0 or row["split"] == row["block_count"]]
    table(["split", "latency_p50, ms", "95 %", "throughput, image/s", "95 %", "payload, KiB", "x all local", "frontier"],
          map(cells_of, chosen))


def number_in(text):
    return float(re.search(r"[-+]?[0-9]+(\.[0-9]+)?", text)[0])


def least_to_most(texts):
    """`+3 us`, `-9 us` become `-9 us to +3 us`; what is equal stands once."""
    if len(set(texts)) == 1:
        return texts[0]
    ordered = sorted(texts, key=number_in)
    return f"{ordered[0]} to {ordered[-1]}"


def promises(*chosen):
    """Rows whose names are the same before `: ` are cases of one promise and become one row."""
    cases = {}
    for line in sys.stdin:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 4 and line.startswith("|") and cells[0].startswith(chosen or ("",)):
            cases.setdefault(cells[0].split(": ")[0], []).append(cells)
    rows = []
    for what, same in cases.items():
        kept = sum(cells[3] == "kept" for cells in same)
        verdict = f"{kept} of {len(same)} kept" if len(same) > 1 else same[0][3]
        rows.append([same[0][0] if len(same) == 1 else f"{what}, {len(same)} cases", least_to_most([cells[1] for cells in same]),
                     least_to_most([cells[2] for cells in same]) if same[0][2] else "nothing", verdict if same[0][3] else ""])
    if not rows:
        sys.exit("the benches have printed no row")
    table(["measured (medians)", "result", "promised", ""], rows)


def fidelity(*folders):
    rows = []
    for folder in folders:
        records = records_of(folder)
        seen = [record["fidelity"] for record in records if record["status"] == "ok"]
        # The tolerance is 10^-4 of the largest logit, which no record has.
        share = [f["max_abs_difference"] / f["tolerance"] * 1e-4 for f in seen]
        unsplit = [f["unsplit_against_eager"]["max_abs_difference"] / f["unsplit_against_eager"]["tolerance"] * 1e-4 for f in seen]
        model = records[0]["trial"]["model"]
        rows.append([MODELS.get(model, model), f"{len(seen)} of {len(records)}", scientific(max(share)), scientific(max(unsplit))])
    table(["model", "splits within the tolerance", "largest difference of a split", "optimized to eager, unsplit"], rows)


def training(explained_file):
    with open(explained_file, encoding="utf-8") as file:
        found = json.load(file)["groups"][0]["configurations"]
    cut, alone = {}, {}
    for one in found:
        size = int(one["training"].split("/")[1])
        (alone if "all local" in one["label"] else cut)[size] = one
    batch = max(cut)

    def milliseconds(ns):
        return three(ns / batch / 1e6)

    rows = []
    for size in sorted(cut):
        one, single = cut[size], alone[size]
        busy = [sum(stage[part] for part in ("forward_ns", "backward_ns", "update_ns")) for stage in one["stages"]]
        rows.append([str(size), three(one["sample_per_s"]), three(one["bound_sample_per_s"]), three(single["sample_per_s"]),
                     f"{one['sample_per_s'] / single['sample_per_s']:.2f}", f"{100 * one['bubble']:.0f} %",
                     f"{100 * one['bubble_expected']:.0f} %", *[milliseconds(ns) for ns in busy]])
    table(["micro-batch", "two stages, sample/s", "their schedule's bound", "one device", "times", "bubble", "expected",
           *[f"stage {i} computes, ms a sample" for i in range(len(busy))]], rows)


# Samples per second as printed, by the file's name.
PUBLISHED = {"mobilenet": "pipeline 228.57, data parallel 376.47: 0.61 times", "roberta": "pipeline 61.53, data parallel 76.19: 0.81 times",
             "mobilenet-four": "pipeline 400.30 in 4 chunks, 397.30 in 8, data parallel 627.22: 0.64 times",
             "roberta-four": "pipeline 106.40 in 4 chunks, 96.40 in 2, data parallel 95.53: 1.11 times",
             "alexnet": "front-load best at small batches, close to end-load at large ones", "resnet50": "equal-load best, leaning to the later stages",
             "vgg16": "middle-load best"}


def training_published(*explained_files):
    rows, reasons = [], []
    for explained_file in explained_files:
        name = os.path.splitext(os.path.basename(explained_file))[0]
        with open(explained_file, encoding="utf-8") as file:
            groups = json.load(file)["groups"]
        for group in groups:
            title = f"{MODELS.get(group['settings']['model'], group['settings']['model'])}, batch {group['settings']['batch']}"
            measured = [one for one in group["configurations"] if "sample_per_s" in one]
            alone = [one for one in measured if "all local" in one["label"]]
            best = max(measured, key=lambda one: one["sample_per_s"])
            for number, one in enumerate(measured):
                trained = one["label"] if one["split_points"] else f"{one['label']} {one['training']}"
                rows.append([title, trained, three(one["sample_per_s"]), f"{one['sample_per_s'] / alone[0]['sample_per_s']:.2f}" if alone else "",
                             three(one["bound_sample_per_s"]), f"{100 * one['bubble']:.0f} %", "" if number else PUBLISHED.get(name, "")])
            fastest_cut = max((one for one in measured if one not in alone and one["split_points"]), key=lambda one: one["sample_per_s"])
            reasons.append(f"{title}{', four devices' if 'four' in name else ''}: fastest is {best['label']}. `explain` says of "
                           f"{fastest_cut['label']}: " + " ".join(fastest_cut["sentences"]))
    table(["model", "trained", "sample/s", "times one device", "its schedule's bound", "bubble", "published, sample/s"], rows)
    for reason in reasons:
        print()
        print(reason)


def recompute(*csv_files):
    """Of each file and schedule the fastest cut without recomputing, and the fastest one with it."""
    rows = []
    for csv_file in csv_files:
        with open(csv_file, encoding="utf-8", newline="") as file:
            found = list(csv.DictReader(file))
        fastest = {}
        for row in sorted(found, key=lambda row: float(row["step_time_ns"])):
            fastest.setdefault((row["schedule"], row["recompute"]), row)
        for schedule, recomputed in sorted(fastest, reverse=True, key=lambda key: (key[0] == "gpipe", key[1] == "false")):
            one, without = fastest[schedule, recomputed], fastest[schedule, "false"]
            step, memory = float(one["step_time_ns"]), float(one["peak_memory_bytes"])
            trained = f"{one['split']} {one['schedule']}/{one['micro_batch']}" + ("+recompute" if one["recompute"] == "true" else "")
            rows.append([MODELS.get(one["model"], one["model"]), trained, f"{step / 1e6:.0f}", f"{step / float(without['step_time_ns']):.2f}",
                         f"{memory / 2**20:.0f}", f"{memory / float(without['peak_memory_bytes']):.2f}"])
    table(["model", "trained", "a step, ms", "times", "memory of the fullest stage, MiB", "times"], rows)


def four_stages(csv_file, schemes_file):
    with open(csv_file, encoding="utf-8") as file:
        measured = {(row["model"], row["split"]): row for row in csv.DictReader(file)}
    with open(schemes_file, encoding="utf-8") as file:
        cuts = {(model, scheme): split for model, scheme, split in map(str.split, file)}
    not_measured = {key for key, split in cuts.items() if split == "-"}
    cuts = {key: split for key, split in cuts.items() if key not in not_measured}
    models = list(dict.fromkeys(model for model, _ in cuts))
    for model in models:
        named = {split for (of, _), split in cuts.items() if of == model}
        for (of, split), row in measured.items():
            if of == model and split not in named:
                alone = split == ",".join([row["block_count"]] * 3)
                cuts[model, "one device" if alone else "equal-time"] = split
    throughput = {key: float(measured[key[0], split]["throughput_image_per_s"]) for key, split in cuts.items()}
    schemes = list(dict.fromkeys(scheme for _, scheme in cuts))
    best = {model: max((scheme for scheme in schemes if (model, scheme) in cuts), key=lambda s: throughput[model, s]) for model in models}

    def cell(model, scheme):
        if (model, scheme) not in cuts:
            return ["not measured" if (model, scheme) in not_measured else "as one above", ""]
        value = three(throughput[model, scheme])
        shown = f"**{value}**" if best[model] == scheme else value
        where = "" if scheme == "one device" else f" at {cuts[model, scheme]}"
        return [shown + where, three(throughput[model, scheme] / throughput[model, "one device"])]

    ordered = sorted(schemes, key=lambda scheme: (scheme == "one device", scheme == "equal-time"))
    table(["scheme", *[text for model in models for text in (MODELS.get(model, model), "times one device")]],
          [[scheme, *[text for model in models for text in cell(model, scheme)]] for scheme in ordered])
    print()
    shares = [f"{100 * throughput[model, 'equal-load'] / throughput[model, best[model]]:.0f} % of the best for {MODELS.get(model, model)}"
              for model in models]
    print("Stages with equal numbers of layers reach " + ", ".join(shares) + ", as far as it was measured.")


def summaries_by_split(folder):
    by_split = {}
    for record in records_of(folder):
        if record["status"] == "ok":
            by_split.setdefault(tuple(record["trial"]["split_points"]), []).append(record["summary"])
    return by_split


def middle_speeds(by_split):
    return {split: (sorted(s["latency"]["p50_ns"] for s in found)[len(found) // 2],
                    sorted(s["throughput_image_per_s"] for s in found)[len(found) // 2]) for split, found in by_split.items()}


def frontier_splits(by_split):
    speeds = middle_speeds(by_split)
    return sorted(split for split, (latency, rate) in speeds.items()
                  if not any(l <= latency and r >= rate and (l, r) != (latency, rate) for l, r in speeds.values()))


def left_out(full, some):
    """Yields the splits on the full sweep's frontier that the guided one did not measure. With each of them comes the nearest split that it
    did measure, and by which share that is behind by the full sweep's numbers, in the one in which that is more."""
    speeds = middle_speeds(full)

    def behind(other, split):
        return max(speeds[other][0] / speeds[split][0], speeds[split][1] / speeds[other][1]) - 1

    for split in frontier_splits(full):
        if split not in some:
            yield split, *min((behind(other, split), other) for other in some if other in speeds)


def guided(full, some, full_s, some_s):
    def named(splits):
        return "; ".join(",".join(map(str, split)) for split in splits)

    everything, chosen = summaries_by_split(full), summaries_by_split(some)
    rows = []
    for name, by_split, seconds in (("all splits", everything, full_s), ("guided, profile included", chosen, some_s)):
        rows.append([name, named(frontier_splits(by_split)), str(sum(map(len, by_split.values()))), seconds])
    table(["sweep", "frontier", "trials", "s"], rows, words=2)
    missed = list(left_out(everything, chosen))
    print(f"\nThe guided sweep left out {named(split for split, *_ in missed) or 'none'} of the frontier of all splits.")
    for split, share, nearest in missed:
        print(f"To {named([split])} the nearest that it measured is {named([nearest])}, {100 * share:.1f} % behind.")


def guided_again(full, *some):
    everything = summaries_by_split(full)
    sweeps = [summaries_by_split(folder) for folder in some]
    trials = sorted(sum(map(len, chosen.values())) for chosen in sweeps)
    shares = [share for chosen in sweeps for _, share, _ in left_out(everything, chosen)]
    print(f"{len(some)} such guided sweeps took {', '.join(map(str, trials))} of {sum(map(len, everything.values()))} trials.")
    print(f"They left out {len(shares)} splits of the frontier of all splits. The nearest that they measured are at most "
          f"{100 * max(shares):.1f} % behind." if shares else "None of them left out any of the frontier of all splits.")


COMMANDS = {"guided": guided, "guided-again": guided_again, "check": check, "place": place, "machine": machine, "splits": splits, "promises": promises, "fidelity": fidelity, "training": training,
            "training-published": training_published, "recompute": recompute, "around": around, "break-even": break_even,
            "codec-cuts": codec_cuts, "codec-answer": codec_answer, "sort-quantisation": sort_quantisation, "four-stages": four_stages}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])

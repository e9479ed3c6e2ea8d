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
       figures.py training-published EXPLAINED...  who trains fastest, by how much, and why, beside what was published
       figures.py four-stages CSV SCHEMES     a table of schemes; a line of SCHEMES is MODEL SCHEME CUTS

A figure stands between the lines <!-- figure NAME --> and <!-- end of figure -->.
"""

import csv
import json
import os
import re
import statistics
import sys

BEGIN = re.compile(r"<!-- figure (\S+) -->$")
END = "<!-- end of figure -->"
MODELS = {"alexnet": "AlexNet", "vgg16": "VGG-16", "resnet18": "ResNet-18", "resnet50": "ResNet-50", "resnet101": "ResNet-101",
          "mobilenet_v2": "MobileNetV2", "inception_v3": "Inception v3", "densenet121": "DenseNet-121",
          "densenet_cifar": "DenseNet for CIFAR", "vit_b_16": "ViT-B/16", "roberta_base": "RoBERTa"}


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


def records_of(folder):
    """Of each trial the last record: --resume measures again what failed."""
    with open(f"{folder}/records.jsonl", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return list({record["id"]: record for record in records}.values())


def machine(folder):
    record = records_of(folder)[0]
    host, provenance = record["stages"][0]["host"], record["provenance"]
    commit = provenance["git_state"].removesuffix("-dirty")
    dirty = commit != provenance["git_state"]
    print(f"*Measured on {provenance['started_at'][:10]}: {host['cpu_count']} CPUs ({host['cpu_model']}), "
          f"{host['memory_bytes'] / 2**30:.0f} GiB, {host['os']}, LibTorch {record['stages'][0]['compute']['torch_version']}, "
          f"commit {commit}{' with uncommitted changes' if dirty else ''}.*")


def three(value):
    """Three digits that count, and never an exponent."""
    if value == 0:
        return "0"
    return f"{float(f'{value:.3g}'):.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def table(header, rows, words=1):
    """In Markdown; numbers are to the right, the first columns (`words`) are words."""
    print("| " + " | ".join(header) + " |")
    print("|" + " --- |" * words + " ---: |" * (len(header) - words))
    for row in rows:
        print("| " + " | ".join(row) + " |")


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


def scientific(value):
    return f"{value:.1e}" if value else "0"


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


def stated_in(file_name):
    """What `codecs` says of the one codec beside none."""
    with open(file_name, encoding="utf-8") as file:
        return next(one for one in json.load(file) if one["codec"] != "none")


def around(stated_file):
    rate = stated_in(stated_file)["break_even_bit_per_s"]
    for name, share in (("below", 0.8), ("above", 1.2)):
        with open(f"{name}.json", "w", encoding="utf-8") as file:
            json.dump({"both": {"rate": f"{round(rate * share)} bit/s"}}, file)


def rows_of(csv_file):
    with open(csv_file, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def explained_break_even(explained_file):
    with open(explained_file, encoding="utf-8") as file:
        found = json.load(file)["groups"][0]["configurations"]
    return next(one["codec_effect"]["break_even_bit_per_s"] for one in found if "codec_effect" in one)


def crossing_ms(record):
    """The mean latency of a batch without what its stages compute, which no codec changes and which scatters most."""
    return sum(part["mean_ns"] for part in record["summary"]["breakdown"] if part["part"] != "compute") / 1e6


def break_even(*folders):
    rows = []
    for folder in folders:
        stated = stated_in(f"{folder}/stated.json")
        cells, explained = [], []
        for side in ("below", "above"):
            crossings = {}
            for record in records_of(f"{folder}/{side}"):
                if record["status"] == "ok":
                    trial = record["trial"]
                    crossings.setdefault(trial["repetition"], {})[trial.get("codec", "none")] = crossing_ms(record)
            pairs = [(one["none"], one[stated["codec"]]) for one in crossings.values() if len(one) == 2]
            as_stated = sum((encoded < plain) == (side == "below") for plain, encoded in pairs)
            plain, encoded = (statistics.median(of_side) for of_side in zip(*pairs))
            cells += [f"{three(plain)}, {three(encoded)} ms", f"{as_stated} of {len(pairs)}"]
            explained.append(explained_break_even(f"{folder}/{side}.explained.json"))
        title = f"{MODELS.get(trial['model'], trial['model'])} at split {trial['split_points'][0]}, batch {trial['batch']}; `{stated['codec']}`"
        rows.append([title, three(stated["break_even_bit_per_s"] / 1e6), " and ".join(three(rate / 1e6) for rate in explained), *cells])
    table(["model, codec", "break-even by `codecs`, Mbit/s", "by `explain`", "over 20 % less: all but computing, without and with", "it pays",
           "over 20 % more", "it does not"], rows)


def name_of(row):
    return MODELS.get(row["model"], row["model"])


def ms_of(row):
    return three(float(row["latency_p50_ns"]) / 1e6)


def image_per_s(row):
    return float(row["throughput_image_per_s"])


def network_of(rows):
    return f"{rows[0]['network_name']} Mbit/s"


def is_cut(row):
    return row["throughput_image_per_s"] and row["split"] != row["block_count"]


def beaten(row, rows):
    """By one with at least its throughput and at most its latency, and not both equal."""
    def numbers(one):
        return image_per_s(one), -float(one["latency_p50_ns"])
    return any(numbers(one) != numbers(row) and all(a >= b for a, b in zip(numbers(one), numbers(row))) for one in rows)


def codec_cuts(*csv_files):
    measured = {network_of(rows): rows for rows in map(rows_of, csv_files)}
    codecs = list(dict.fromkeys(row["codec"] for rows in measured.values() for row in rows if is_cut(row)))
    columns = [f"{network}: {what}" for network in measured for what in ("image/s", "latency, ms", "its frontier")]
    table_rows, kept = [], {}
    for codec in codecs:
        cells = []
        for rows in measured.values():
            own = [row for row in rows if is_cut(row) and row["codec"] == codec]
            whole = [row for row in rows if row["throughput_image_per_s"] and not is_cut(row)]
            fastest, shortest = max(own, key=image_per_s), min(own, key=lambda row: float(row["latency_p50_ns"]))
            cells += [bold_on_frontier(fastest, f"{three(image_per_s(fastest))} at {fastest['split']}"),
                      bold_on_frontier(shortest, f"{ms_of(shortest)} at {shortest['split']}"),
                      ", ".join(row["split"] for row in own if not beaten(row, own + whole)) or "not splitting"]
            kept[codec] = min([float(row["top1_agreement"]) for row in own if row["top1_agreement"]] + [kept.get(codec, 1)])
        table_rows.append([codec, *cells, f"{100 * kept[codec]:.3g} %"])
    cells = []
    for rows in measured.values():
        whole = next(row for row in rows if row["throughput_image_per_s"] and not is_cut(row))
        cells += [bold_on_frontier(whole, three(image_per_s(whole))), bold_on_frontier(whole, ms_of(whole)), ""]
    table(["codec", *columns, "top-1 kept, least"], [*table_rows, ["not splitting", *cells, ""]])


def bold_on_frontier(row, cell):
    return f"**{cell}**" if row["on_frontier"] == "true" else cell


def low_of(row):
    return float(row["throughput_image_per_s_low"])


def high_of(row):
    return float(row["throughput_image_per_s_high"])


def codec_answer(*csv_files):
    """Only intervals that do not overlap are an answer."""
    table_rows = []
    for rows in map(rows_of, csv_files):
        cuts = [row for row in rows if is_cut(row)]
        whole = next(row for row in rows if row["throughput_image_per_s"] and not is_cut(row))
        plain = max((row for row in cuts if row["codec"] == "none"), key=image_per_s)
        best = max((row for row in cuts if not row["top1_agreement"] or float(row["top1_agreement"]) >= 0.99), key=image_per_s)
        if low_of(best) > high_of(whole):
            answer = f"cut after block {best['split']}: {image_per_s(best) / image_per_s(whole):.2f} times"
        else:
            answer = "do not split" if high_of(best) < low_of(whole) else "too close to tell"
        table_rows.append([network_of(rows), three(image_per_s(whole)), f"{three(image_per_s(plain))} at {plain['split']}",
                           f"{three(image_per_s(best))} at {best['split']}, `{best['codec']}`", answer])
    table(["link", "not splitting, image/s", "best cut without a codec", "with one that keeps 99 % of the classes", "answer"], table_rows)


# Top-1 accuracies as printed, by bits.
PUBLISHED_ACCURACY = {"mobilenet_v2": {"sort16": "96.0 %", "sort12": "95.9 %", "sort8": "95.7 %", "sort4": "87.1 %"},
                      "roberta_base": {"sort16": "79.6 %", "sort12": "79.6 %", "sort8": "79.4 %", "sort4": "52.2 %"}}


def sort_quantisation(*csv_files):
    table_rows = []
    for row in (row for csv_file in csv_files for row in rows_of(csv_file)):
        if not row["payload_bytes"]:
            continue
        def number(column, scale=1.0):
            return float(row[column]) * scale
        table_rows.append([name_of(row), row["split"].replace("|", ", "), f"`{row['codec']}`", f"{number('payload_bytes', 1e-6):.1f}",
                           f"{number('receive_rate_byte_per_s', 1e-9):.2f}", f"{number('goodput_byte_per_s', 1e-9):.2f}",
                           f"{number('codec_ns', 1e-6):.1f}", f"{number('latency_p50_ns', 1e-9):.2f}", f"{number('top1_agreement', 100):.1f} %",
                           scientific(number("mean_abs_difference")),
                           PUBLISHED_ACCURACY[row["model"]].get(row["codec"].removesuffix("-wide"), "")])
    table(["model", "cuts", "codec", "MB forward", "`receive_rate`, GB/s", "goodput, GB/s", "encode + decode, ms", "batch, s", "top-1 kept",
           "mean error", "published accuracy"], table_rows)


# Samples per second as printed, of a pipeline on two devices against data parallelism on as many.
PUBLISHED = {"mobilenet_v2": "pipeline 228.57, data parallel 376.47: 0.61 times", "roberta_base": "pipeline 61.53, data parallel 76.19: 0.81 times",
             "alexnet": "front-load fastest at small batches"}


def training_published(*explained_files):
    rows, reasons = [], []
    for explained_file in explained_files:
        with open(explained_file, encoding="utf-8") as file:
            group = json.load(file)["groups"][0]
        model = group["settings"]["model"]
        measured = [one for one in group["configurations"] if "sample_per_s" in one]
        alone = [one for one in measured if "all local" in one["label"]]
        best = max(measured, key=lambda one: one["sample_per_s"])
        for number, one in enumerate(measured):
            rows.append([MODELS.get(model, model), one["label"], three(one["sample_per_s"]),
                         f"{one['sample_per_s'] / alone[0]['sample_per_s']:.2f}" if alone else "",
                         three(one["bound_sample_per_s"]), f"{100 * one['bubble']:.0f} %", "" if number else PUBLISHED.get(model, "")])
        fastest_cut = max((one for one in measured if one not in alone and one["split_points"]), key=lambda one: one["sample_per_s"])
        reasons.append(f"{MODELS.get(model, model)}: fastest is {best['label']}. `explain` says of {fastest_cut['label']}: "
                       + " ".join(fastest_cut["sentences"]))
    table(["model", "trained", "sample/s", "times one device", "its schedule's bound", "bubble", "published, sample/s"], rows)
    for reason in reasons:
        print()
        print(reason)


def four_stages(csv_file, schemes_file):
    with open(csv_file, encoding="utf-8") as file:
        measured = {(row["model"], row["split"]): row for row in csv.DictReader(file)}
    with open(schemes_file, encoding="utf-8") as file:
        cuts = {(model, scheme): split for model, scheme, split in map(str.split, file)}
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
            return ["as one above", ""]
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
    print("The same number of layers for every stage gives " + ", ".join(shares) + ".")


def guided(full, some, full_s, some_s):
    def measured(folder):
        by_split = {}
        for record in records_of(folder):
            if record["status"] == "ok":
                by_split.setdefault(tuple(record["trial"]["split_points"]), []).append(record["summary"])
        return by_split

    def frontier(by_split):
        middle = {split: (sorted(s["latency"]["p50_ns"] for s in found)[len(found) // 2],
                          sorted(s["throughput_image_per_s"] for s in found)[len(found) // 2]) for split, found in by_split.items()}
        return sorted(split for split, (latency, rate) in middle.items()
                      if not any(l <= latency and r >= rate and (l, r) != (latency, rate) for l, r in middle.values()))

    def named(splits):
        return "; ".join(",".join(map(str, split)) for split in splits)

    everything, chosen = measured(full), measured(some)
    rows = []
    for name, by_split, seconds in (("all splits", everything, full_s), ("guided, profile included", chosen, some_s)):
        rows.append([name, named(frontier(by_split)), str(sum(map(len, by_split.values()))), seconds])
    table(["sweep", "frontier", "trials", "s"], rows, words=2)
    missed = [split for split in frontier(everything) if split not in chosen]
    print(f"\nThe guided sweep left out {named(missed) or 'none'} of the frontier of all splits.")


COMMANDS = {"guided": guided, "check": check, "place": place, "machine": machine, "splits": splits, "promises": promises, "fidelity": fidelity, "training": training,
            "training-published": training_published, "around": around, "break-even": break_even,
            "codec-cuts": codec_cuts, "codec-answer": codec_answer, "sort-quantisation": sort_quantisation, "four-stages": four_stages}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])

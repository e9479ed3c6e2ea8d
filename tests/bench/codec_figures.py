"""The figures of codecs."""

import csv
import json
import statistics

from figure_tables import MODELS, records_of, scientific, table, three


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

#!/usr/bin/env python3
"""Writes codecs.json: tensors, and what the codecs make of them by their definitions, with nothing but a sort.

Independent of the C++ codecs on purpose. Arithmetic is that of float32: every operation is done in double precision and
rounded, which for one operation is the same as rounding once. Run it in this folder after a definition has changed.
"""
import json
import math
import random
import struct


def f32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def rounded(number):
    """To the nearest integer, halves to the even one."""
    return round(number)


def levels(values, count):
    low, high = min(values), max(values)
    return low, f32(f32(high - low) / (count - 1))


def code(value, low, step, count):
    if step == 0:
        return 0
    return min(rounded(f32(f32(value - low) / step)), count - 1)


def value_of(number, low, step):
    return f32(low + f32(number * step))


def packed(codes, bits):
    stream = 0
    for place, number in enumerate(codes):
        stream |= number << (place * bits)
    return stream.to_bytes((len(codes) * bits + 7) // 8, "little")


def affine(values, bits, channel_of, channels):
    """Levels of each channel between its minimum and maximum."""
    count = 1 << bits
    of_channel = [levels([v for i, v in enumerate(values) if channel_of(i) == c], count) for c in range(channels)]
    codes = [code(v, *of_channel[channel_of(i)], count) for i, v in enumerate(values)]
    decoded = [value_of(number, *of_channel[channel_of(i)]) for i, number in enumerate(codes)]
    return b"".join(struct.pack("<ff", *pair) for pair in of_channel) + packed(codes, bits), decoded


def sort_quantised(values, group_bits, level_bits, carried):
    """Sort, cut into 2^s groups of equal count, and round within each group."""
    groups, count = 1 << group_bits, 1 << level_bits
    order = sorted(range(len(values)), key=lambda i: values[i])
    codes, decoded, header = [0] * len(values), [0.0] * len(values), b""
    for group in range(groups):
        members = order[group * len(values) // groups : (group + 1) * len(values) // groups]
        low, step = levels([values[i] for i in members], count)
        header += struct.pack("<ff", low, step)
        for i in members:
            within = code(values[i], low, step, count)
            codes[i], decoded[i] = group * count + within, value_of(within, low, step)
    return header + packed(codes, carried), decoded


def half(values):
    body = b"".join(struct.pack("<e", v) for v in values)
    return body, [struct.unpack("<e", body[2 * i : 2 * i + 2])[0] for i in range(len(values))]


def upper_half(values):
    codes = []
    for value in values:
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        codes.append((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)
    return packed(codes, 16), [struct.unpack("<f", struct.pack("<I", number << 16))[0] for number in codes]


IMAGE = "an image"
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def normalised(pixel, colour):
    """As torchvision's Normalize does it, of pixels between 0 and 255."""
    share = f32(f32(pixel) / 255)
    return f32(f32(share - f32(MEAN[colour])) / f32(DEVIATION[colour]))


def pixels(values, colour_of):
    """The nearest of the 256 levels of each colour."""
    codes = []
    for i, value in enumerate(values):
        levels = [normalised(pixel, colour_of(i)) for pixel in range(256)]
        codes.append(min(range(256), key=lambda pixel: abs(levels[pixel] - value)))
    return bytes(codes), [normalised(number, colour_of(i)) for i, number in enumerate(codes)]


def tensors():
    draw = random.Random(1)
    normal = [f32(draw.gauss(0, 1)) for _ in range(4 * 6 * 5)]
    yield "normal", normal, 6, 5
    yield "after a ReLU", [max(v, 0.0) for v in normal], 6, 5
    yield "few different values", [f32(math.floor(v * 2) / 2) for v in normal], 6, 5
    yield "one odd value", [v * (40 if i == 7 else 1) for i, v in enumerate(normal)], 6, 5
    yield "rows of channels", normal, 6, 1
    yield "all equal", [f32(0.1)] * 30, 3, 5
    yield "an odd number", normal[:101], 1, 101
    yield IMAGE, [normalised(draw.uniform(0, 255), i // 5 % 3) for i in range(2 * 3 * 5)], 3, 5
    yield "more than are sorted at once", [f32(draw.gauss(0, 1)) for _ in range(5001)], 1, 5001


def main():
    cases = []
    for name, values, channels, stride in tensors():
        values = [f32(v) for v in values]
        by_channel = lambda i: i // stride % channels
        made = {
            "float16": half(values),
            "bfloat16": upper_half(values),
            "uniform8": affine(values, 8, lambda i: 0, 1),
            "channel8": affine(values, 8, by_channel, channels),
            "channel4": affine(values, 4, by_channel, channels),
            "sort16": sort_quantised(values, 4, 12, 16),
            "sort12": sort_quantised(values, 3, 9, 12),
            "sort12-wide": sort_quantised(values, 3, 9, 16),
            "sort8": sort_quantised(values, 2, 6, 8),
            "sort4": sort_quantised(values, 1, 3, 4),
            "sort4-wide": sort_quantised(values, 1, 3, 8),
        }
        if name == IMAGE:
            made["uint8"] = pixels(values, by_channel)
        if len(values) > 1000:
            made = {name: made[name] for name in ("sort8",)}
        hexed = lambda floats: b"".join(struct.pack("<f", v) for v in floats).hex()
        cases.append({
            "name": name,
            "channels": channels,
            "stride": stride,
            "values": hexed(values),
            "codecs": {codec: {"body": body.hex(), "decoded": hexed(decoded)} for codec, (body, decoded) in made.items()},
        })
    with open("codecs.json", "w", encoding="ascii") as file:
        json.dump(cases, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()

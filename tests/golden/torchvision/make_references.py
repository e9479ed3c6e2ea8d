#!/usr/bin/env python3
"""What torchvision computes, for tests/unit/model/reference_test.cpp to compare with.

    python3 tests/golden/torchvision/make_references.py [MODEL ...]

writes MODEL.json next to this file. Two models that torchvision does not have are defined in densenet_cifar.py and
roberta.py. Made with torchvision 0.14.1 on PyTorch 1.13 (Debian 12: python3-torchvision).
Weights and input are formulas of tensor name and element index, so that no weight file is needed. The formulas use
integers, one rounded multiplication or one rounded addition: the C++ test repeats them bit for bit.
"""

import json
import pathlib
import sys

import numpy as np
import torch
import torchvision

import densenet_cifar
import roberta

MODELS = ["alexnet", "vgg16", "resnet18", "resnet50", "mobilenet_v2", "inception_v3", "resnet101", "densenet121",
          "densenet_cifar", "vit_b_16", "roberta_base"]
NUM_CLASSES = 10
TOKENS_BEFORE_PADDING = [77, 9, 1]  # of each sequence in a batch of RoBERTa's
SAMPLES = {"resnet101": 8, "densenet121": 6, "densenet_cifar": 6}  # of a block's output: fewer where there are many blocks
SIDES = {"inception_v3": 299, "densenet_cifar": 32}  # of the input, in pixels
MASK = (1 << 64) - 1


def fnv1a64(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def hashed_bits(key, first, count):
    """splitmix64's output function on a counter: lib/paretopipe/compute/hashed_numbers.hpp."""
    z = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    z *= np.uint64(0x9E3779B97F4A7C15)
    z += np.uint64(key)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def hashed_uniform(name, count):
    """float32 in [-1, 1), multiples of 2^-23."""
    values = np.empty(count, dtype=np.float32)
    step = 1 << 22
    for first in range(0, count, step):
        bits = hashed_bits(fnv1a64(name), first, min(step, count - first))
        integers = (bits >> np.uint64(40)).astype(np.int64) - (1 << 23)
        values[first : first + step] = integers.astype(np.float32) * np.float32(2.0**-23)
    return values


def reference_values(name, shape):
    """Weights of He's scale; everything else is neither 0 nor 1, so that a forgotten tensor shows."""
    u = hashed_uniform(name, int(np.prod(shape)))
    if name.endswith("running_var"):
        u = np.float32(1) + np.float32(0.5) * u
    elif name.endswith("running_mean"):
        u = np.float32(0.25) * u
    elif name.endswith("bias"):
        u = np.float32(0.125) * u
    elif len(shape) == 1:  # the weight of a norm
        u = np.float32(1) + np.float32(0.25) * u
    else:
        fan_in = int(np.prod(shape[1:]))
        u = np.float32(np.sqrt(6.0 / fan_in)) * u
    return torch.from_numpy(u.reshape(shape))


def build(name):
    options = {"num_classes": NUM_CLASSES}
    if name == "inception_v3":
        options.update(init_weights=False, aux_logits=False, transform_input=False)
    module = {"densenet_cifar": densenet_cifar, "roberta_base": roberta}.get(name, torchvision.models)
    model = getattr(module, name)(**options).eval()
    state = model.state_dict()
    for key, tensor in state.items():
        if tensor.is_floating_point():
            tensor.copy_(reference_values(key, tuple(tensor.shape)))
    return model, {key: list(tensor.shape) for key, tensor in state.items()}


def block_ends(name, model):
    """(name of the block, module whose output is the block's, in order of execution)."""
    modules = dict(model.named_modules())
    if name.startswith("resnet"):
        units = [f"layer{layer}.{i}" for layer in range(1, 5) for i in range(len(modules[f"layer{layer}"]))]
        return [("stem", "maxpool")] + [(unit, unit) for unit in units] + [("head", "")]
    if name == "densenet121":
        blocks = [("stem", "features.pool0")]
        for block, depth in enumerate([6, 12, 24, 16], 1):
            names = [f"features.denseblock{block}.denselayer{i + 1}" for i in range(depth)]
            names += [f"features.transition{block}"] if block < 4 else []
            blocks += [(unit, unit) for unit in names]
        return blocks + [("head", "")]
    if name == "densenet_cifar":
        blocks = [("stem", "conv1")]
        for block, depth in enumerate([6, 12, 24, 16], 1):
            names = [f"dense{block}.{i}" for i in range(depth)] + ([f"trans{block}"] if block < 4 else [])
            blocks += [(unit, unit) for unit in names]
        return blocks + [("head", "")]
    if name == "roberta_base":
        units = ["roberta.embeddings"] + [f"roberta.encoder.layer.{i}" for i in range(12)] + ["classifier"]
        return [(unit, unit) for unit in units]
    if name == "vit_b_16":
        layers = [f"encoder.layers.encoder_layer_{i}" for i in range(12)]
        return [("stem", "encoder.dropout")] + [(layer, layer) for layer in layers] + [("head", "")]
    if name == "inception_v3":
        stages = [key for key, _ in model.named_children() if key not in ("avgpool", "dropout", "fc")]
        return [(stage, stage) for stage in stages] + [("head", "")]
    features = [(f"features.{i}", f"features.{i}") for i in range(len(model.features))]
    if name == "mobilenet_v2":
        return features + [("head", "")]
    hidden = {"alexnet": [(1, 2), (4, 5)], "vgg16": [(0, 1), (3, 4)]}[name]  # linear layer, its ReLU
    classifier = [(f"classifier.{first}", f"classifier.{last}") for first, last in hidden]
    return features + [("avgpool", "avgpool")] + classifier + [("classifier.6", "")]


def rounded(value):
    return float(f"{float(value):.9g}")


def summarise(block, inputs, output, samples):
    """At once, because the next module may be an in-place ReLU."""
    if block == "avgpool":
        output = output.flatten(1)  # this block flattens as well
    if "denselayer" in block:
        output = torch.cat([*inputs[0], output], 1)  # what the next layer gets
    values = output.double().flatten().numpy()
    indices = hashed_bits(fnv1a64("samples/" + block), 0, samples) % np.uint64(values.size)
    return {
        "name": block,
        "shape": list(output.shape),
        "mean": rounded(values.mean()),
        "mean_abs": rounded(np.abs(values).mean()),
        "max_abs": rounded(np.abs(values).max()),
        "samples": [rounded(value) for value in values[indices.astype(np.int64)]],
    }


def reference_input(name):
    if name == "roberta_base":  # tokens; the first four mean something of their own
        shape = (1, 128)
        words = np.uint64(roberta.VOCABULARY - 4)
        return shape, (hashed_bits(fnv1a64("input"), 0, 128) % words + np.uint64(4)).astype(np.int64)
    side = SIDES.get(name, 224)
    shape = (1, 3, side, side)
    return shape, np.float32(2) * hashed_uniform("input", int(np.prod(shape)))


def padded_logits(model, tokens):
    """Of RoBERTa for sequences that begin as `tokens` does and end in padding."""
    batch = np.stack([np.where(np.arange(tokens.size) < length, tokens, roberta.PADDING)
                      for length in TOKENS_BEFORE_PADDING])
    with torch.inference_mode():
        rows = model(torch.from_numpy(batch))
    return [{"tokens": length, "logits": [rounded(value) for value in row]}
            for length, row in zip(TOKENS_BEFORE_PADDING, rows)]


def make_reference(name):
    model, tensors = build(name)
    modules = dict(model.named_modules())
    blocks = []
    samples = SAMPLES.get(name, 32)
    hooks = [
        modules[module].register_forward_hook(
            lambda _m, inputs, out, block=block: blocks.append(summarise(block, inputs, out, samples)))
        for block, module in block_ends(name, model)]
    shape, values = reference_input(name)
    with torch.inference_mode():
        logits = model(torch.from_numpy(values.reshape(shape)))
    reference = {
        "model": name,
        "num_classes": NUM_CLASSES,
        "made_with": f"torchvision {torchvision.__version__}, torch {torch.__version__}",
        "input_shape": shape,
        "tensors": tensors,
        "blocks": blocks,
        "logits": [rounded(value) for value in logits.flatten()],
    }
    if name == "roberta_base":
        for hook in hooks:
            hook.remove()
        reference["padded"] = padded_logits(model, values)
    return reference


def write(reference, path):
    """One line for each tensor and block: readable, and a change shows as a line."""
    head = {key: value for key, value in reference.items() if key not in ("tensors", "blocks")}
    tensors = ",\n".join(f"  {json.dumps(key)}: {json.dumps(shape)}" for key, shape in reference["tensors"].items())
    blocks = ",\n".join("  " + json.dumps(block) for block in reference["blocks"])
    start = json.dumps(head)[:-1]
    path.write_text(f'{start},\n"tensors": {{\n{tensors}\n}},\n"blocks": [\n{blocks}\n]}}\n')


def main():
    torch.set_num_threads(1)
    for name in sys.argv[1:] or MODELS:
        write(make_reference(name), pathlib.Path(__file__).with_name(name + ".json"))


if __name__ == "__main__":
    main()

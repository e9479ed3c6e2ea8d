#!/usr/bin/env python3
"""Small files of weights for tests/unit/weights/weights_file_test.cpp, as PyTorch writes them, and a safetensors file
by its specification.

    python3 tests/golden/weights/make_weights.py

made with PyTorch 1.13 (Debian 12: python3-torch). None of the files holds anything of interest; hostile.pth asks for a
command that would leave a file behind.
"""

import json
import os
import pathlib
import pickle
import struct
import zipfile

import torch

HERE = pathlib.Path(__file__).parent


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, (1, 2))
        self.bn = torch.nn.BatchNorm2d(3)

    def forward(self, x):
        return self.bn(self.conv(x))


def filled(module):
    """Whole numbers, hence the same as text and as float32; one tensor with strides of its own."""
    state = module.state_dict()
    for i, tensor in enumerate(state.values()):
        tensor.copy_(torch.arange(tensor.numel()).reshape(tensor.shape) + 10 * i)
    module.conv.weight.data = module.conv.weight.data.to(memory_format=torch.channels_last)
    return module


def description(tensor):
    return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape), "values": tensor.flatten().tolist()}


class Command:
    def __reduce__(self):
        return os.system, ("touch /tmp/paretopipe-was-here",)


def write_hostile(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"a": Command()}, protocol=2))


def write_safetensors(state, path):
    """The format as its specification has it (github.com/huggingface/safetensors#format), largest elements first."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in sorted(state.items(), key=lambda item: -item[1].element_size()):
        dtype = {torch.int64: "I64", torch.float32: "F32"}[tensor.dtype]
        begin, data = len(data), data + tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    module = filled(Small())
    state = module.state_dict()
    torch.save(state, HERE / "small.pth")
    torch.save({**dict(module.named_parameters()), **dict(module.named_buffers())}, HERE / "parameters.pth")
    torch.save(state, HERE / "legacy.pth", _use_new_zipfile_serialization=False)
    torch.save({"epoch": 3, "state_dict": state}, HERE / "checkpoint.pth")
    torch.jit.script(Small()).save(str(HERE / "script.pt"))
    write_hostile(HERE / "hostile.pth")
    write_safetensors(state, HERE / "small.safetensors")
    lines = [f" {json.dumps(name)}: {json.dumps(description(tensor))}" for name, tensor in state.items()]
    (HERE / "small.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()

"""usage: train_against_python.py make FOLDER MODEL | check FOLDER MODEL DROPOUT_BLOCK WEIGHTS | logits FOLDER MODEL WEIGHTS OURS

make: writes MODEL_traced.pt and MODEL_scripted.pt of torchvision's model, both made in evaluation, as most archives are, and two images
with their classes, which it also enlarges to what built-in models take.
check: trains the same model in eager PyTorch for two steps of two micro-batches and compares every tensor of the state_dict with WEIGHTS,
bit for bit; WEIGHTS must also load into the model. The seed draws the order of the images in each step, so one of the four orders must give
these bits.
logits: loads WEIGHTS into the model, which must give both images their classes, and in evaluation the enlarged ones the logits of the file
OURS, bit for bit.
"""
import itertools
import json
import os
import struct
import sys

os.environ["OMP_NUM_THREADS"] = "1"

import torch  # noqa: E402  (the thread count must be set before)
import torchvision  # noqa: E402

CLASSES = [3, 7]


def network(name):
    torch.manual_seed(0)
    return getattr(torchvision.models, name)(num_classes=10)


def images():
    return torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(1))


def enlarged():
    return torch.nn.functional.interpolate(images(), 224, mode="bilinear")


def write(tensor, path):
    data = tensor.numpy().tobytes()
    header = json.dumps({"images": {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [0, len(data)]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + data)


def make(folder, name):
    model = network(name).eval()
    torch.jit.trace(model, torch.randn(1, 3, 64, 64)).save(f"{folder}/{name}_traced.pt")
    torch.jit.script(model).save(f"{folder}/{name}_scripted.pt")
    write(images(), f"{folder}/images.safetensors")
    write(enlarged(), f"{folder}/enlarged.safetensors")
    with open(f"{folder}/classes.txt", "w", encoding="utf-8") as file:
        file.write("".join(f"{label}\n" for label in CLASSES))


def fnv1a64(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def trained(name, orders, dropout_block):
    """The dropouts of these models are all in one block; its number decides what they drop."""
    model = network(name).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step, order in enumerate(orders):
        optimizer.zero_grad()
        for index, sample in enumerate(order):
            torch.manual_seed(fnv1a64(f"1/{step}/{index}/{dropout_block}"))
            scores = model(images()[sample : sample + 1])
            (torch.nn.functional.cross_entropy(scores, torch.tensor([CLASSES[sample]])) * 0.5).backward()
        optimizer.step()
    return model.state_dict()


def read(path):
    data = open(path, "rb").read()
    (length,) = struct.unpack_from("<Q", data)
    types = {"F32": torch.float32, "I64": torch.int64}
    tensors = {}
    for key, entry in json.loads(data[8 : 8 + length]).items():
        if key == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[key] = torch.frombuffer(bytearray(data[begin:end]), dtype=types[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def check(name, dropout_block, weights):
    ours = read(weights)
    network(name).load_state_dict(ours)
    least = None
    for orders in itertools.product(([0, 1], [1, 0]), repeat=2):
        theirs = trained(name, orders, dropout_block)
        different = [key for key in theirs if not torch.equal(theirs[key], ours[key])]
        if not different:
            print(f"{weights}: all {len(theirs)} tensors are PyTorch's")
            return 0
        least = min(least or different, different, key=len)
    print(f"{weights}: at least {len(least)} of {len(ours)} tensors are not PyTorch's: {least[:5]}", file=sys.stderr)
    return 1


def classify(name, weights, ours):
    model = network(name)
    model.load_state_dict(read(weights))
    (found,) = read(ours).values()
    with torch.no_grad():
        expected = model.eval()(enlarged())
        logits = model.train()(images())  # two images are too few for good running statistics
    print(f"{weights}: logits {logits[0, CLASSES[0]]:.3f}, {logits[1, CLASSES[1]]:.3f} of the right classes")
    print(f"{ours}: differs from PyTorch's logits by {(found - expected).abs().max():.3g}, of {expected.abs().max():.3g}")
    return 0 if logits.argmax(1).tolist() == CLASSES and torch.equal(found, expected) else 1


torch.set_num_threads(1)
torch.set_flush_denormal(True)
if sys.argv[1] == "make":
    make(*sys.argv[2:])
elif sys.argv[1] == "logits":
    sys.exit(classify(*sys.argv[3:]))
else:
    sys.exit(check(sys.argv[3], int(sys.argv[4]), sys.argv[5]))

"""usage: run_against_python.py FOLDER, with paretopipe on the PATH

Has `paretopipe run` push batches through split models, in the formats in which Python has them, and compares what comes
out with what torchvision makes of the same batch in Python. And has a sweep classify images, whose classes are known.
"""
import hashlib
import json
import pathlib
import struct
import subprocess
import sys

import PIL.Image
import torch
import torchvision
from torchvision.transforms import functional as F

FOLDER = pathlib.Path(sys.argv[1])


def make_model():
    torch.manual_seed(0)
    model = torchvision.models.resnet18()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):  # other statistics than 0 and 1, which would hide a mistake
            module.running_mean.uniform_(-0.1, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    return model.eval()


def write_safetensors(tensor, path):
    """The format as its specification has it (github.com/huggingface/safetensors#format)."""
    data = tensor.contiguous().numpy().tobytes()
    header = json.dumps({"x": {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [0, len(data)]}}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


def read_safetensors(path):
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    (entry,) = json.loads(content[8 : 8 + length]).values()
    assert entry["dtype"] == "F32" and entry["data_offsets"] == [0, len(content) - 8 - length], entry
    return torch.frombuffer(bytearray(content[8 + length :]), dtype=torch.float32).reshape(entry["shape"])


def load(path):
    return read_safetensors(path) if path.suffix == ".safetensors" else torch.load(path, weights_only=True)


def run(*arguments, exit_code=0):
    """What it printed. A batch has its own output file, so that none is taken for another's."""
    command = ["paretopipe", "run", *map(str, arguments)]
    outcome = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
    print("$", " ".join(command), outcome.stdout + outcome.stderr, sep="\n")
    assert outcome.returncode == exit_code, outcome.returncode
    return outcome.stdout + outcome.stderr


def check(output, expected):
    found = load(FOLDER / output)
    difference = (found - expected).abs().max().item()
    print(f"{output}: differs from torchvision's by {difference:.3g}, of {expected.abs().max().item():.3g}\n")
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert difference <= 1e-4 * expected.abs().max().item()


def write_images():
    """Of several sizes and kinds, noise and none."""
    photos = FOLDER / "photos"
    photos.mkdir()
    for name, size in [("b.png", (300, 280)), ("a.jpg", (500, 240)), ("C.JPEG", (120, 333))]:
        pixels = torch.nn.functional.interpolate(torch.rand(1, 3, 20, 20), size[::-1], mode="bilinear")[0] * 255
        PIL.Image.fromarray(pixels.byte().permute(1, 2, 0).numpy()).save(photos / name)
    (photos / "notes.txt").write_text("no image")
    return [photos / name for name in ["C.JPEG", "a.jpg", "b.png"]]


def prepare(file):
    pixels = F.pil_to_tensor(PIL.Image.open(file).convert("RGB"))
    cropped = F.center_crop(F.resize(pixels, 256, antialias=True), 224)
    return F.normalize(cropped.float().div(255), (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def check_images(model):
    files = write_images()
    with torch.no_grad():
        classes = model(torch.stack([prepare(file) for file in files])).argmax(1).tolist()
    classes[1] = (classes[1] + 1) % 1000
    (FOLDER / "classes.txt").write_text("".join(f"{label}\n" for label in classes))
    sweep = "paretopipe sweep --model ./net.pt --input 3x224x224 --data images:photos --labels classes.txt --split 5"
    sweep += " --batch 2 --batches 2 --warmup 0 --repeat 1 --repeat-slow 0 --out photographed"
    subprocess.run(sweep.split(), cwd=FOLDER, check=True)
    (record,) = map(json.loads, (FOLDER / "photographed" / "records.jsonl").read_text().splitlines())
    assert record["fidelity"]["accuracy"] == {"images": 3, "top1": 2 / 3}, record["fidelity"]
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    assert record["trial"]["data_sha256"] == hashlib.sha256(sums.encode()).hexdigest(), record["trial"]
    assert record["trial"]["data"] == "images:photos", record["trial"]


def check_training(batch):
    """What paretopipe trained and saved is a state_dict, with which torchvision computes the same logits."""
    torch.save(torch.randn(4, 3, 224, 224), FOLDER / "lesson.pt")
    (FOLDER / "lesson.txt").write_text("0\n1\n1\n0\n")
    train = "paretopipe train --model resnet18 --classes 2 --data tensor:lesson.pt --labels lesson.txt --split 5 --batch 2"
    subprocess.run([*train.split(), "--micro-batch", "1", "--save", "trained.pth"], cwd=FOLDER, check=True)
    learned = torchvision.models.resnet18(num_classes=2)
    before = learned.fc.weight.clone()
    learned.load_state_dict(torch.load(FOLDER / "trained.pth", weights_only=True))
    assert learned.bn1.num_batches_tracked == 4 and not torch.equal(before, learned.fc.weight)
    run("--model", "resnet18", "--classes", 2, "--weights", "trained.pth", "--split", 5, "--input", "x.pt", "--output", "g.pt")
    with torch.no_grad():
        check("g.pt", learned.eval()(batch))


def main():
    model = make_model()
    batch = torch.randn(3, 3, 224, 224)
    with torch.no_grad():
        torch.jit.trace(model, torch.randn(1, 3, 224, 224)).save(FOLDER / "net.pt")
        expected = model(batch)
    torch.save(model.state_dict(), FOLDER / "weights.pth")
    torch.save(batch, FOLDER / "x.pt")
    write_safetensors(batch, FOLDER / "x.safetensors")
    # As a camera's library may hold it: the same numbers in another order, a part of a larger storage.
    strided = torch.cat([batch, batch]).to(memory_format=torch.channels_last)[3:]
    assert not strided.is_contiguous()
    torch.save(strided, FOLDER / "strided.pt")

    archive = ["--model", "./net.pt"]
    builtin = ["--model", "resnet18", "--classes", "1000", "--weights", "weights.pth"]
    said = run(*archive, "--split", 5, "--input", "x.pt", "--output", "a.pt")
    assert "bit for bit the same" in said and "over TCP to stage 1" in said, said
    check("a.pt", expected)
    run(*archive, "--stages", 3, "--partitions", "2,7", "--input", "strided.pt", "--output", "b.safetensors")
    check("b.safetensors", expected)
    run(*builtin, "--split", 3, "--input", "x.safetensors", "--output", "c.pt")
    check("c.pt", expected)
    said = run(*builtin, "--split", 10, "--input", "x.pt", "--output", "d.safetensors")  # all local
    assert "TCP" not in said, said
    check("d.safetensors", expected)

    classes = expected.argmax(1).tolist()
    (FOLDER / "labels.txt").write_text("".join(f"{label}\n" for label in [classes[0], classes[1], (classes[2] + 1) % 1000]))
    said = run(*builtin, "--split", 5, "--input", "x.pt", "--output", "e.pt", "--labels", "labels.txt")
    assert "top-1 accuracy: 66.67 % of 3 images" in said, said

    check_images(model)
    check_training(batch)

    torch.save({"x": batch}, FOLDER / "dictionary.pt")
    torch.save(batch.double(), FOLDER / "double.pt")
    torch.save(batch[:, :, :32, :32], FOLDER / "small.pt")
    for wrong, reason in [
        (["--split", 5, "--input", "dictionary.pt", "--output", "f.pt"], "holds a dictionary, not a tensor"),
        (["--split", 5, "--input", "double.pt", "--output", "f.pt"], "it is float64, and the model takes float32"),
        (["--split", 5, "--input", "small.pt", "--output", "f.pt"], "its shape is [3, 3, 32, 32]"),
        (["--split", 5, "--input", "net.pt", "--output", "f.pt"], "read a tensor from net.pt"),
        (["--split", 5, "--input", "missing.pt", "--output", "f.pt"], "missing.pt: No such file"),
        (["--split", 5, "--input", "x.pt", "--output", "f.npy"], ".safetensors"),
        (["--split", "3,5", "--input", "x.pt", "--output", "f.pt"], "one way to cut"),
        (["--split", 99, "--input", "x.pt", "--output", "f.pt"], "99"),
        (["--input", "x.pt", "--output", "f.pt"], "--split"),
    ]:
        assert reason in run(*builtin, *wrong, exit_code=2), reason
        assert not list(FOLDER.glob("f.*")), "a refused run left a file behind"


main()

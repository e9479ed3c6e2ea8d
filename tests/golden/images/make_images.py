#!/usr/bin/env python3
"""Small images of every kind for tests/unit/zoo/inputs_test.cpp, and what torchvision makes of them for a model that
takes 3 x 32 x 32 (it resizes to 37, since 37 is to 32 as 256 is to 224).

    python3 tests/golden/images/make_images.py

made with torchvision 0.14 (Debian 12: python3-torchvision).
"""

import pathlib

import numpy
import PIL.Image
import torch
import torchvision.transforms.functional as F

HERE = pathlib.Path(__file__).parent


def pattern(height, width, channels):
    """Smooth in one direction, with edges in the other: what a resize can get wrong shows."""
    y, x = numpy.mgrid[0:height, 0:width]
    planes = [128 + 100 * numpy.sin(y / 5 + c) * numpy.where((x // 4) % 2 == 0, 1, -1) for c in range(channels)]
    return numpy.stack(planes, axis=2).astype(numpy.uint8)


def write_images():
    PIL.Image.fromarray(pattern(45, 60, 3)).save(HERE / "a_colour.jpg", quality=90)
    PIL.Image.fromarray(pattern(60, 45, 3)).save(HERE / "b_progressive.JPEG", quality=80, progressive=True)
    PIL.Image.fromarray(pattern(70, 41, 1)[:, :, 0]).save(HERE / "c_grey.jpg")
    PIL.Image.fromarray(pattern(33, 90, 4), mode="RGBA").save(HERE / "d_alpha.png")
    PIL.Image.fromarray(pattern(50, 50, 3)).quantize(16).save(HERE / "e_palette.png", transparency=3)
    deep = pattern(40, 47, 1)[:, :, 0].astype(numpy.uint16) * 257 + 100
    PIL.Image.fromarray(deep).save(HERE / "f_grey_16_bit.png")
    PIL.Image.fromarray(pattern(8, 10, 3)).save(HERE / "g_small.png")
    (HERE / "refused").mkdir(exist_ok=True)
    PIL.Image.fromarray(pattern(16, 16, 4), mode="CMYK").save(HERE / "refused" / "cmyk.jpg")
    PIL.Image.fromarray(pattern(43, 64, 1)[:, :, 0] > 128).save(HERE / "h_one_bit.png")


def read(file):
    image = PIL.Image.open(file)
    if image.mode.startswith("I"):  # convert() would cut 16 bits off at 255
        levels = numpy.rint(numpy.asarray(image).astype(numpy.float64) * 255 / 65535).astype(numpy.uint8)
        image = PIL.Image.fromarray(levels)
    return F.pil_to_tensor(image.convert("RGB"))


def prepare(pixels):
    resized = F.resize(pixels, 37, antialias=True)
    cropped = F.center_crop(resized, 32).float().div(255)
    return F.normalize(cropped, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


if __name__ == "__main__":
    write_images()
    files = sorted(f for f in HERE.iterdir() if f.suffix.lower() in (".jpg", ".jpeg", ".png"))
    torch.save(torch.stack([prepare(read(file)) for file in files]), HERE / "expected.pt")

"""What all figures have in common: numbers, tables and records."""

import json

MODELS = {"alexnet": "AlexNet", "vgg16": "VGG-16", "resnet18": "ResNet-18", "resnet50": "ResNet-50", "resnet101": "ResNet-101",
          "mobilenet_v2": "MobileNetV2", "inception_v3": "Inception v3", "densenet121": "DenseNet-121",
          "densenet_cifar": "DenseNet for CIFAR", "vit_b_16": "ViT-B/16", "roberta_base": "RoBERTa"}


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


def records_of(folder):
    """Of each trial the last record: --resume measures again what failed."""
    with open(f"{folder}/records.jsonl", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return list({record["id"]: record for record in records}.values())


def scientific(value):
    return f"{value:.1e}" if value else "0"

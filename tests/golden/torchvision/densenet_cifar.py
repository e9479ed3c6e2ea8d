"""DenseNet for CIFAR in Python: the architecture that github.com/kuangliu/pytorch-cifar calls densenet_cifar, written
anew from its description, with its tensor names. Growth 12, dense blocks of 6, 12, 24 and 16 layers, reduction 0.5.
"""

import torch
from torch import nn
from torch.nn.functional import avg_pool2d, relu

GROWTH = 12
DEPTHS = [6, 12, 24, 16]


class Bottleneck(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv1 = nn.Conv2d(channels, 4 * GROWTH, kernel_size=1, bias=False)
        self.bn2 = nn.BatchNorm2d(4 * GROWTH)
        self.conv2 = nn.Conv2d(4 * GROWTH, GROWTH, kernel_size=3, padding=1, bias=False)

    def forward(self, x):
        new = self.conv2(relu(self.bn2(self.conv1(relu(self.bn1(x))))))
        return torch.cat([new, x], 1)


class Transition(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)
        self.conv = nn.Conv2d(channels, channels // 2, kernel_size=1, bias=False)

    def forward(self, x):
        return avg_pool2d(self.conv(relu(self.bn(x))), 2)


class DenseNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        channels = 2 * GROWTH
        self.conv1 = nn.Conv2d(3, channels, kernel_size=3, padding=1, bias=False)
        for block, depth in enumerate(DEPTHS, 1):
            layers = [Bottleneck(channels + i * GROWTH) for i in range(depth)]
            setattr(self, f"dense{block}", nn.Sequential(*layers))
            channels += depth * GROWTH
            if block < len(DEPTHS):
                setattr(self, f"trans{block}", Transition(channels))
                channels //= 2
        self.bn = nn.BatchNorm2d(channels)
        self.linear = nn.Linear(channels, num_classes)

    def forward(self, x):
        x = self.conv1(x)
        for block in range(1, len(DEPTHS)):
            x = getattr(self, f"trans{block}")(getattr(self, f"dense{block}")(x))
        x = avg_pool2d(relu(self.bn(self.dense4(x))), 4)
        return self.linear(x.flatten(1))


def densenet_cifar(num_classes):
    return DenseNet(num_classes)

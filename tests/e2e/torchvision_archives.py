"""usage: torchvision_archives.py FOLDER NAME...: writes NAME_traced.pt and NAME_scripted.pt of torchvision's models."""
import sys

import torch
import torchvision

torch.manual_seed(0)
for name in sys.argv[2:]:
    model = getattr(torchvision.models, name)()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):  # other statistics than 0 and 1, which would hide a mistake
            module.running_mean.uniform_(-0.1, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    model.eval()
    with torch.no_grad():
        torch.jit.trace(model, torch.randn(1, 3, 224, 224)).save(f"{sys.argv[1]}/{name}_traced.pt")
        torch.jit.script(model).save(f"{sys.argv[1]}/{name}_scripted.pt")

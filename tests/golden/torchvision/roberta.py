"""RoBERTa as a classifier of sequences, in Python: the architecture and the tensor names of Hugging Face's
RobertaForSequenceClassification with the configuration of roberta-base, written anew from its description, with
PyTorch's own attention. Keys that are padding get no share of it.
"""

import torch
from torch import nn

VOCABULARY = 50265
FEATURES = 768
HEADS = 12
HIDDEN = 3072
LAYERS = 12
EPSILON = 1e-5
PADDING = 1  # token, whose position is the last that no token has


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCABULARY, FEATURES, padding_idx=PADDING)
        self.position_embeddings = nn.Embedding(514, FEATURES, padding_idx=PADDING)
        self.token_type_embeddings = nn.Embedding(1, FEATURES)
        self.LayerNorm = nn.LayerNorm(FEATURES, eps=EPSILON)

    def forward(self, tokens):
        mask = (tokens != PADDING).long()
        positions = torch.cumsum(mask, 1) * mask + PADDING
        words = self.word_embeddings(tokens) + self.token_type_embeddings(torch.zeros_like(tokens))
        return self.LayerNorm(words + self.position_embeddings(positions))


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(FEATURES, FEATURES)
        self.key = nn.Linear(FEATURES, FEATURES)
        self.value = nn.Linear(FEATURES, FEATURES)

    def forward(self, x, padding):
        def heads(y):
            return y.reshape(*y.shape[:2], HEADS, FEATURES // HEADS).permute(0, 2, 1, 3)

        scores = heads(self.query(x)) @ heads(self.key(x)).transpose(-1, -2) / (FEATURES // HEADS) ** 0.5
        scores = scores.masked_fill(padding[:, None, None, :], float("-inf"))
        context = torch.softmax(scores, dim=-1) @ heads(self.value(x))
        return context.permute(0, 2, 1, 3).reshape(x.shape)


class Output(nn.Module):
    """A dense layer, its input's own sum with what came before, and a norm."""

    def __init__(self, features):
        super().__init__()
        self.dense = nn.Linear(features, FEATURES)
        self.LayerNorm = nn.LayerNorm(FEATURES, eps=EPSILON)

    def forward(self, x, before):
        return self.LayerNorm(self.dense(x) + before)


def group(**modules):
    """Modules under names, and nothing else."""
    holder = nn.Module()
    for name, module in modules.items():
        holder.add_module(name, module)
    return holder


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("attention", group(self=SelfAttention(), output=Output(FEATURES)))
        self.intermediate = group(dense=nn.Linear(FEATURES, HIDDEN))
        self.output = Output(HIDDEN)

    def forward(self, x, padding):
        attention = dict(self.attention.named_children())
        x = attention["output"](attention["self"](x, padding), x)
        return self.output(nn.functional.gelu(self.intermediate.dense(x)), x)


class Classifier(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.dense = nn.Linear(FEATURES, FEATURES)
        self.out_proj = nn.Linear(FEATURES, num_classes)

    def forward(self, x):
        return self.out_proj(torch.tanh(self.dense(x[:, 0, :])))


class Roberta(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.roberta = group(embeddings=Embeddings(), encoder=group(layer=layers))
        self.classifier = Classifier(num_classes)

    def forward(self, tokens):
        x = self.roberta.embeddings(tokens)
        for layer in self.roberta.encoder.layer:
            x = layer(x, tokens == PADDING)
        return self.classifier(x)


def roberta_base(num_classes):
    return Roberta(num_classes)

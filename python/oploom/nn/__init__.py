"""Building blocks of neural networks."""

from oploom.nn import functional, init
from oploom.nn.activation import GELU, LogSoftmax, ReLU, Sigmoid, SiLU, Softmax, Tanh
from oploom.nn.container import ModuleDict, ModuleList, Sequential
from oploom.nn.layers import Dropout, Embedding, Flatten, Identity, LayerNorm, Linear
from oploom.nn.loss import CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from oploom.nn.module import Module
from oploom.nn.parameter import Parameter

__all__ = [
    "CrossEntropyLoss", "Dropout", "Embedding", "Flatten", "GELU", "Identity", "L1Loss",
    "LayerNorm", "Linear", "LogSoftmax", "MSELoss", "Module", "ModuleDict", "ModuleList",
    "NLLLoss", "Parameter", "ReLU", "Sequential", "SiLU", "Sigmoid", "Softmax", "Tanh",
    "functional", "init",
]

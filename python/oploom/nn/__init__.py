"""Building blocks of neural networks."""

from oploom.nn import functional, init
from oploom.nn.activation import (
    CELU,
    ELU,
    GELU,
    SELU,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Softsign,
    Tanh,
)
from oploom.nn.container import ModuleDict, ModuleList, Sequential
from oploom.nn.layers import Dropout, Embedding, Flatten, Identity, LayerNorm, Linear
from oploom.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from oploom.nn.module import Module
from oploom.nn.parameter import Parameter

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CELU", "CrossEntropyLoss", "Dropout", "ELU", "Embedding",
    "Flatten", "GELU", "Hardsigmoid", "Hardswish", "Hardtanh", "HuberLoss", "Identity",
    "KLDivLoss", "L1Loss", "LayerNorm", "LeakyReLU", "Linear", "LogSigmoid", "LogSoftmax",
    "MSELoss", "Mish", "Module", "ModuleDict", "ModuleList", "NLLLoss", "Parameter", "ReLU",
    "ReLU6", "SELU", "Sequential", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax", "Softplus",
    "Softsign", "Tanh", "functional", "init",
]

"""Optimizers."""

from oploom.optim.adam import Adam, AdamW
from oploom.optim.optimizer import Optimizer
from oploom.optim.sgd import SGD

__all__ = ["Adam", "AdamW", "Optimizer", "SGD"]

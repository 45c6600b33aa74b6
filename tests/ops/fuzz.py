"""Calls every operator with arguments that rarely fit together.

    python -m tests.ops.fuzz SEED    prints what no call may do, one line each

A call may succeed or be refused. It may not crash, say something of the library's inside, change its
operands where it is refused, or keep memory. The same seed makes the same calls.
"""

from __future__ import annotations

import faulthandler
import gc
import math
import random
import re
import sys
from pathlib import Path

import oploom
from oploom.testing import capability

TREE = Path(__file__).resolve().parents[2]

CALLS_PER_OPERATOR = 6
MEMORY = 1 << 26  # large sizes are to fail, not to be filled
DTYPES = ("bool", "uint8", "int8", "int64", "float16", "bfloat16", "float32", "float64",
          "complex64")
SHAPES = ([], [0], [1], [3], [2, 3], [3, 2], [3, 3], [2, 0, 3], [1, 3, 1], [2, 3, 4],
          [1, 2, 3, 1, 2, 2])
HUGE = (2**31, 2**40, 2**62, 2**63 - 1, -(2**63))
MISFITS = (None, "x", b"x", 1j, 2**64, {}, object(), ..., [1, "a"], [None], slice(1, 2), int)
# What only the library's own defects would say.
INSIDE = re.compile(r"bug|internal|assert|std::|unreachable|bad_alloc|vector::|basic_string", re.I)


class Arguments:
    """Random arguments of the type that a schema asks for, and now and then of another."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.tensors: list[oploom.Tensor] = []

    def tensor(self):
        rng = self.rng
        if self.tensors and rng.random() < 0.1:
            return rng.choice(self.tensors)  # the same one twice
        shape = rng.choice(SHAPES)
        count = math.prod(shape)
        t = oploom.arange(count, dtype=oploom.float32).sub(1).view(shape)
        t = t.to(getattr(oploom, rng.choice(DTYPES)))
        way = rng.randrange(9)
        if way == 0 and t.is_floating_point():
            t.requires_grad_()
        elif way == 1 and t.is_floating_point():
            t = t.requires_grad_() * 2
        elif way == 2 and t.dim() > 1:
            t = t.transpose(0, 1)
        elif way == 3:
            t = t.unsqueeze(-1).expand(*t.shape, 3)
        elif way == 4 and t.dim() > 0:
            t = oploom.stack([t, t], -1).select(t.dim(), 0)
        elif way == 5:
            t = t.to("meta")
        self.tensors.append(t)
        return t

    def integer(self):
        if self.rng.random() < 0.12:
            return self.rng.choice(HUGE)
        return self.rng.choice((0, 0, 1, 1, 2, 3, -1, -1, -2, 7, -100))

    def number(self):
        return self.rng.choice((0, 1, -1, 2, 2.5, -0.5, True, 1j, math.nan, math.inf, 2**63 - 1,
                                1e300))

    def one(self, base):
        rng = self.rng
        if base == "Tensor":
            return self.tensor()
        if base in ("int", "SymInt"):
            return self.integer()
        if base in ("Scalar", "float"):
            return self.number()
        if base == "bool":
            return rng.random() < 0.5
        if base == "ScalarType":
            return getattr(oploom, rng.choice(DTYPES))
        if base == "Device":
            return rng.choice(("cpu", "meta", "cuda", "cpu:7", "toaster"))
        if base == "MemoryFormat":
            return rng.choice((oploom.contiguous_format, oploom.channels_last))
        if base == "Generator":
            return oploom.Generator()
        if base == "str":
            return rng.choice(("ij,jk->ik", "i->", "ii", "...", ",", "tanh", "trunc", "floor", ""))
        return rng.choice(MISFITS)

    def make(self, kind):
        rng = self.rng
        if rng.random() < 0.04:
            return rng.choice(MISFITS)
        if kind.endswith("?") and rng.random() < 0.4:
            return None
        base = re.match(r"\w+", kind)[0]
        if "[" not in kind:
            return self.one(base)
        made = [self.one(base) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4)))]
        return [None if rng.random() < 0.2 else m for m in made] if "?[" in kind else made


def fingerprint(tensor):
    values = "" if tensor.device.type == "meta" else repr(tensor.detach().tolist())
    return tuple(tensor.shape), tensor.stride(), tensor.dtype, values


def call(op, rng, given_out):
    make = Arguments(rng)
    arguments = {}
    for p in op.parameters:
        if p.kwarg_only and rng.random() < 0.7:
            continue
        arguments[p.name] = make.make(p.type)
    if given_out:
        arguments["out"] = make.tensor()
    before = [fingerprint(t) for t in make.tensors]
    positional = [arguments.pop(p.name) for p in op.parameters
                  if not p.kwarg_only and p.name in arguments]
    what = f"{op.name}(*{positional}, **{arguments})"
    try:
        op.function()(*positional, **arguments)
        return None
    except Exception as error:
        if INSIDE.search(str(error)) or not str(error) or isinstance(error, SystemError):
            return f"{what}: {type(error).__name__}: {error}"
    if [fingerprint(t) for t in make.tensors] != before:
        return f"{what}: refused, and an operand has changed"
    return None


def blocks():
    """How many blocks of memory are in use, once there is no garbage."""
    gc.collect()
    return oploom.memory_stats()["allocated_blocks"]


def main(seed):
    faulthandler.enable()
    oploom.set_memory_limit(MEMORY)
    for number in (True, 1, 1.5, 1j):  # the last one of each kind is kept for the next call
        oploom.ones(1) * number
    for op in capability.operators(TREE / "generated" / "tests"):
        # The first call may make what stays, such as a constant.
        call(op, random.Random(f"{seed} {op.name} 0"), True)
        before = blocks()
        for i in range(CALLS_PER_OPERATOR):
            if wrong := call(op, random.Random(f"{seed} {op.name} {i}"), i % 3 == 0):
                print(wrong)
        if blocks() != before:
            print(f"{op.name}: {blocks() - before} blocks of memory are still in use")


if __name__ == "__main__":
    main(sys.argv[1])

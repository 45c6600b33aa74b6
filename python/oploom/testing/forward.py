"""Forward mode against reverse mode, for the generated tests.

For a function f with Jacobian J, tangents v and gradients u of the results, forward mode gives J v
and reverse mode the transpose of J times u. Neither knows of the other, and u (J v) = (u J) v.
Complex numbers count as pairs of real ones.
"""

from __future__ import annotations

import zlib
from typing import Callable, Optional, Sequence

import numpy as np

import oploom
from oploom.autograd import forward_ad, grad
from oploom.testing.samples import to_numpy

Tensors = Sequence[oploom.Tensor]


def random_like(tensor: oploom.Tensor, number: int) -> oploom.Tensor:
    """The same values in every run, of either sign."""
    random = np.random.default_rng(zlib.crc32(f"{tuple(tensor.shape)} {number}".encode()))
    values = random.uniform(-1.5, 1.5, tuple(tensor.shape))
    if tensor.is_complex():
        values = values + 1j * random.uniform(-1.5, 1.5, tuple(tensor.shape))
    return oploom.tensor(values, dtype=tensor.dtype)


def product(a: Optional[oploom.Tensor], b: Optional[oploom.Tensor]) -> float:
    """The sum of the products of the real numbers in two tensors; None is zero."""
    if a is None or b is None:
        return 0.0
    return float(np.vdot(to_numpy(a.detach()), to_numpy(b.detach())).real)


def duals(inputs: Tensors, tangents: Tensors, chosen: Sequence[int]) -> list[oploom.Tensor]:
    return [
        forward_ad.make_dual(x, tangents[i].clone()) if i in chosen else x
        for i, x in enumerate(inputs)
    ]


def tangent_of(tensor: oploom.Tensor) -> Optional[oploom.Tensor]:
    tangent = forward_ad.unpack_dual(tensor).tangent
    if tangent is not None:
        assert tangent.shape == tensor.shape, f"a tangent of shape {tuple(tangent.shape)}"
        assert tangent.dtype is tensor.dtype, f"a tangent of dtype {tangent.dtype}"
    return tangent


def check_forward(function: Callable, inputs: Tensors) -> None:
    """Compares the two modes with tangents for all inputs, and for each alone."""
    results = function(*inputs)
    recorded = [i for i, r in enumerate(results) if r.requires_grad]
    if not recorded:
        return
    cotangents = [random_like(results[i], i) for i in recorded]
    gradients = grad([results[i] for i in recorded], inputs, cotangents, allow_unused=True)
    tangents = [random_like(x, 100 + i) for i, x in enumerate(inputs)]
    plain = [x.detach() for x in inputs]
    everything = list(range(len(inputs)))
    for chosen in [everything] + [[i] for i in everything if len(inputs) > 1]:
        with forward_ad.dual_level():
            found = [tangent_of(r) for r in function(*duals(plain, tangents, chosen))]
            found = [found[i] for i in recorded]
            left = sum(product(u, t) for u, t in zip(cotangents, found))
            size = sum(
                np.abs(to_numpy(u) * to_numpy(t)).sum()
                for u, t in zip(cotangents, found) if t is not None
            )
        right = sum(product(gradients[i], tangents[i]) for i in chosen)
        assert abs(left - right) <= 1e-9 * (1 + size), (
            f"forward mode gives {left}, reverse mode {right}, with tangents of the inputs {chosen} "
            f"of {plain}"
        )


def check_forward_over_reverse(function: Callable, inputs: Tensors) -> None:
    """Compares the tangents of gradients with the gradients of gradients."""
    results = function(*inputs)
    recorded = [i for i, r in enumerate(results) if r.requires_grad]
    if not recorded:
        return
    cotangents = [random_like(results[i], i) for i in recorded]
    tangents = [random_like(x, 100 + i) for i, x in enumerate(inputs)]

    def gradients(values: Tensors, create_graph: bool):
        found = function(*values)
        return grad([found[i] for i in recorded], inputs, cotangents, create_graph=create_graph,
                    allow_unused=True)

    first = gradients(inputs, True)
    terms = [
        oploom.real(g.conj() * v).sum() if g.is_complex() else (g * v).sum()
        for g, v in zip(first, tangents) if g is not None and g.requires_grad
    ]
    if not terms:
        return
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    expected = grad([total], inputs, allow_unused=True)
    with forward_ad.dual_level():
        along = gradients(duals(inputs, tangents, range(len(inputs))), False)
        found = [None if g is None else tangent_of(g) for g in along]
    for i, (f, e) in enumerate(zip(found, expected)):
        if f is None and e is None:
            continue
        zero = np.zeros(tuple(inputs[i].shape))
        np.testing.assert_allclose(
            zero if f is None else to_numpy(f.detach()),
            zero if e is None else to_numpy(e),
            rtol=1e-8, atol=1e-8, err_msg=f"input {i} of {inputs}",
        )

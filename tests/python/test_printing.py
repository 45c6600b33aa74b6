"""How tensors are printed."""

import numpy as np
import oploom
import pytest


@pytest.mark.parametrize("make, text", [
    (lambda: oploom.tensor([[1.0, 2.0], [3.0, 4.0]]), "tensor([[1., 2.],\n        [3., 4.]])"),
    (lambda: oploom.tensor([1.5, -2.25]), "tensor([ 1.5000, -2.2500])"),
    (lambda: oploom.tensor([1, 10, -100]), "tensor([   1,   10, -100])"),
    (lambda: oploom.tensor([True, False]), "tensor([ True, False])"),
    (lambda: oploom.tensor(3.5), "tensor(3.5000)"),
    (lambda: oploom.tensor(7), "tensor(7)"),
    (lambda: oploom.tensor([1e-5, 1.0]), "tensor([1.0000e-05, 1.0000e+00])"),
    (lambda: oploom.tensor([1.0, 1e9]), "tensor([1.0000e+00, 1.0000e+09])"),
    (lambda: oploom.tensor([0.5, 500.0]), "tensor([  0.5000, 500.0000])"),
    (lambda: oploom.tensor([0.5, 600.0]), "tensor([5.0000e-01, 6.0000e+02])"),
    (lambda: oploom.tensor([1.0, float("nan"), float("inf")]), "tensor([ 1., nan, inf])"),
    (lambda: oploom.tensor([1.5, float("-inf")]), "tensor([1.5000,   -inf])"),
    (lambda: oploom.tensor([1 + 2j, 3 - 0.5j]), "tensor([1.+2.0000j, 3.-0.5000j])"),
    (lambda: oploom.tensor([1.0], dtype=oploom.float64), "tensor([1.], dtype=oploom.float64)"),
    (lambda: oploom.tensor([1], dtype=oploom.int8), "tensor([1], dtype=oploom.int8)"),
    (lambda: oploom.tensor([0.5], dtype=oploom.bfloat16),
     "tensor([0.5000], dtype=oploom.bfloat16)"),
    (lambda: oploom.zeros(0), "tensor([])"),
    (lambda: oploom.zeros(2, 0), "tensor([], size=(2, 0))"),
    (lambda: oploom.zeros(0, dtype=oploom.int64), "tensor([], dtype=oploom.int64)"),
    (lambda: oploom.zeros(2, device="meta"), "tensor(..., device='meta', size=(2,))"),
    (lambda: oploom.ones(2, requires_grad=True), "tensor([1., 1.], requires_grad=True)"),
    (lambda: oploom.zeros(2, 1, 2),
     "tensor([[[0., 0.]],\n\n        [[0., 0.]]])"),
    (lambda: oploom.arange(1001), "tensor([   0,    1,    2, ...,  998,  999, 1000])"),
])
def test_text(make, text):
    assert repr(make()) == text


def test_grad_fn_is_named():
    x = oploom.ones(2, requires_grad=True)
    assert repr(x * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)"


def test_lines_are_broken():
    text = repr(oploom.arange(40))
    assert all(len(line) <= 80 for line in text.split("\n"))
    assert text.startswith("tensor([ 0,  1,") and "\n        " in text


def layout(shape, seed, **options):
    """The text of a tensor of integers and NumPy's of the same numbers, which have one layout."""
    generator = np.random.default_rng(seed)
    magnitude = 10 ** int(generator.integers(0, 12))
    array = generator.integers(-magnitude, magnitude + 1, shape)
    oploom.set_printoptions(profile="default", **options)
    with np.printoptions(**options):
        # A tensor's prefix has one character more than an array's.
        wanted = "tensor(" + np.array2string(array, separator=", ", prefix="tensor(", suffix=")")
    return repr(oploom.tensor(array)), wanted + ")"


def test_layout_is_that_of_numpy():
    generator = np.random.default_rng(0)
    try:
        for seed in range(600):
            dims = int(generator.integers(1, 5))
            shape = tuple(generator.integers(1, (60, 30, 9, 5)[dims - 1], dims))
            options = dict(threshold=int(generator.choice([5, 50, 1000])),
                           edgeitems=int(generator.integers(1, 5)),
                           linewidth=int(generator.choice([12, 40, 75, 80, 81])))
            got, wanted = layout(shape, seed, **options)
            assert got == wanted, (shape, seed, options)
        # The brackets that close fit into the last line.
        oploom.set_printoptions(profile="default")
        assert max(map(len, repr(oploom.ones(2, 24, dtype=oploom.int64)).split("\n"))) <= 80
    finally:
        oploom.set_printoptions(profile="default")


def test_large_tensors_are_abridged():
    text = repr(oploom.zeros(100, 100))
    assert text == (
        "tensor([[0., 0., 0., ..., 0., 0., 0.],\n"
        "        [0., 0., 0., ..., 0., 0., 0.],\n"
        "        [0., 0., 0., ..., 0., 0., 0.],\n"
        "        ...,\n"
        "        [0., 0., 0., ..., 0., 0., 0.],\n"
        "        [0., 0., 0., ..., 0., 0., 0.],\n"
        "        [0., 0., 0., ..., 0., 0., 0.]])"
    )


def test_strided():
    x = oploom.arange(6).reshape(2, 3).T
    assert repr(x) == "tensor([[0, 3],\n        [1, 4],\n        [2, 5]])"


def test_options():
    try:
        oploom.set_printoptions(precision=2)
        assert repr(oploom.tensor([1.23456])) == "tensor([1.23])"
        oploom.set_printoptions(sci_mode=True)
        assert repr(oploom.tensor([1.5])) == "tensor([1.50e+00])"
        oploom.set_printoptions(profile="default", threshold=3, edgeitems=1)
        assert repr(oploom.arange(5)) == "tensor([0, ..., 4])"
    finally:
        oploom.set_printoptions(profile="default")
    with pytest.raises(ValueError):
        oploom.set_printoptions(profile="none")
    with pytest.raises(ValueError):
        oploom.set_printoptions(linewidth=0)

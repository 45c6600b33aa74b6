"""Batches of small matrices and patches of any layout, of which many are taken together."""

import itertools

import numpy as np
import oploom
import pytest

DTYPES = ["uint8", "int16", "float16", "float32", "float64", "complex64", "complex128"]
# The first dimension is the batch, or the first two.
SHAPES = [
    *((37, a, b) for a in (1, 2, 3, 4, 8) for b in (1, 2, 3, 5, 8, 9)),
    (300, 2, 3),
    (16, 3, 40),
    (40, 16, 3),
    (3, 50, 2, 3),
    (70, 2, 3, 2),
    (20, 2, 2, 2, 2),
    (2, 18, 3, 1, 4),
    # Larger planes, of few calls each, or with rows of almost 192 bytes.
    (23, 20, 17),
    (9, 50, 3),
    (2, 9, 13, 5),
    (17, 13, 45),
]


def numbers(shape, dtype):
    values = np.random.default_rng(sum(shape)).integers(0, 9, shape)
    return oploom.tensor(values).to(getattr(oploom, dtype))


def layouts(shape, dtype):
    """Tensors that are or broadcast to that shape."""
    batch, (a, b) = shape[:-2], shape[-2:]
    wide = numbers((*batch, a + 2, b + 3), dtype)
    sparse = numbers((*batch, 2 * a, 2 * b), dtype)
    return {
        "dense": numbers(shape, dtype),
        "patch": wide[..., 1 : a + 1, 2 : b + 2],
        "every second": sparse[..., ::2, 1::2],
        "turned": numbers((*batch, b, a), dtype).transpose(-1, -2),
        "batch inside": numbers((*shape[1:], shape[0]), dtype).permute(-1, *range(len(shape) - 1)),
        "rows": numbers((*batch, 1, b), dtype),
        "columns": numbers((*batch, a, 1), dtype),
        "numbers": numbers((*batch, 1, 1), dtype),
        "one matrix": numbers((a, b), dtype),
        "one turned": numbers((b, a), dtype).t(),
        "one column": numbers((a, 1), dtype),
        "batch with gaps": numbers((batch[0], *(2 * n for n in batch[1:]), a, b), dtype)[
            (slice(None), *(slice(None, None, 2) for _ in batch[1:]))
        ],
        "first of batch": numbers((batch[0], *(1 for _ in batch[1:]), a, b), dtype),
        "last of batch": numbers((*shape[1:-2], 1, b), dtype),
        "number": numbers((), dtype),
    }


def targets(shape, dtype):
    """Tensors, an index of each, and whether what it names is to be turned to have that shape."""
    batch, (a, b) = shape[:-2], shape[-2:]
    return [
        (numbers((*batch, a + 2, b + 3), dtype), np.s_[..., 1 : a + 1, 2 : b + 2], False),
        (numbers((*batch, 2 * a, 2 * b), dtype), np.s_[..., ::2, 1::2], False),
        (numbers((*batch, b + 1, a), dtype), np.s_[..., :b, :], True),
    ]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_results(shape, dtype):
    operands = layouts(shape, dtype)
    arrays = {name: x.numpy().copy() for name, x in operands.items()}
    for (left, x), (right, y) in itertools.product(operands.items(), repeat=2):
        wanted = arrays[left] - 2 * arrays[right]
        result = oploom.sub(x, y, alpha=2)
        assert result.shape == wanted.shape and (result.numpy() == wanted).all(), (left, right)
    for name, x in operands.items():
        patch, turned = operands["patch"], operands["turned"]
        wanted = np.where(arrays[name] == arrays["turned"], arrays["patch"], arrays[name])
        assert (oploom.where(x == turned, patch, x).numpy() == wanted).all(), name
        mixed = (x.to(oploom.int32) if dtype == "uint8" else x.to(oploom.complex128)) * patch
        assert (mixed.numpy() == arrays[name].astype("complex128") * arrays["patch"]).all(), name
        copy = x.expand(shape).contiguous()
        assert (copy.numpy() == np.broadcast_to(arrays[name], shape)).all(), name


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (0, 2, 1, 3)])
def test_no_elements(order):
    for shape in itertools.product((0, 1, 3, 20), repeat=4):
        if 0 not in shape:
            continue
        x = oploom.zeros(shape).permute(order)
        for kept in itertools.product((False, True), repeat=4):
            y = oploom.zeros([n if k else 1 for n, k in zip(x.shape, kept, strict=True)])
            for result in (x - y, oploom.where(x > y, x, y), x.to(oploom.float64) * y):
                assert result.shape == x.shape
            assert y.expand(x.shape).clone().copy_(x).shape == x.shape
            assert y.expand(x.shape).contiguous().shape == x.shape


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_targets(shape, dtype):
    operands = layouts(shape, dtype)
    arrays = {name: x.numpy().copy() for name, x in operands.items()}
    for (whole, index, turned), (name, x) in itertools.product(
        targets(shape, dtype), operands.items()
    ):
        for change, result in [
            (lambda t: t.copy_(x), lambda before: arrays[name]),
            (lambda t: t.add_(x), lambda before: before + arrays[name]),
            (
                lambda t: oploom.mul(x, operands["patch"], out=t),
                lambda before: arrays[name] * arrays["patch"],
            ),
        ]:
            target, wanted = whole.clone(), whole.numpy().copy()
            change(target[index].transpose(-1, -2) if turned else target[index])
            view = np.swapaxes(wanted[index], -1, -2) if turned else wanted[index]
            view[...] = result(view.copy())
            assert (target.numpy() == wanted).all(), name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reductions(shape, dtype):
    for name, x in layouts(shape, dtype).items():
        if x.shape != shape:
            continue
        values = x.numpy().copy()
        wide = "complex128" if "complex" in dtype else "float64"
        for keepdim in (False, True):
            assert (x.sum(-2, keepdim=keepdim).numpy() == values.sum(-2, keepdims=keepdim)).all(), (
                name
            )
            mean = values.astype(wide).mean(-2, keepdims=keepdim)
            assert np.allclose(
                x.to(getattr(oploom, wide)).mean(-2, keepdim=keepdim).numpy(), mean
            ), name
            assert (x.any(-2, keepdim=keepdim).numpy() == values.any(-2, keepdims=keepdim)).all(), (
                name
            )
            if "complex" in dtype:
                continue
            assert (
                x.amin(-2, keepdim=keepdim).numpy() == values.min(-2, keepdims=keepdim)
            ).all(), name
            largest, places = oploom.max(x, -2, keepdim=keepdim)
            assert (largest.numpy() == values.max(-2, keepdims=keepdim)).all(), name
            # Of equal elements, of which there are many, the first.
            assert (places.numpy() == values.argmax(-2, keepdims=keepdim)).all(), name
        if np.issubdtype(values.dtype, np.floating):
            odd = np.where(values == 3, np.nan, values)
            largest, places = oploom.max(oploom.tensor(odd), -2)
            assert np.array_equal(largest.numpy(), odd.max(-2), equal_nan=True), name
            assert (places.numpy() == odd.argmax(-2)).all(), name
    # Results with gaps.
    x = numbers(shape, dtype)
    target = oploom.zeros((*shape[:-2], shape[-1] + 1)).to(x.sum(-2).dtype)
    oploom.sum(x, -2, out=target[..., 1:])
    assert (target[..., 1:].numpy() == x.numpy().sum(-2)).all() and (
        target[..., 0].numpy() == 0
    ).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_indices(shape, dtype):
    random = np.random.default_rng(1)
    for name, x in layouts(shape, dtype).items():
        if x.shape != shape:
            continue
        values = x.numpy().copy()
        for dim in range(-3, 0):
            rows = random.integers(0, shape[dim], 5)
            taken = oploom.index_select(x, dim, oploom.tensor(rows))
            assert (taken.numpy() == np.take(values, rows, dim)).all(), (name, dim)
            places = random.integers(0, shape[dim], shape)
            result = oploom.gather(x, dim, oploom.tensor(places))
            assert (result.numpy() == np.take_along_axis(values, places, dim)).all(), (name, dim)
            target = x.clone()
            target.scatter_add_(dim, oploom.tensor(places), x)
            wanted = values.copy()
            where = list(np.indices(shape))
            where[dim] = places
            np.add.at(wanted, tuple(where), values)
            assert (target.numpy() == wanted).all(), (name, dim)
            for wrong in (-1, shape[dim]):
                with pytest.raises(IndexError, match="index"):
                    oploom.index_select(x, dim, oploom.tensor([0, wrong]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", [*SHAPES, (50, 16, 8), (50, 17, 2)], ids=str)
def test_softmax(shape, dtype):
    """And its gradients, along each dimension."""
    x = (numbers(shape, "float64") / 2 - 2).to(getattr(oploom, dtype))
    grad = (numbers(shape, "float64") / 4 - 1).to(getattr(oploom, dtype))
    values, grads = x.to(oploom.float64).numpy(), grad.to(oploom.float64).numpy()
    tolerance = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-6, "float64": 1e-14}[dtype]
    for dim in range(-3, 0):
        powers = np.exp(values - values.max(dim, keepdims=True))
        wanted = powers / powers.sum(dim, keepdims=True)
        for f, result, slope in [
            (oploom.softmax, wanted, wanted * (grads - (grads * wanted).sum(dim, keepdims=True))),
            (oploom.log_softmax, np.log(wanted), grads - wanted * grads.sum(dim, keepdims=True)),
        ]:
            leaf = x.clone().requires_grad_(True)
            y = f(leaf, dim)
            y.backward(grad)
            assert np.allclose(
                y.detach().to(oploom.float64).numpy(), result, rtol=tolerance, atol=tolerance
            )
            slopes = leaf.grad.to(oploom.float64).numpy()
            assert np.allclose(slopes, slope, rtol=tolerance, atol=4 * tolerance)


def test_far_memory():
    """Outputs that are written past the cache, and planes that are fetched."""
    batch = 1_000_001
    x, y = numbers((batch, 3, 1), "float32"), numbers((batch, 1, 3), "float32")
    patch = numbers((batch, 3, 5), "float32")[..., 1:4]
    product = x * y
    wanted = x.numpy() * y.numpy()
    assert (product.numpy() == wanted).all()
    assert ((patch + product).numpy() == patch.numpy() + wanted).all()
    copy = patch.transpose(1, 2).contiguous()
    assert (copy.numpy() == patch.numpy().swapaxes(1, 2)).all()
    assert (
        x.expand(batch, 3, 3).contiguous().numpy() == np.broadcast_to(x.numpy(), wanted.shape)
    ).all()

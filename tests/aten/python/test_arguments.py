"""How Python arguments are matched with signatures, and what is said where none fits."""

import os
import pickle
import subprocess
import sys

import numpy as np
import oploom
import pytest


def test_sizes_in_every_form():
    for x in (oploom.zeros(2, 3), oploom.zeros((2, 3)), oploom.zeros([2, 3]),
              oploom.zeros(size=(2, 3)), oploom.zeros(oploom.Size([2, 3])),
              oploom.zeros(np.int64(2), 3), oploom.zeros(oploom.tensor(2), 3)):
        assert x.shape == (2, 3)
    x = oploom.arange(6)
    assert x.view(2, 3).shape == x.view((2, 3)).shape == x.reshape(2, -1).shape == (2, 3)
    assert oploom.zeros(2, 3, 4).permute(2, 0, 1).shape == (4, 2, 3)
    assert oploom.zeros(()).shape == () and oploom.zeros(3).shape == (3,)


def test_one_number_for_a_list():
    x = oploom.ones(2, 3)
    assert x.sum(0).shape == (3,) and x.sum((0, 1)).item() == 6 and x.sum().item() == 6
    assert x.sum(dim=1, keepdim=True).shape == (2, 1)


def test_numpy_names():
    x = oploom.ones(2, 3)
    assert x.sum(axis=1, keepdims=True).shape == (2, 1)
    assert oploom.sum(input=x, axis=0).shape == (3,)


def test_scalars_of_every_kind():
    x = oploom.ones(2)
    for number in (2, 2.0, np.float32(2), np.int64(2), oploom.tensor(2)):
        assert x.add(number).tolist() == [3, 3]
    assert x.add(x, alpha=3).tolist() == [4, 4]
    assert x.add(2, alpha=np.float64(0.5)).tolist() == [2, 2]
    assert x.add(True).tolist() == [2, 2]


def test_numbers_promote_by_kind():
    assert (oploom.ones(2, dtype=oploom.float16) + 1.5).dtype is oploom.float16
    assert (oploom.ones(2, dtype=oploom.int8) + 1).dtype is oploom.int8
    assert (oploom.ones(2, dtype=oploom.int8) + 1.5).dtype is oploom.float32
    assert (oploom.ones(2) + 1j).dtype is oploom.complex64
    assert (oploom.ones(2, dtype=oploom.bool) + 1).dtype is oploom.int64


def test_optional_and_dtype_arguments():
    x = oploom.tensor([1.0, 2.0, 3.0])
    assert x.clamp(None, 2).tolist() == [1, 2, 2] and x.clamp(min=2).tolist() == [2, 2, 3]
    assert oploom.zeros(2, dtype=None).dtype is oploom.float32
    assert oploom.zeros(2, dtype=int).dtype is oploom.int64
    assert x.sum(dtype=oploom.float64).dtype is oploom.float64
    assert oploom.zeros(2, device="meta").is_meta
    assert oploom.zeros(2, device=oploom.device("cpu"), requires_grad=True).requires_grad


def test_out():
    x = oploom.ones(3)
    out = oploom.empty(0)
    assert oploom.add(x, x, out=out) is out and out.tolist() == [2, 2, 2]
    assert oploom.add(x, x, out=None).tolist() == [2, 2, 2]
    values, indices = oploom.empty(0), oploom.empty(0, dtype=oploom.int64)
    result = oploom.max(oploom.tensor([[1.0, 3.0], [4.0, 2.0]]), 1, out=(values, indices))
    assert values.tolist() == [3, 4] and indices.tolist() == [1, 0]
    assert result.values is values and result.indices is indices
    with pytest.raises(TypeError, match="2 tensors for 'out', got 1"):
        oploom.max(x, 0, out=(values,))
    with pytest.raises(TypeError, match="no argument 'out'"):
        x.add(x, out=out)


def foreign_tensor():
    """An object of another library's class of the same name."""
    return type("Tensor", (), {"__module__": "another"})()


def test_named_results():
    result = oploom.max(oploom.tensor([1.0, 3.0, 2.0]), 0)
    assert result.values.item() == 3 and result.indices.item() == 1
    values, indices = result
    assert indices.item() == 1
    assert repr(result) == "oploom.return_types.max(values=tensor(3.), indices=tensor(1))"
    assert type(result) is oploom.return_types.max and result._fields == ("values", "indices")
    assert result._asdict() == {"values": values, "indices": indices}
    assert result._replace(values=None) == (None, indices)
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is oploom.return_types.max and again.values.item() == 3


def test_every_named_result_is_pickled_elsewhere():
    """In a process that has not called the operator."""
    x = oploom.tensor([[1.0, 3.0, 2.0]])
    results = [x.max(0), x.min(0), x.sort(), x.topk(2)]
    code = "import pickle, sys; print([type(r).__name__ for r in pickle.loads(sys.stdin.buffer.read())])"
    path = os.pathsep.join(p for p in sys.path if p)
    printed = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(results),
                             stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path})
    assert printed.stdout.decode().strip() == "['max', 'min', 'sort', 'topk']"


def test_keyword_names_made_at_run_time():
    names = {"".join(["al", "pha"]): 2}
    assert oploom.ones(1).add(oploom.ones(1), **names).tolist() == [3]


def test_overload_by_type():
    x = oploom.tensor([[1.0, 5.0], [4.0, 2.0]])
    assert oploom.max(x).item() == 5
    assert oploom.max(x, 0).values.tolist() == [4, 5]
    assert oploom.max(x, x.T.contiguous()).tolist() == [[1, 5], [5, 2]]


@pytest.mark.parametrize("call, lines", [
    (lambda x: x.add("a"), [
        r"add\(\): got \(Tensor, str\); expected one of:",
        r"  add\(Tensor self, Tensor other, \*, Scalar alpha=1\)  # 'other' must be Tensor, got str",
        r"  add\(Tensor self, Scalar other, \*, Scalar alpha=1\)",
    ]),
    (lambda x: oploom.add(x, "a"), [
        r"  add\(Tensor self, Tensor other, \*, Scalar alpha=1, Tensor out=None\)"
        r"  # 'other' must be Tensor, got str",
    ]),
    (lambda x: oploom.add(x), [r"add\(\): got \(Tensor\)", "'other' is missing"]),
    (lambda x: oploom.add(x, x, x), ["takes 2 positional arguments, got 3"]),
    (lambda x: oploom.add(x, x, beta=1), ["beta=int", "has no argument 'beta'"]),
    (lambda x: oploom.add(x, other=x, input=x), ["'input' is given twice"]),
    (lambda x: x.sum(1.5), ["'dim' must be", "got float"]),
    (lambda x: x.view(2, "b"), ["'size' must be integers"]),
    (lambda x: oploom.cat([x, 1]), ["'tensors' must be Tensor\\[\\], got list of Tensor and int"]),
    (lambda x: oploom.empty([2, "a"]), ["got \\(list of int and str\\)"]),
    (lambda x: oploom.zeros(2, dtype="float32"), ["'dtype' must be ScalarType\\?, got str"]),
    (lambda x: oploom.mm(x, None), ["got \\(Tensor, None\\)"]),
    (lambda x: oploom.from_numpy(), [r"\n  from_numpy\(object array\)  # 'array' is missing"]),
    (lambda x: oploom.tensor(), [r"\n  tensor\(object data, ScalarType\? dtype=None, .*missing"]),
    (lambda x: oploom.tensor([1], dtype="float32"), ["'dtype' must be ScalarType\\?, got str"]),
    (lambda x: oploom.tensor([1.0], requires_grad="no"), ["'requires_grad' must be bool, got str"]),
    (lambda x: oploom.as_tensor([1], copy=True), ["as_tensor.*has no argument 'copy'"]),
    (lambda x: oploom.asarray(x, None), [r"\n  asarray\(object obj, \*, .*takes 1 positional"]),
    (lambda x: oploom.frombuffer(b""), [r"\n  frombuffer\(object buffer, .*'dtype' is missing"]),
    (lambda x: oploom.manual_seed("a"), ["manual_seed\\(int seed\\)  # 'seed' must be int, got str"]),
    (lambda x: oploom.set_num_threads(1.5), ["int threads\\)  # 'threads' must be int, got float"]),
    (lambda x: oploom.finfo(1, 2), [r"finfo\(\) takes at most 1 argument"]),
    (lambda x: oploom.iinfo(), [r"iinfo\(\) missing required argument 'type'"]),
    (lambda x: x.size("a"), [r"  size\(Tensor self, int\? dim=None\)  # 'dim' must be int\?"]),
    (lambda x: x.stride(0, 1), [r"  stride\(Tensor self, int\? dim=None\)  # takes 1 positional"]),
    (lambda x: x.numpy(True), [r"  numpy\(Tensor self, \*, bool force=False\)"]),
    (lambda x: x.requires_grad_("no"), ["'requires_grad' must be bool, got str"]),
    (lambda x: x.exp(out=x), [r"exp\(Tensor self\)  # has no argument 'out'"]),
    (lambda x: x.add(x, out=x), [r"add\(Tensor self, Tensor other, \*, Scalar alpha=1\)  # has"]),
    (lambda x: oploom.tensor(foreign_tensor()), ["got another.Tensor"]),
    (lambda x: oploom.exp(foreign_tensor()), ["'self' must be Tensor, got another.Tensor"]),
    (lambda x: x * [1, 2], [r"got float32 of shape \[2\]; oploom.tensor\(\) makes a tensor of"]),
])
def test_messages(call, lines):
    with pytest.raises(TypeError) as error:
        call(oploom.ones(2))
    for line in lines:
        assert error.match(line)


@pytest.mark.parametrize("call", [
    lambda x: oploom.empty(2**63), lambda x: oploom.empty([1, -2**63 - 1]), lambda x: x.sum(2**65),
    lambda x: x + 2**64, lambda x: x[2**70],
])
def test_integers_have_64_bits(call):
    with pytest.raises((OverflowError, IndexError), match=r"from -2\*\*63 to|out of"):
        call(oploom.ones(2))


def test_errors_have_python_classes():
    x = oploom.ones(2, 3)
    with pytest.raises(IndexError, match="dim"):
        x.sum(5)
    with pytest.raises((RuntimeError, ValueError)):
        x + oploom.ones(2)
    with pytest.raises(RuntimeError):
        x.view(7)
    with pytest.raises(OverflowError):
        oploom.zeros(2**70)


def test_the_place_of_a_new_dimension():
    x = oploom.ones(3)
    with pytest.raises(IndexError, match=r"expected dim in \[-2, 1\] for a 1-d input, got 9"):
        oploom.unsqueeze(x, 9)
    with pytest.raises(IndexError, match=r"expected dim in \[-2, 1\] for a 1-d input, got -3"):
        oploom.stack([x, x], -3)


def test_operands_unchanged_after_an_error():
    x, y = oploom.ones(2), oploom.zeros(3)
    with pytest.raises((RuntimeError, ValueError)):
        x.add_(y)
    assert x.tolist() == [1, 1] and y.tolist() == [0, 0, 0]


def test_docstrings():
    doc = oploom.add.__doc__
    assert doc.startswith("add(Tensor self, Tensor other, *, Scalar alpha=1, Tensor out=None)")
    assert "alpha" in oploom.Tensor.add.__doc__
    # Methods take no out=.
    assert oploom.Tensor.exp.__doc__.startswith("exp(Tensor self) -> Tensor\n\n")
    assert oploom.Tensor.exp.__doc__.split("\n\n")[1:] == oploom.exp.__doc__.split("\n\n")[1:]
    heads = [getattr(oploom.Tensor, n).__doc__.split("\n\n")[0] for n in dir(oploom.Tensor)
             if not n.startswith("_")]
    assert [h for h in heads if " out=" in h or "*)" in h] == []
    undocumented = [n for n in dir(oploom.Tensor)
                    if not n.startswith("_") and not getattr(oploom.Tensor, n).__doc__]
    assert undocumented == []


def test_garbage_arguments_do_not_leak_references():
    marker = object()
    before = sys.getrefcount(marker)
    for _ in range(100):
        with pytest.raises(TypeError):
            oploom.add(marker, marker)
    assert sys.getrefcount(marker) <= before + 2

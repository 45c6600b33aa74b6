"""The Tensor type: identity, lifetime, attributes, conversion to Python objects, copying."""

import copy
import gc
import pickle
import weakref

import numpy as np
import oploom
import pytest


def test_attributes():
    x = oploom.zeros(2, 3, dtype=oploom.float64)
    assert x.shape == (2, 3) and isinstance(x.shape, oploom.Size)
    assert repr(x.shape) == "oploom.Size([2, 3])" and x.shape.numel() == 6
    assert isinstance(x.shape[:1], oploom.Size) and isinstance(x.shape + (1,), oploom.Size)
    assert x.dtype is oploom.float64 and x.dtype is oploom.double
    assert x.device == oploom.device("cpu") and x.device.type == "cpu"
    assert x.layout is oploom.strided
    assert x.ndim == x.dim() == 2 and x.numel() == 6
    assert x.itemsize == x.element_size() == 8 and x.nbytes == 48
    assert x.stride() == (3, 1) and x.stride(0) == 3 and x.stride(-1) == 1
    assert x.size() == (2, 3) and x.size(-1) == 3 and x.size(dim=0) == 2
    assert x.T.shape == (3, 2) and x.mT.shape == (3, 2)
    assert oploom.zeros(2, 3, 4).T.shape == (4, 3, 2)
    assert x.is_contiguous() and not x.T.is_contiguous()
    assert x.is_cpu and not x.is_cuda and not x.is_meta
    assert not x.requires_grad and x.is_leaf and x.grad is None and x.grad_fn is None
    with pytest.raises(IndexError, match="dim"):
        x.size(2)


def test_real_and_imaginary_parts():
    z = oploom.tensor([1 + 2j, 3 - 4j])
    assert z.real.tolist() == [1, 3] and z.imag.tolist() == [2, -4]
    assert z.real.dtype is oploom.float32 and z.real._base is not None
    z.real = oploom.tensor([5, 6])
    z.imag[0] = 7
    z.imag += 1
    assert z.tolist() == [5 + 8j, 6 - 3j]
    z.imag = 0.5
    assert z.tolist() == [5 + 0.5j, 6 + 0.5j]
    x = oploom.ones(2)
    assert x.real is x
    x.real = 3
    assert x.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="expected a complex input, got float32"):
        x.imag
    with pytest.raises(RuntimeError, match="expected a complex input, got float32"):
        x.imag = 1
    with pytest.raises(AttributeError, match="'real' cannot be deleted"):
        del z.real
    # The parts are views, so what is done to them has a gradient.
    w = z.clone().requires_grad_()
    y = w * 1
    y.real = y.imag * 3
    (y.real + y.imag).sum().backward()
    assert w.grad.tolist() == [4j, 4j]


def test_methods_take_what_their_functions_take():
    x = oploom.tensor([[3.0, -4.0], [0.0, 0.0]])
    assert x.norm().item() == x.norm("fro").item() == oploom.norm(x).item() == 5
    assert x.norm(dim=1).tolist() == [5, 0] and x.norm(1, 1, True).tolist() == [[7], [0]]
    assert x.norm(1, 1, False, oploom.float64).dtype is oploom.float64
    with pytest.raises(NotImplementedError, match="'nuc' needs singular values"):
        x.norm("nuc")
    with pytest.raises(ValueError, match="expected p to be a number or 'fro', got 'max'"):
        x.norm("max")
    rows, columns = x.nonzero(as_tuple=True)
    assert x.nonzero().tolist() == [[0, 0], [0, 1]]
    assert rows.tolist() == [0, 0] and columns.tolist() == [0, 1]
    assert x[oploom.where(x)].tolist() == [3, -4]
    with pytest.raises(TypeError, match="out goes with as_tuple=False"):
        oploom.nonzero(x, out=rows, as_tuple=True)


def test_identity_while_alive():
    x = oploom.ones(3)
    y = x
    assert y is x
    assert x.add_(1) is x
    out = oploom.empty(3)
    assert oploom.add(x, x, out=out) is out
    leaf = oploom.ones(3, requires_grad=True)
    leaf.sum().backward()
    assert leaf.grad is leaf.grad


def test_attributes_that_python_sets():
    x = oploom.ones(3)
    x.note = "kept"
    alive = weakref.ref(x)
    assert x.note == "kept"
    del x
    assert alive() is None


def test_cycle_through_attribute_is_collected():
    x = oploom.ones(3)
    x.me = x
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None


def test_subclass():
    class Named(oploom.Tensor):
        pass

    x = oploom._C._make_subclass(Named, oploom.ones(2))
    x.name = "a"
    assert isinstance(x, Named) and isinstance(x, oploom.Tensor)
    assert type(x + x) is oploom.Tensor
    assert type(copy.deepcopy(x)) is Named and copy.deepcopy(x).name == "a"
    assert oploom.Tensor(2, 3).shape == (2, 3)
    assert oploom.Tensor([1, 2]).dtype is oploom.float32
    with pytest.raises(TypeError):
        oploom._C._make_subclass(int, oploom.ones(2))


def test_to_python_numbers():
    assert oploom.tensor(3).item() == 3 and isinstance(oploom.tensor(3).item(), int)
    assert isinstance(oploom.tensor([2.5]).item(), float)
    assert oploom.tensor(True).item() is True
    assert oploom.tensor(1 + 2j).item() == 1 + 2j
    assert int(oploom.tensor(3.7)) == 3 and float(oploom.tensor(3)) == 3.0
    assert complex(oploom.tensor(3.0)) == 3 + 0j
    assert [10, 20, 30][oploom.tensor(1)] == 20
    assert bool(oploom.tensor(0.0)) is False and bool(oploom.tensor([2])) is True
    assert f"{oploom.tensor(3.14159):.2f}" == "3.14"
    with pytest.raises(RuntimeError, match="one element, got 2"):
        oploom.ones(2).item()
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(oploom.ones(2))
    with pytest.raises(TypeError, match="index"):
        [1][oploom.tensor(0.5)]


def test_lists_and_iteration():
    x = oploom.arange(6).reshape(2, 3)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]] and x.T.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert oploom.tensor(5).tolist() == 5 and oploom.zeros(0, 2).tolist() == []
    assert [row.tolist() for row in x] == x.tolist()
    assert len(x) == 2 and 4 in x and 9 not in x
    with pytest.raises(TypeError):
        len(oploom.tensor(1))
    with pytest.raises(TypeError):
        iter(oploom.tensor(1))


def test_hash_is_identity():
    a, b = oploom.ones(2), oploom.ones(2)
    assert {a: 1}[a] == 1 and len({a, b}) == 2


@pytest.mark.parametrize("data, dtype", [
    (1, oploom.int64),
    (True, oploom.bool),
    (1.5, oploom.float32),
    (1j, oploom.complex64),
    ([1, 2.5], oploom.float32),
    ([True, 2], oploom.int64),
    ([[1], [2j]], oploom.complex64),
    ([], oploom.float32),
    (np.float64(1), oploom.float64),
    ([np.int8(1), np.int8(2)], oploom.int8),
    ([np.int8(1), 2.5], oploom.float32),
    (np.ones(2, np.float16), oploom.float16),
    (range(3), oploom.int64),
])
def test_tensor_infers_the_dtype(data, dtype):
    x = oploom.tensor(data)
    assert x.dtype is dtype
    assert x.tolist() == (np.asarray(data).tolist() if not isinstance(data, range) else [0, 1, 2])


def test_tensor_copies_and_converts():
    a = np.arange(3.0)
    x = oploom.tensor(a)
    a[0] = 9
    assert x.tolist() == [0, 1, 2]
    y = oploom.tensor(x, dtype=oploom.int32)
    assert y.dtype is oploom.int32 and y.tolist() == [0, 1, 2]
    assert oploom.tensor([[1, 2], [3, 4]], dtype=float).dtype is oploom.float64
    assert oploom.tensor(1.0, requires_grad=True).requires_grad
    assert oploom.tensor([oploom.tensor(1), oploom.tensor(2)]).tolist() == [1, 2]
    assert oploom.tensor(a[::-1]).tolist() == [2, 1, 9]
    assert oploom.tensor(a.astype(">f8")).tolist() == [9, 1, 2]


@pytest.mark.parametrize("data, error, message", [
    ([1, "a"], TypeError, "got str"),
    ("abc", TypeError, "got str"),
    ([[1, 2], [3]], ValueError, "length 2, got one of length 1"),
    ([1, [2]], (TypeError, ValueError), "got"),
    ([[1], 2], ValueError, "sequence of length 1"),
    (None, TypeError, "None"),
    ({1: 2}, TypeError, "dict"),
])
def test_tensor_refuses(data, error, message):
    with pytest.raises(error, match=message):
        oploom.tensor(data)


def test_tensor_checks_ranges():
    with pytest.raises(ValueError, match="300 does not fit uint8"):
        oploom.tensor([300], dtype=oploom.uint8)
    with pytest.raises(OverflowError):
        oploom.tensor([2**70])


def test_conversions():
    x = oploom.tensor([0.5, 1.5])
    assert x.to(oploom.float32) is x and x.float() is x and x.to("cpu") is x and x.cpu() is x
    assert x.to(oploom.float32, copy=True) is not x
    for name, dtype in [("double", "float64"), ("int", "int32"), ("long", "int64"),
                        ("half", "float16"), ("bfloat16", "bfloat16"), ("bool", "bool"),
                        ("byte", "uint8"), ("cfloat", "complex64")]:
        assert getattr(x, name)().dtype is getattr(oploom, dtype)
    assert x.to(oploom.ones(1, dtype=oploom.float64)).dtype is oploom.float64
    assert x.to("meta").device.type == "meta"
    assert x.to(device="cpu", dtype=oploom.int8).dtype is oploom.int8
    assert x.type() == "oploom.float32" and x.type(oploom.int64).dtype is oploom.int64
    with pytest.raises(TypeError, match="to\\(\\): got \\(Tensor, list of int\\)"):
        x.to([1])


@pytest.mark.parametrize(
    "value", [oploom.float32, oploom.strided, oploom.contiguous_format], ids=str
)
def test_names_are_pickled_by_the_module_they_are_in(value):
    assert b"oploom._C" not in pickle.dumps(value)
    assert pickle.loads(pickle.dumps(value)) is value
    assert type(value).__module__ == "oploom"


def test_copy_and_pickle():
    x = oploom.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x.sum().backward()
    shallow, deep = copy.copy(x), copy.deepcopy(x)
    assert shallow.data_ptr() == x.data_ptr() and shallow.requires_grad
    assert deep.data_ptr() != x.data_ptr() and deep.requires_grad
    assert deep.grad.tolist() == [[1, 1], [1, 1]]
    shared = copy.deepcopy([x, x])
    assert shared[0] is shared[1]
    with pytest.raises(RuntimeError, match="leaves"):
        copy.deepcopy(x * 2)
    for dtype in (oploom.float32, oploom.bool, oploom.bfloat16, oploom.complex128):
        y = x.detach().to(dtype).T
        z = pickle.loads(pickle.dumps(y))
        assert z.dtype is dtype and z.tolist() == y.tolist()
    assert pickle.loads(pickle.dumps(x)).requires_grad
    for value in (oploom.float32, oploom.strided, oploom.device("cuda", 1), x.shape,
                  oploom.channels_last):
        assert pickle.loads(pickle.dumps(value)) == value


def test_deepcopy_keeps_shared_memory_and_strides():
    a = oploom.arange(4.0)
    copied = copy.deepcopy({"a": a, "v": a[1:], "i": a.view(2, 2).T})
    copied["a"].fill_(7)
    assert copied["v"].tolist() == [7, 7, 7] and copied["i"].tolist() == [[7, 7], [7, 7]]
    assert copied["v"].storage_offset() == 1 and copied["i"].stride() == (1, 2)
    assert a.tolist() == [0, 1, 2, 3]
    # Two calls share nothing.
    b, c = copy.deepcopy(a), copy.deepcopy(a)
    assert b.data_ptr() != c.data_ptr()
    for x in (oploom.zeros(2, 3).t(), oploom.zeros(3, 1).expand(3, 2), oploom.zeros(4, 4)[::2, 1:],
              oploom.zeros(2, 0, 3), oploom.tensor(1.5), oploom.tensor([True])):
        y = copy.deepcopy(x)
        assert y.stride() == x.stride() and y.tolist() == x.tolist() and y.dtype is x.dtype
    array = np.ones(3)
    assert copy.deepcopy(oploom.from_numpy(array)).mul_(2).tolist() == [2, 2, 2] and array[0] == 1
    w = oploom.ones(2, requires_grad=True)
    w.grad = oploom.ones(2)
    model = copy.deepcopy([w, w.grad])
    model[1].mul_(3)
    assert model[0].grad.tolist() == [3, 3] and w.grad.tolist() == [1, 1]
    assert copy.deepcopy(oploom.zeros(2, device="meta")).is_meta


def test_pickle_keeps_the_strides_of_memory_without_gaps():
    x = oploom.arange(24).reshape(2, 3, 4)
    for y in (x, x[0].t(), x.permute(2, 0, 1), oploom.zeros(2, 0)):
        z = pickle.loads(pickle.dumps(y))
        assert z.stride() == y.stride() and z.tolist() == y.tolist()
    for y in (x[:, ::2], x[:, :1].expand(2, 3, 4), x[1, 1:]):
        z = pickle.loads(pickle.dumps(y))
        assert z.tolist() == y.tolist() and z.nbytes == y.nbytes
    rebuild, given = x.__reduce__()
    with pytest.raises(ValueError, match="without gaps"):
        rebuild(*given[:-1], (12, 4, 0))


def test_attributes_as_a_dict():
    x = oploom.ones(2)
    assert vars(x) == {} and x.__dict__ is vars(x)
    x.name = "a"
    assert vars(x) == {"name": "a"}
    vars(x)["other"] = 1
    assert x.other == 1
    x.__dict__ = {"name": "b"}
    assert x.name == "b"


def test_text_of_a_subclass():
    class Shouting(oploom.Tensor):
        def __repr__(self):
            return super().__repr__().upper()

    x = Shouting([1.0, 2.0])
    assert repr(x) == str(x) == f"{x}" == "TENSOR([1., 2.])"
    assert str(oploom.ones(1)) == "tensor([1.])"
    assert str(oploom.nn.Parameter(oploom.ones(1))).startswith("Parameter containing:")


def test_data_shares_memory_without_history():
    x = oploom.ones(2, requires_grad=True)
    x.data.mul_(3)
    assert x.tolist() == [3, 3] and not x.data.requires_grad
    x.data = oploom.zeros(4)
    assert x.shape == (4,) and x.requires_grad


def test_devices_and_dtypes():
    assert repr(oploom.float32) == "oploom.float32"
    assert repr(oploom.device("cuda:1")) == "device(type='cuda', index=1)"
    assert str(oploom.device("cuda", 1)) == "cuda:1" and oploom.device("cpu").index is None
    assert oploom.device("cpu") == oploom.device("cpu") != oploom.device("meta")
    assert hash(oploom.device("cpu")) == hash(oploom.device("cpu"))
    assert oploom.bfloat16.is_floating_point and oploom.bfloat16.itemsize == 2
    assert oploom.finfo(oploom.float32).eps == np.finfo(np.float32).eps
    assert oploom.finfo(oploom.float16).max == np.finfo(np.float16).max
    assert oploom.iinfo(oploom.uint8).max == 255 and oploom.iinfo(oploom.int64).min == -2**63
    assert oploom.promote_types(oploom.int8, oploom.float16) is oploom.float16
    assert not oploom.can_cast(oploom.float32, oploom.int64)
    with pytest.raises(RuntimeError, match="cpu"):
        oploom.device("gpu")
    with pytest.raises(TypeError):
        oploom.iinfo(oploom.float32)


def test_default_dtype():
    oploom.set_default_dtype(oploom.float64)
    try:
        assert oploom.tensor(1.0).dtype is oploom.float64
        assert oploom.tensor(1j).dtype is oploom.complex128
    finally:
        oploom.set_default_dtype(oploom.float32)
    with pytest.raises((TypeError, RuntimeError, ValueError)):
        oploom.set_default_dtype(oploom.int64)


def test_settings():
    threads = oploom.get_num_threads()
    oploom.set_num_threads(1)
    assert oploom.get_num_threads() == 1
    oploom.set_num_threads(threads)
    with pytest.raises(ValueError):
        oploom.set_num_threads(0)
    assert oploom.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
    before = oploom.memory_stats()["allocated_bytes"]
    x = oploom.empty(1000)
    assert oploom.memory_stats()["allocated_bytes"] >= before + 4000
    del x
    assert oploom.memory_stats()["allocated_bytes"] == before


def test_allocation_failures():
    with pytest.raises(MemoryError):
        oploom.empty(2**60)
    with pytest.raises((ValueError, RuntimeError, MemoryError)):
        oploom.empty(2**62, 2**62)
    with pytest.raises((ValueError, RuntimeError)):
        oploom.empty(-1)
    oploom.empty_cache()
    oploom.set_memory_limit(oploom.memory_stats()["reserved_bytes"] + 2**20)
    try:
        with pytest.raises(oploom.OutOfMemoryError, match="limit"):
            oploom.empty(2**24)
    finally:
        oploom.set_memory_limit(0)


def test_generators():
    a = oploom.Generator().manual_seed(7)
    b = oploom.Generator().manual_seed(7)
    assert oploom.rand(5, generator=a).tolist() == oploom.rand(5, generator=b).tolist()
    state = a.get_state()
    first = oploom.rand(5, generator=a).tolist()
    a.set_state(state)
    assert oploom.rand(5, generator=a).tolist() == first
    oploom.manual_seed(3)
    x = oploom.rand(4)
    assert oploom.manual_seed(3) is oploom.default_generator
    assert oploom.rand(4).tolist() == x.tolist() and oploom.initial_seed() == 3


DTYPES = ["uint8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64",
          "complex128"]


@pytest.mark.parametrize("other", DTYPES)
@pytest.mark.parametrize("name", DTYPES)
def test_view_as_another_dtype_is_that_of_numpy(name, other):
    """Of the same bits; NumPy refuses what does not fit as well."""
    array = np.arange(48).astype(name)
    for a in (array.reshape(3, 16), array.reshape(3, 16)[1:, 8:], array.reshape(16, 3).T,
              array.reshape(3, 16)[:, ::2], array.reshape(16, 3), array[5:6].reshape(())):
        x, dtype = oploom.from_numpy(a), getattr(oploom, other)
        try:
            expected = a.view(other)
        except ValueError:
            with pytest.raises(RuntimeError, match=r"^view\(\): "):
                x.view(dtype)
            continue
        result = x.view(dtype)
        assert result.dtype is dtype and result.shape == expected.shape
        assert result.data_ptr() == x.data_ptr()
        assert result.numpy().tobytes() == expected.tobytes()
        assert result.numpy().strides == expected.strides


def test_view_as_another_dtype_is_a_view_without_a_gradient():
    x = oploom.ones(4, requires_grad=True)
    for dtype in (oploom.float32, oploom.int32, oploom.complex64):
        assert not x.view(dtype).requires_grad and x.view(dtype).grad_fn is None
    y = x * 2
    product = y * y
    y.view(oploom.int32).zero_()
    assert y.tolist() == [0] * 4 and y._version == 1
    with pytest.raises(RuntimeError, match="changed in place"):
        product.sum().backward()
    for wrong in ("float32", None):
        with pytest.raises(TypeError):
            x.view(wrong)
    assert x.view(dtype=oploom.int16).shape == (8,) and x.view(2, 2).shape == (2, 2)


def test_an_output_on_the_bits_of_an_input_of_another_size_is_refused():
    x = oploom.tensor([258], dtype=oploom.int16)
    with pytest.raises(RuntimeError, match=r"add\(\): the tensor to be written and an input share"):
        oploom.add(x, 1, out=x.view(oploom.int8))
    assert x.tolist() == [258]


def nested_arrays():
    a = np.arange(6).reshape(2, 3)
    yield [a, a + 1]
    yield [a.astype(np.float32), a.astype(np.float64)]
    yield [a, [[1.5, 2, 3], [4, 5, 6]]]
    yield [a > 2, a]
    yield [a[:, ::-1], a.T.copy().T]
    yield [[a, a], [a, a * 2.5]]
    yield (a.astype(">i4"), a.astype("<i2"))
    yield [np.array([1, 2], dtype=object), [3, 4.5]]
    yield [a.astype(np.complex64), a]
    yield [np.zeros((2, 0)), np.zeros((2, 0))]
    yield [np.float32(2), np.float64(3)]
    yield [np.array([1, 2]), (3, np.int8(4))]


@pytest.mark.parametrize("data", nested_arrays(), ids=lambda data: type(data[0]).__name__)
def test_arrays_in_sequences(data):
    wanted = np.array([[x.tolist() if isinstance(x, np.ndarray) else x for x in row]
                       if isinstance(row, (list, tuple)) else
                       row.tolist() if isinstance(row, np.ndarray) else row for row in data])
    for dtype in (None, oploom.float32, oploom.float64, oploom.float16, oploom.complex128):
        if dtype is not None and not dtype.is_complex and np.iscomplexobj(wanted):
            continue
        result = oploom.tensor(data, dtype=dtype)
        assert result.shape == wanted.shape
        assert np.array_equal(result.to(oploom.complex128).numpy(), wanted)
        if dtype is not None:
            assert result.dtype == dtype


def test_tensors_in_sequences():
    x = oploom.tensor([[1.5, 2.0], [3.0, 4.0]], dtype=oploom.bfloat16).requires_grad_()
    result = oploom.tensor([x.t(), [[5, 6], [7, 8]]])
    assert result.dtype == oploom.bfloat16 and not result.requires_grad
    assert result.tolist() == [[[1.5, 3.0], [2.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]
    result[0, 0, 0] = 9
    assert x[0, 0].item() == 1.5


def test_numpy_scalars_in_sequences():
    for data, dtype in (
        ([np.float32(0.1), np.float64(0.1), np.float32(2)], oploom.float64),
        ([np.float16(1), np.int8(2), np.float16(3)], oploom.float16),
        ([np.int16(1), np.int16(-2), 3], oploom.int16),
        ([np.bool_(True), np.bool_(False), np.bool_(True)], oploom.bool),
        ([np.complex64(1j), np.float32(2), 3], oploom.complex64),
        ([[np.uint8(1)], [np.int8(-1)]], oploom.int16),
        ([True, 2, 3.5], oploom.float32),
        ([2, True, False], oploom.int64),
    ):
        result = oploom.tensor(data)
        wanted = np.array(data).astype(result.numpy().dtype)
        assert result.dtype == dtype and np.array_equal(result.numpy(), wanted)
    with pytest.raises(TypeError, match="expected numbers or nested sequences of numbers, got"):
        oploom.tensor([np.float32(1), np.datetime64("2020-01-01")])


def test_a_sequence_that_holds_itself_is_refused():
    for data in ([], [1.0], [[2]]):
        data.append(data)
        with pytest.raises(ValueError, match=r"tensor\(\): (the data is nested deeper than 64 levels"
                                             "|expected a (number|sequence))"):
            oploom.tensor(data)
        with pytest.raises(ValueError, match=r"tensor\(\): (the data is nested|expected a)"):
            oploom.tensor(data, dtype=oploom.float32)
    deep = 1.0
    for _ in range(64):
        deep = [deep]
    assert oploom.tensor(deep).dim() == 64
    with pytest.raises(ValueError, match="deeper than 64 levels"):
        oploom.tensor([deep])


def test_arrays_in_sequences_that_do_not_fit():
    a = np.arange(6).reshape(2, 3)
    with pytest.raises(ValueError, match="does not fit uint8"):
        oploom.tensor([a, a + 255], dtype=oploom.uint8)
    assert oploom.tensor([a, a + 250], dtype=oploom.uint8).sum().item() == 2 * 15 + 1500
    for data in ([a, a[:, :2]], [a, a[0]], [a[0], a], [a, 1]):
        with pytest.raises(ValueError, match="expected a (sequence|number)"):
            oploom.tensor(data)
    with pytest.raises(TypeError):
        oploom.tensor([np.array(["a", "b"]), np.array(["c", "d"])])

"""NumPy, the buffer protocol and DLPack: shared memory, lifetimes in both directions, refusals."""

import array
import gc
import weakref

import numpy as np
import oploom
import pytest

DTYPES = {
    "bool": np.bool_, "uint8": np.uint8, "int8": np.int8, "int16": np.int16, "int32": np.int32,
    "int64": np.int64, "float16": np.float16, "float32": np.float32, "float64": np.float64,
    "complex64": np.complex64, "complex128": np.complex128,
}


@pytest.mark.parametrize("name", DTYPES)
def test_numpy_both_ways(name):
    dtype = getattr(oploom, name)
    a = np.array([[0, 1, 2], [3, 4, 5]]).astype(DTYPES[name])
    x = oploom.from_numpy(a)
    assert x.dtype is dtype and x.tolist() == a.tolist() and x.data_ptr() == a.ctypes.data
    b = x.numpy()
    assert b.dtype == a.dtype and b.ctypes.data == a.ctypes.data and b.flags.writeable
    assert np.asarray(x.T).strides == a.T.strides
    x[0, 0] = 1
    assert a[0, 0] == 1 and b[0, 0] == 1
    np.testing.assert_array_equal(np.from_dlpack(x), a)
    assert oploom.from_dlpack(a).data_ptr() == a.ctypes.data
    m = memoryview(x)
    assert m.shape == (2, 3) and m.nbytes == a.nbytes and not m.readonly


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (1, 1, 2)])
def test_odd_shapes(shape):
    a = np.ones(shape, np.float32)
    x = oploom.from_numpy(a)
    assert x.shape == shape and x.numpy().shape == shape
    assert np.from_dlpack(x).shape == shape and oploom.from_dlpack(a).shape == shape
    assert oploom.tensor(a).shape == shape and oploom.as_tensor(a).shape == shape


def test_strided_views():
    a = np.arange(24.0).reshape(4, 6)
    for view in (a[::2], a[:, 1::2], a.T, a[1:3, 2:5].T, np.broadcast_to(a[:1], (3, 6)).copy()):
        x = oploom.from_numpy(view)
        assert x.tolist() == view.tolist() and x.data_ptr() == view.ctypes.data
        assert x.numpy().tolist() == view.tolist()


def test_memory_made_for_the_call():
    class OnTheFly:
        @property
        def __array_struct__(self):
            return np.full(1000, 7.0).__array_struct__

    x = oploom.from_numpy(OnTheFly())
    others = [np.zeros(1000) for _ in range(8)]
    assert x.eq(7).all().item() and not any(a.any() for a in others)


def test_refused_arrays():
    a = np.arange(4.0)
    frozen = a.copy()
    frozen.flags.writeable = False
    for call in (oploom.from_numpy, oploom.from_dlpack):
        with pytest.raises((ValueError, BufferError), match="read-?only"):
            call(frozen)
    with pytest.raises(ValueError, match="negative"):
        oploom.from_numpy(a[::-1])
    with pytest.raises(ValueError, match="byte order"):
        oploom.from_numpy(a.astype(">f8"))
    with pytest.raises(TypeError, match="'<U1'|str"):
        oploom.from_numpy(np.array(["a"]))
    with pytest.raises(TypeError, match="object"):
        oploom.from_numpy(np.array([object()]))
    with pytest.raises(TypeError, match="got list"):
        oploom.from_numpy([1, 2])
    with pytest.raises(TypeError, match=r"got the number .*oploom.tensor"):
        oploom.from_numpy(np.float32(1))
    fields = np.zeros(3, dtype=[("a", "f4"), ("b", "i1")])
    with pytest.raises(ValueError, match="multiple"):
        oploom.from_numpy(fields["a"])
    assert oploom.tensor(frozen).tolist() == oploom.as_tensor(frozen).tolist() == a.tolist()
    assert oploom.as_tensor(a[::-1]).tolist() == a[::-1].tolist()
    assert oploom.tensor(fields["a"]).tolist() == [0, 0, 0]


def test_refused_tensors():
    x = oploom.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="detach"):
        x.numpy()
    with pytest.raises((RuntimeError, BufferError)):
        np.asarray(x)
    with pytest.raises(BufferError):
        memoryview(x)
    with pytest.raises(BufferError, match="detach"):
        x.__dlpack__()
    assert x.detach().numpy().tolist() == x.numpy(force=True).tolist() == [1, 1]
    with pytest.raises(TypeError, match="bfloat16"):
        oploom.ones(2, dtype=oploom.bfloat16).numpy()
    with pytest.raises(TypeError, match="meta"):
        oploom.ones(2, device="meta").numpy()
    with pytest.raises(ValueError, match="meta"):
        oploom.ones(2, device="meta").__dlpack__()


def test_array_outlives_tensor():
    x = oploom.arange(1000)
    a = x.numpy()
    m = memoryview(x)
    d = np.from_dlpack(x)
    del x
    gc.collect()
    scribble = [oploom.full((1000,), 7) for _ in range(4)]
    assert a.sum() == d.sum() == sum(m) == 499500
    del scribble


def test_tensor_outlives_array():
    class Watched(np.ndarray):
        pass

    a = np.arange(1000.0).view(Watched)
    alive = weakref.ref(a)
    x = oploom.from_numpy(a)
    y = x[500:]
    del a, x
    gc.collect()
    assert alive() is not None and y[0].item() == 500
    del y
    gc.collect()
    assert alive() is None


def test_dlpack_lifetimes():
    before = oploom.memory_stats()["allocated_bytes"]
    capsule = oploom.ones(1000).__dlpack__()
    assert oploom.memory_stats()["allocated_bytes"] > before
    del capsule  # never consumed: frees the tensor
    gc.collect()
    assert oploom.memory_stats()["allocated_bytes"] == before
    x = oploom.from_dlpack(oploom.ones(1000).__dlpack__(max_version=(1, 0)))
    assert x.sum().item() == 1000
    del x
    assert oploom.memory_stats()["allocated_bytes"] == before


def test_dlpack_protocol():
    x = oploom.ones(2, 3)
    assert x.__dlpack_device__() == (1, 0)
    capsule = x.__dlpack__()
    assert oploom.from_dlpack(capsule).data_ptr() == x.data_ptr()
    with pytest.raises(ValueError, match="not used before"):
        oploom.from_dlpack(capsule)
    assert oploom.from_dlpack(x.__dlpack__(copy=True)).data_ptr() != x.data_ptr()
    with pytest.raises(ValueError):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError, match="__dlpack__"):
        oploom.from_dlpack(3)
    y = oploom.from_dlpack(x.to(oploom.bfloat16))
    assert y.dtype is oploom.bfloat16 and y.shape == (2, 3)
    assert oploom.from_dlpack(x.T).stride() == (1, 3)


def test_writing_through_shared_memory():
    a = np.zeros(3)
    x = oploom.from_numpy(a)
    x.add_(2)
    assert a.tolist() == [2, 2, 2]
    a[1] = 5
    assert x.tolist() == [2, 5, 2]


def test_shared_memory_is_not_resized():
    x = oploom.from_numpy(np.zeros(3, np.float32))
    big = oploom.ones(10)
    with pytest.raises(RuntimeError):
        oploom.add(big, big, out=x)


def test_memory_in_use_elsewhere_does_not_move():
    big = oploom.ones(1000)
    for share in (lambda x: x.numpy(), memoryview, lambda x: x.__dlpack__()):
        x = oploom.zeros(3)
        kept = share(x)
        with pytest.raises(RuntimeError, match="resiz|grow"):
            oploom.add(big, big, out=x)
        del kept


def test_frombuffer():
    data = bytearray(np.arange(4, dtype=np.int32).tobytes())
    x = oploom.frombuffer(data, dtype=oploom.int32)
    assert x.tolist() == [0, 1, 2, 3]
    x[0] = 9
    assert data[0] == 9
    with pytest.raises(BufferError):
        data.append(0)  # exported: must not move
    assert oploom.frombuffer(data, dtype=oploom.int32, count=2, offset=4).tolist() == [1, 2]
    assert oploom.frombuffer(array.array("d", [1.5]), dtype=oploom.float64).tolist() == [1.5]
    del x
    with pytest.raises(ValueError, match="read-only"):
        oploom.frombuffer(b"abcd", dtype=oploom.int32)
    with pytest.raises(ValueError, match="do not fit"):
        oploom.frombuffer(data, dtype=oploom.int32, count=5)
    with pytest.raises(ValueError, match="offset"):
        oploom.frombuffer(data, dtype=oploom.int32, offset=99)
    with pytest.raises(ValueError, match="whole number"):
        oploom.frombuffer(bytearray(5), dtype=oploom.int32)
    data.append(0)  # and all of them let go of it again


def test_asarray():
    a = np.ones(3)
    assert oploom.asarray(a).data_ptr() == a.ctypes.data
    assert oploom.asarray(a, copy=True).data_ptr() != a.ctypes.data
    assert oploom.asarray(a, copy=False).data_ptr() == a.ctypes.data
    x = oploom.ones(2)
    assert oploom.asarray(x).data_ptr() == x.data_ptr() and oploom.as_tensor(x) is x
    with pytest.raises(ValueError, match="without a copy"):
        oploom.asarray(a, dtype=oploom.float32, copy=False)
    with pytest.raises(ValueError, match="without a copy"):
        oploom.asarray([1, 2], copy=False)


def test_numpy_calls_array():
    x = oploom.tensor([1.0, 2.0])
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.array(x, copy=True).ctypes.data != x.data_ptr()
    assert np.add(x, 1).tolist() == [2, 3]


def test_negative_and_foreign_strides_are_copied():
    a = np.arange(6).reshape(2, 3)
    assert oploom.tensor(a[:, ::-1]).tolist() == a[:, ::-1].tolist()

"""The library for NVIDIA GPUs from Python; most of it runs only where there is a GPU."""

import numpy
import oploom
import pytest

gpu = pytest.mark.skipif(
    not oploom.cuda.is_available(), reason="needs a GPU, and oploom built with -DOPLOOM_CUDA=ON"
)


def test_says_what_is_missing():
    if oploom.cuda.is_available():
        pytest.skip("nothing is missing: there is a GPU")
    assert oploom.cuda.device_count() == 0
    with pytest.raises(RuntimeError, match="CUDA|liboploom_cuda"):
        oploom.cuda.synchronize()
    with pytest.raises((RuntimeError, NotImplementedError), match="(?i)cuda"):
        oploom.ones(3).to("cuda")


@gpu
def test_there_and_back():
    x = oploom.arange(12, dtype=oploom.float32).reshape(3, 4)
    there = x.to("cuda")
    assert there.is_cuda and there.device == oploom.device("cuda:0")
    assert there.to("cuda") is there
    assert numpy.array_equal(there.cpu().numpy(), x.numpy())
    assert numpy.array_equal(there.t().cpu().numpy(), x.numpy().T)
    assert numpy.array_equal(there.to(oploom.float16).cpu().numpy(), x.numpy().astype("float16"))


@gpu
def test_numbers_of_a_tensor():
    there = oploom.arange(6, dtype=oploom.float32).reshape(2, 3).to("cuda")
    assert there.t().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert repr(there[0]) == "tensor([0., 1., 2.], device='cuda:0')"
    assert there[1, 2].item() == 5.0 and float(there[0, 1]) == 1.0 and bool(there[1, 0])


@gpu
def test_expression_and_its_gradient():
    x = oploom.linspace(-2, 2, 1001)
    there = x.to("cuda").requires_grad_()
    y = there.exp()
    assert numpy.allclose(y.detach().cpu().numpy(), numpy.exp(x.numpy()), rtol=1e-6)
    y.backward(oploom.ones(1001).to("cuda"))
    assert numpy.allclose(there.grad.cpu().numpy(), numpy.exp(x.numpy()), rtol=1e-6)


@gpu
def test_memory_is_counted():
    before = oploom.cuda.memory_stats()["allocated_bytes"]
    x = oploom.zeros(1000, device="cuda")
    assert oploom.cuda.memory_stats()["allocated_bytes"] >= before + 4000
    del x
    assert oploom.cuda.memory_stats()["allocated_bytes"] == before


@gpu
def test_operator_without_a_kernel_says_so():
    with pytest.raises(NotImplementedError, match="CUDA|cuda"):
        oploom.ones(3).to("cuda").sum()

"""NVIDIA GPUs: ``oploom.cuda.is_available()`` loads the library that knows them, if there is one.

The library, ``liboploom_cuda``, is built with ``-DOPLOOM_CUDA=ON``. Once it is loaded, tensors can
be moved to the device ``"cuda"``.
"""

import ctypes
import functools
import glob
import os
from typing import Optional

__all__ = ["add_kernels", "device_count", "empty_cache", "is_available", "memory_stats", "synchronize"]


def _folders() -> list[str]:
    """Where liboploom itself is; the package brings it, or the program has loaded it."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "/liboploom.so" in line}
    return sorted({os.path.dirname(path) for path in paths})


@functools.cache
def _library() -> Optional[ctypes.CDLL]:
    for folder in _folders():
        for path in sorted(glob.glob(os.path.join(folder, "liboploom_cuda.so*"))):
            library = ctypes.CDLL(path)
            for kernels in _kernels:
                ctypes.CDLL(kernels)
            return library
    return None


# Libraries with the kernels of packages.
_kernels: list[str] = []


def add_kernels(path: str) -> None:
    """Has the library at ``path``, if there is one, loaded when oploom's own is: it holds kernels of
    a package of operators."""
    if not os.path.exists(path):
        return
    _kernels.append(path)
    if _library.cache_info().currsize > 0 and _library() is not None:
        ctypes.CDLL(path)


def _loaded() -> ctypes.CDLL:
    library = _library()
    if library is None:
        raise RuntimeError(
            "oploom.cuda: there is no liboploom_cuda beside liboploom; build it with "
            "-DOPLOOM_CUDA=ON"
        )
    return library


def _checked(status: int) -> None:
    if status != 0:
        message = ctypes.c_char_p.in_dll(_loaded(), "oploom_cuda_error").value
        raise RuntimeError((message or b"oploom.cuda: unknown error").decode())


def device_count() -> int:
    """How many GPUs there are; 0 without liboploom_cuda or without a driver."""
    library = _library()
    return 0 if library is None else int(library.oploom_cuda_device_count())


def is_available() -> bool:
    """Whether tensors can be moved to ``"cuda"``."""
    return device_count() > 0


def synchronize() -> None:
    """Waits for what is queued on the current device, and reports what went wrong in it."""
    _checked(_loaded().oploom_cuda_synchronize())


def empty_cache() -> None:
    """Gives memory that nobody uses back to the driver."""
    _checked(_loaded().oploom_cuda_empty_cache())


def memory_stats(device: int = -1) -> dict[str, int]:
    """Bytes and blocks that tensors use on a device; the current one for -1."""
    names = ("allocated_bytes", "peak_bytes", "reserved_bytes", "allocated_blocks", "num_allocs",
             "num_frees", "limit_bytes")
    values = (ctypes.c_int64 * len(names))()
    _checked(_loaded().oploom_cuda_memory_stats(ctypes.c_int(device), values))
    return dict(zip(names, values))

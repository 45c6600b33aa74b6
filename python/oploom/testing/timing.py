"""Timing of Python code: the one helper of every benchmark in Python."""

import time


def nanoseconds_per_call(function, seconds=0.02, clock=time.perf_counter):
    """Time of a call of `function`, run as often as fits into `seconds` after a warm-up.

    The loop's own cost is taken off: that of calling a function that does nothing.
    """
    times = 1
    while (elapsed := _loop(function, times, clock)) < seconds / 4:
        times *= 4
    times = max(1, int(times * seconds / max(elapsed, 1e-9)))
    empty = min(_loop(_nothing, times, clock) for _ in range(3))
    return max(0.0, (_loop(function, times, clock) - empty) / times * 1e9)


def _nothing():
    pass


def _loop(function, times, clock):
    start = clock()
    for _ in range(times):
        function()
    return clock() - start

"""What benchmarks/stalls finds in a trace."""

import importlib.machinery
import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "stalls"
loader = importlib.machinery.SourceFileLoader("stalls", str(SCRIPT))
stalls = importlib.util.module_from_spec(importlib.util.spec_from_loader("stalls", loader))
loader.exec_module(stalls)


def found(*accesses, between=0):
    trace = ["==1== Lackey", "I  10,4", " S fff0,4"]
    for number, access in enumerate(accesses):
        trace += [f"I  {100 + number:x},4", " " + access] + ["I  99,1"] * between
    (counter,) = stalls.waits(trace, marker=0xFFF0)
    return [(wait.bytes, wait.stored, wait.distance) for wait in counter]


def test_a_load_waits_unless_one_store_has_all_of_it():
    assert found("S 1000,8", "L 1000,8") == []
    assert found("S 1000,16", "L 1004,8") == []
    assert found("S 1000,8", "L 1008,8") == []
    assert found("S 1000,8", "L 1000,16") == [(16, 8, 1)]
    assert found("S 1000,8", "S 1008,8", "L 1000,16") == [(16, 8, 1)]
    assert found("S 1001,1", "M 1000,2") == [(2, 1, 1)]


def test_the_last_store_counts_and_one_long_ago_does_not():
    assert found("S 1000,1", "S 1000,8", "L 1000,8") == []
    assert found("S 1000,8", "S 1000,1", "L 1000,8") == [(8, 1, 1)]
    near = stalls.NEAR - 1
    assert found("S 1000,8", "L 1000,16", between=near) == [(16, 8, stalls.NEAR)]
    assert found("S 1000,8", "L 1000,16", between=near + 1) == []


def test_names_are_short():
    assert stalls.shorten("at::oploom_v1::(anonymous namespace)::f(c10::oploom_v1::Device)") == (
        "f(Device)"
    )
    assert len(stalls.shorten("f" * 100)) == 60


def test_only_what_is_behind_the_marker_counts():
    waiting = ["I  1,1", " S 1000,8", "I  2,1", " L 1000,16"]
    marker = ["I  3,1", " S fff0,4"]
    first, second = stalls.waits(waiting + marker + waiting * 2 + marker, marker=0xFFF0)
    assert list(first.values()) == [2] and not second

"""oploom.testing.benchmark: what it times, and beside what."""

import json
import sys

import numpy as np
import pytest
from oploom.testing import benchmark

from codegen.backend.__main__ import TREE

RECORDS = TREE / "generated" / "tests"


def found(pattern):
    return dict(benchmark.cases([RECORDS], pattern))


def test_pointwise_operators_are_timed_small_and_large_and_with_their_gradient():
    cases = found("^(exp|mm|argmax),")
    assert sorted(cases) == ["argmax, small", "exp, 1 M", "exp, small", "exp, with backward",
                             "mm, small", "mm, with backward"]
    assert cases["exp, 1 M"]["oploom"]().numel() == 1_000_000


@pytest.mark.parametrize("name", ["mm, small", "atan2, 1 M", "where.self, small", "elu, small"])
def test_numpy_computes_the_same(name):
    functions = found(f"^{name}$")[name]
    expected = functions["numpy"]()
    np.testing.assert_allclose(functions["oploom"]().numpy(), expected, rtol=1e-5, atol=1e-6)


def test_gradients_are_those_of_the_operator():
    cases = found("^exp, with backward$")
    cases["exp, with backward"]["oploom"]()  # reaches the leaves without an error


def large_calls(name, dtype="float32"):
    tests = next(t for t in benchmark.test_classes(RECORDS) if t.op.name == name)
    return dict(benchmark.large_calls(tests.op, dtype))


def test_a_sweep_gives_pointwise_operators_every_layout():
    calls = large_calls("atan2")
    layouts = {label: [(t.shape, t.stride()) for t in call.tensors.values()]
               for label, call in calls.items()}
    dense = ((1000, 1000), (1000, 1))
    assert layouts == {
        "contiguous": [dense, dense],
        "first transposed": [((1000, 1000), (1, 1000)), dense],
        "first every second": [((1000, 1000), (2000, 2)), dense],
        "last a row": [dense, ((1000,), (1,))],
        "last a column": [dense, ((1000, 1), (1, 1))],
    }
    for call in calls.values():
        np.testing.assert_allclose(call.run().numpy(), np.arctan2(*call.arrays.values()), rtol=1e-5)


def test_a_sweep_beside_one_thread_sets_their_number():
    before = benchmark.oploom.get_num_threads()
    cases = dict(benchmark.large_cases([RECORDS], "^dot, float32", ["float32"], one_thread=True))
    counts = {}
    try:
        for library, function in next(iter(cases.values())).items():
            function()
            counts[library] = benchmark.oploom.get_num_threads()
    finally:
        benchmark.oploom.set_num_threads(before)
    assert counts == {"oploom": before, "one thread": 1}


@pytest.mark.parametrize("name", ["mm", "outer", "cat", "sum.dim_IntList", "gather", "embedding"])
def test_a_sweep_multiplies_the_sizes_of_other_operators(name):
    calls = large_calls(name)
    assert calls
    for call in calls.values():
        values = [*call.tensors.values(), call.run()]
        tensors = [t for v in values for t in (v if isinstance(v, list) else [v])]
        largest = max(t.numel() for t in tensors if isinstance(t, benchmark.oploom.Tensor))
        assert 400_000 <= largest <= 1_000_000


def test_a_sweep_shows_what_is_slower(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(benchmark, "in_torch", lambda tests, call: call.bind())
    path = tmp_path / "figures.json"
    words = [str(RECORDS), "--filter", "^neg, ", "--large", "float32", "int64", "--rounds", "1",
             "--seconds", "1e-5", "--clock", "cpu", "--json", str(path)]
    monkeypatch.setattr(sys, "argv", ["benchmark", *words, "--below", "1e-9"])
    assert benchmark.main() == 0
    figures = json.loads(path.read_text())
    assert {f"neg, {d}, first transposed" for d in ("float32", "int64")} < set(figures)
    assert "neg," not in (shown := capsys.readouterr().out)
    assert "torch / oploom, large:" in shown
    monkeypatch.setattr(sys, "argv", ["benchmark", *words, "--below", "1e9"])
    assert benchmark.main() == 0
    assert "neg, int64, first every second" in capsys.readouterr().out


def test_report_and_figures(tmp_path, monkeypatch, capsys):
    path = tmp_path / "figures.json"
    words = [str(RECORDS), "--filter", "^exp,", "--rounds", "1", "--seconds", "1e-5"]
    monkeypatch.setattr(sys, "argv", ["benchmark", *words, "--json", str(path)])
    assert benchmark.main() == 0
    figures = json.loads(path.read_text())
    assert set(figures) == {"exp, small", "exp, 1 M", "exp, with backward"}
    assert all(figures["exp, small"][name] > 0 for name in ("oploom", "numpy"))
    assert "numpy / oploom, 1 M:" in capsys.readouterr().out


def test_a_filter_that_finds_nothing_is_a_mistake(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["benchmark", str(RECORDS), "--filter", "no such operator"])
    assert benchmark.main() == 1

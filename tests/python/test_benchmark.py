"""oploom.testing.benchmark: what it times, and beside what."""

import json
import sys

import numpy as np
import pytest
from oploom.testing import benchmark

from codegen.backend.__main__ import TREE

RECORDS = TREE / "generated" / "tests"


def found(pattern):
    return benchmark.cases([RECORDS], pattern)


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

"""NumPy's rendering of an expression, the reference of operators whose record names none, against the
references that somebody has written."""

import json
import re

import numpy as np
import pytest
import scipy

from codegen.backend.__main__ import TREE
from codegen.backend.model import read_model
from codegen.backend.tests import default_value, numpy_expression


@pytest.fixture
def operators(oploom):
    done = oploom("model", TREE / "native_functions.yaml", TREE / "derivatives.yaml")
    assert done.returncode == 0, done.stderr
    model = read_model(json.loads(done.stdout))
    return [op for op in model.operators
            if op.expression is not None and "numpy" in (op.test or {})]


def arguments(op, source):
    """Values of the arguments, from the domain and the samples of the record."""
    domain = op.test.get("domain") or {}
    given = {name: value for sample in op.test.get("samples") or [] for name, value in sample.items()}
    values = {}
    for argument in op.inputs:
        limits = domain if isinstance(domain, list) else domain.get(argument.name, [-2, 2])
        if argument.type.is_tensor:
            values[argument.name] = source.uniform(*limits, 100)
        elif argument.name in given:
            values[argument.name] = given[argument.name]
        else:
            values[argument.name] = eval(default_value(argument.default or "1"))
    return values


def test_agrees_with_what_was_written(operators):
    functions = set()
    for op in operators:
        names = {"np": np, "sp": scipy, "wide": "float64", "dtype": "float64",
                 **arguments(op, np.random.default_rng(0))}
        rendered = numpy_expression(op.expression.program)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(eval(rendered, dict(names)),
                                       eval(op.test["numpy"], dict(names)),
                                       rtol=1e-9, atol=1e-12, err_msg=f"{op.name}: {rendered}")
        functions |= {i.operation for i in op.expression.program.instructions}
        assert re.search(r"\bself\b", rendered), op.name
    assert len(functions) > 50

"""The text of the kernels that are made from expressions."""

import re

from codegen.backend import expression, text


def test_statements_fit_on_lines(model):
    """What is too long is taken apart by names; lines with the name of an operator may stay long."""
    for op in model.operators:
        if op.expression is None:
            continue
        for kernel in expression.kernels(op):
            for line in kernel.body.splitlines():
                if re.match(r"\s*(const auto|return) ", line) or line.startswith(" " * 8):
                    assert len(line) <= text.WIDTH, (op.name, line)

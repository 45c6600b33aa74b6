"""Runs the examples of operators: each line that is typed must print what stands below it."""

import doctest
import importlib

import oploom


def run(name, lines, module):
    """Fails with doctest's report of what was expected and what was printed instead. The lines see
    `oploom` and the package that the operator is of."""
    names = {"oploom": oploom, module: importlib.import_module(module)}
    text = "\n".join(lines) + "\n"
    test = doctest.DocTestParser().get_doctest(text, names, name, "the example", 0)
    assert test.examples, f"{name}: the example has no line that begins with '>>> '"
    report = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not report, "".join(report)

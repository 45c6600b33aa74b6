"""Runs the examples of operators: each line that is typed must print what stands below it."""

import doctest

import oploom


def run(name, lines):
    """Fails with doctest's report of what was expected and what was printed instead."""
    test = doctest.DocTestParser().get_doctest(
        "\n".join(lines) + "\n", {"oploom": oploom}, name, "native_functions.yaml", 0
    )
    assert test.examples, f"{name}: the example has no line that begins with '>>> '"
    report = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not report, "".join(report)

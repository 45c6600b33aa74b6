"""The front end knows the words that the tests of operators understand, and no others."""

import ast
import re

from codegen.backend.__main__ import TREE
from codegen.backend.tests import TESTS

CHECK = (TREE / "codegen/frontend/passes/TestRecords.cpp").read_text()
TESTING = TREE / "python/oploom/testing"


def table(name):
    text = re.search(rf"{name} =.*?;", CHECK, re.S)[0]
    return re.findall(r'"(\w+)"', text)


def groups():
    """The keys and dtypes of GROUPS, which only a built library can import."""
    text = (TESTING / "samples.py").read_text()
    first = re.search(r"^GROUPS = (\{.*?^\})", text, re.M | re.S)[1]
    dtypes = ast.literal_eval(first)
    added = re.findall(r'^GROUPS\["(\w+)"\]', text, re.M)
    return {*dtypes, *added}, {d for names in dtypes.values() for d in names}


def test_dtypes_and_their_groups():
    names, dtypes = groups()
    assert set(table("kDtypesAndGroups")) == names | dtypes
    assert set(table("kDtypesAndGroups")[:12]) == dtypes


def test_tests_that_may_be_skipped():
    asked = set(re.findall(r'skip_if_told\("(\w+)"\)', (TESTING / "harness.py").read_text()))
    assert set(table("kTests")) == asked
    assert asked <= {name.removeprefix("test_") for name in TESTS}


def test_keys_of_tensors():
    read = re.findall(r'spec(?:\.get\(|\[)"(\w+)"|"(\w+)" in spec', (TESTING / "samples.py").read_text())
    assert set(table("kTensorKeys")) == {a or b for a, b in read}

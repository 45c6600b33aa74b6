"""The tests of an operator that only writes to `self`, as a package may have one: each test calls it on
copies, here of an operator of the tree."""

from oploom.testing.harness import OperatorTests, pytest_generate_tests  # noqa: F401
from oploom.testing.samples import Operator, Parameter


class TestMul_(OperatorTests):
    op = Operator(
        name="mul_.Tensor",
        base="mul_",
        parameters=(
            Parameter("self", "Tensor"),
            Parameter("other", "Tensor"),
        ),
        record={
            "numpy": "self * other",
            "dtypes": ["float32", "float64"],
            "samples": [{"self": [3, 4], "other": [4]}, {"self": [], "other": []}],
        },
        method_only=True,
        changes_self=True,
        inplace=True,
        differentiable=("self", "other"),
    )
    defaults = {}
    test_out = None
    test_shape = None
    test_errors = None

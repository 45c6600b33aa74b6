"""The tests that every operator gets. Generated files have one subclass for each operator.

An operator's record names the tests that it leaves out, each with the reason:
`skip: {gradgradcheck: "..."}`; they are counted as skipped.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
import scipy.special  # type: ignore[import-untyped]

import oploom
from oploom.autograd import forward_ad, gradcheck, gradgradcheck
from oploom.testing import capability
from oploom.testing.forward import (
    check_forward,
    check_forward_over_reverse,
    duals,
    random_like,
    tangent_of,
)
from oploom.testing.samples import (
    TENSORS,
    Dims,
    Operator,
    Reduced,
    make_call,
    to_numpy,
    wide_name,
    widen,
)

# Relative and absolute error allowed against a reference in float64.
TOLERANCE = {
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
    "float32": 1.3e-5,
    "complex64": 1.3e-5,
    "float64": 1e-9,
    "complex128": 1e-9,
}

# The widest dtype of its kind, for those that are not it.
WIDEST = {
    **{t: oploom.int64 for t in (oploom.uint8, oploom.int8, oploom.int16, oploom.int32)},
    **{t: oploom.float64 for t in (oploom.float16, oploom.bfloat16, oploom.float32)},
    oploom.complex64: oploom.complex128,
}


def pytest_generate_tests(metafunc):
    """Runs the tests that take a dtype once for each dtype that the operator claims."""
    if "dtype" in metafunc.fixturenames:
        metafunc.parametrize("dtype", metafunc.cls.op.dtypes())


def outputs(result):
    """The tensors of a result, whatever their arrangement."""
    if isinstance(result, oploom.Tensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [t for part in result for t in outputs(part)]
    return []


def references(result):
    if isinstance(result, (tuple, list)):
        return [np.asarray(part) for part in result]
    return [np.asarray(result)]


def tolerance(op, tensor_dtype, swept):
    name = str(tensor_dtype).removeprefix("oploom.")
    given = (op.record.get("tol") or {}) if op.record else {}
    if not isinstance(given, dict):
        given = {d: given for d in TOLERANCE}
    return max(given.get(d, TOLERANCE.get(d, 0)) for d in (name, swept))


def assert_close(actual, expected, tol, what):
    assert tuple(actual.shape) == expected.shape, f"{what}: {tuple(actual.shape)} {expected.shape}"
    values = to_numpy(actual)
    if tol == 0 or values.dtype.kind in "biu":
        # An integral result, of a reference that may have been computed in floating point.
        np.testing.assert_array_equal(values, expected.astype(values.dtype), err_msg=what)
    else:
        np.testing.assert_allclose(values, expected, rtol=tol, atol=tol, err_msg=what)


def layouts(tensor):
    """The tensor with the same values under other strides."""
    yield "contiguous", tensor
    if tensor.dim() == 0:
        return
    order = list(range(tensor.dim()))[::-1]
    yield "transposed", tensor.permute(order).contiguous().permute(order)
    if tensor.numel():
        wide = oploom.stack([tensor, tensor], -1)
        yield "strided", wide.select(tensor.dim(), 1)
    if tensor.numel() and tensor.dim() > 1:
        wide = oploom.stack([tensor, tensor], 0).permute([d + 1 for d in order] + [0]).contiguous()
        yield "transposed and strided", wide.select(tensor.dim(), 1).permute(order)


def on_meta(tensor):
    return oploom.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def bind(dims, shape, sizes, name):
    """Gives each letter its size, and checks those that have one."""
    assert len(shape) == len(dims.sizes), f"{name}: {tuple(shape)} is not {dims}"
    for letter, size in zip(dims.sizes, shape):
        assert sizes.setdefault(letter, size) == size, f"{name}: {tuple(shape)}, {dims}, {sizes}"


def is_shape(shape, given):
    return len(shape) == len(given) and all(g in (s, -1) for s, g in zip(shape, given))


def is_reduced(shape, given):
    """Whether `shape` is `given` with dimensions dropped, or with dimensions of size 1 instead."""
    if len(shape) == len(given):
        return all(s in (1, g) for s, g in zip(shape, given))
    rest = iter(given)
    return len(shape) < len(given) and all(s in rest for s in shape)


class OperatorTests:
    op: Operator
    defaults: dict[str, Any]  # of arguments that samples leave out

    def skip_if_told(self, test):
        record = self.op.record
        assert record is not None, f"{self.op.name} has no test record in its YAML entry"
        if "none" in record:
            pytest.skip(f"{self.op.name}: {record['none']}")
        if reason := (record.get("skip") or {}).get(test):
            pytest.skip(f"{self.op.name}: {reason}")

    def calls(self, dtype):
        samples = self.op.samples()
        assert samples, f"{self.op.name} has no samples in its YAML entry"
        return [make_call(self.op, s, dtype, i) for i, s in enumerate(samples)]

    def differentiable_dtype(self):
        if "float64" not in self.op.dtypes():
            pytest.skip(f"{self.op.name}: does not take float64")
        return "float64"

    def one_dtype(self):
        """The dtype of tests that need only one."""
        dtypes = self.op.dtypes()
        return next((d for d in ("float32", "float64", "int64") if d in dtypes), dtypes[0])

    # ---- Values ----

    def test_values(self, dtype):
        """Against NumPy, which computes in float64 from the same rounded inputs."""
        self.skip_if_told("values")
        record = self.op.record
        for call in self.calls(dtype):
            result = call.run()
            if "numpy" in record:
                modules = {"np": np, "sp": scipy, "builtins": builtins}
                defaults = {p.name: None for p in self.op.parameters}
                defaults |= self.defaults
                arguments = {**defaults, **call.arrays}
                # `lambda_` and `np_` are the arguments called `lambda` and `np`.
                names = {f"{name}_": value for name, value in arguments.items()}
                names |= {"wide": wide_name(dtype), "dtype": dtype, **arguments, **modules}
                with np.errstate(all="ignore"):
                    expected = references(eval(record["numpy"], names))
            elif "oploom" in record:
                names = {"oploom": oploom, "F": oploom.nn.functional, **self.defaults,
                         **call.tensors}
                expected = [widen(t, dtype) for t in outputs(eval(record["oploom"], names))]
            else:
                pytest.fail(f"{self.op.name}: the record has neither numpy, oploom nor none")
            actual = outputs(result)
            if not actual:  # a number
                np.testing.assert_allclose(result, expected[0])
                continue
            assert len(actual) == len(expected), f"{len(actual)} results, {len(expected)} expected"
            for a, e in zip(actual, expected):
                assert_close(a, e, tolerance(self.op, a.dtype, dtype), f"{call.tensors}")

    # ---- Gradients ----

    def gradient_calls(self, dtype=None):
        for call in self.calls(dtype or self.differentiable_dtype()):
            names = [n for n in call.swept if n in self.op.differentiable
                     and call.tensors[n] is not None]
            lists = [n for n in self.op.differentiable if isinstance(call.tensors.get(n), list)]
            if not names and not lists:
                continue
            inputs = [call.tensors[n] for n in names]
            for n in lists:
                inputs += call.tensors[n]
            inputs = [t.detach().clone().requires_grad_() for t in inputs]

            def function(*tensors, call=call, names=names, lists=lists):
                given = dict(zip(names, tensors))
                rest = list(tensors[len(names):])
                for n in lists:
                    count = len(call.tensors[n])
                    given[n], rest = rest[:count], rest[count:]
                results = outputs(call.run(**given))
                return tuple(t for t in results if t.is_floating_point() or t.is_complex())

            yield function, tuple(inputs)

    def test_gradcheck(self):
        """Against central differences in float64."""
        self.skip_if_told("gradcheck")
        checked = 0
        for function, inputs in self.gradient_calls():
            assert gradcheck(function, inputs)
            checked += 1
        assert checked, f"{self.op.name} has no sample with a differentiable argument"

    def test_gradgradcheck(self):
        self.skip_if_told("gradgradcheck")
        for function, inputs in self.gradient_calls():
            assert gradgradcheck(function, inputs)

    def check_underived(self):
        """An argument that nobody has given a derivative is refused where it would get lost, and
        taken where nobody asks for one."""
        functions = [self.op.function()] + ([self.op.inplace_function()] if self.op.inplace else [])
        checked = 0
        for call in self.calls(self.differentiable_dtype()):
            for name in (n for n in self.op.underived if call.swept_tensors(n)):
                refusal = pytest.raises(
                    NotImplementedError, match=f"the derivative with respect to '{name}' is not"
                )
                before = {n: to_numpy(call.tensors[n]) for n in call.tensor_names()}
                recorded = call.changed(name, lambda t: t.detach().clone().requires_grad_())
                for function in functions:
                    with refusal:
                        call.run(function, **{name: recorded})
                    with refusal, forward_ad.dual_level():
                        dual = call.changed(name, lambda t: forward_ad.make_dual(t, t.clone()))
                        call.run(function, **{name: dual})
                for other, values in before.items():
                    np.testing.assert_array_equal(to_numpy(call.tensors[other]), values)
                with oploom.no_grad():
                    call.run(**{name: recorded})
                checked += 1
        if not checked:
            pytest.skip(f"{self.op.name}: no sample has {' or '.join(self.op.underived)}")

    # ---- Forward mode ----

    def forward_calls(self):
        """The calls to differentiate forward, in float64 and complex128 where they are taken."""
        dtypes = [d for d in ("float64", "complex128") if d in self.op.dtypes()]
        if not dtypes:
            pytest.skip(f"{self.op.name}: takes neither float64 nor complex128")
        return [call for dtype in dtypes for call in self.gradient_calls(dtype)]

    def without_formula(self, error):
        """An operator that has no forward formula says so; it is counted."""
        if "no forward formula" not in str(error):
            raise error
        pytest.skip(f"{self.op.name}: {error}")

    def test_forward(self):
        """Tangents against gradients."""
        self.skip_if_told("forward")
        try:
            for function, inputs in self.forward_calls():
                check_forward(function, inputs)
        except NotImplementedError as error:
            self.without_formula(error)

    def test_forward_over_reverse(self):
        """Tangents of gradients against gradients of gradients."""
        self.skip_if_told("forward_over_reverse")
        try:
            for function, inputs in self.forward_calls():
                check_forward_over_reverse(function, inputs)
        except NotImplementedError as error:
            self.without_formula(error)

    def test_forward_inplace(self):
        """Tangents of the in-place form against those of the operator."""
        self.skip_if_told("forward")
        inplace = self.op.inplace_function()
        for call in self.calls(self.differentiable_dtype()):
            names = [n for n in call.swept if n in self.op.differentiable
                     and isinstance(call.tensors[n], oploom.Tensor)]
            values = [call.tensors[n] for n in names]
            tangents = [random_like(x, i) for i, x in enumerate(values)]
            target = call.tensors["self"]
            everything = list(range(len(names)))
            for chosen in [everything] + [[i] for i in everything if len(names) > 1]:
                try:
                    with forward_ad.dual_level():
                        given = dict(zip(names, duals(values, tangents, chosen)))
                        expected = outputs(call.run(**given))[0]
                        if expected.shape != target.shape or expected.dtype is not target.dtype:
                            continue
                        changed = given.get("self", target).clone()
                        call.run(inplace, **{**given, "self": changed})
                        actual, wanted = tangent_of(changed), tangent_of(expected)
                        zero = oploom.zeros_like(target)
                        np.testing.assert_allclose(
                            to_numpy(zero if actual is None else actual),
                            to_numpy(zero if wanted is None else wanted),
                            rtol=1e-9, atol=1e-12, err_msg=f"{call.tensors}, tangents of {chosen}",
                        )
                except NotImplementedError as error:
                    self.without_formula(error)

    # ---- Layouts ----

    def test_layouts(self):
        """Transposed, strided and expanded inputs give what contiguous ones give."""
        self.skip_if_told("layouts")
        dtype = self.one_dtype()
        for call in self.calls(dtype):
            for name in call.tensor_names():
                expected = [to_numpy(t) for t in outputs(call.run())]
                for layout, tensor in layouts(call.tensors[name]):
                    for a, e in zip(outputs(call.run(**{name: tensor})), expected):
                        tol = tolerance(self.op, a.dtype, dtype)
                        assert_close(a, e, tol, f"{name} {layout}: {call.tensors}")

    # ---- Other forms ----

    def test_out(self, dtype):
        """out= fills an empty tensor, a given one and a strided one, and returns it."""
        self.skip_if_told("out")
        for call in self.calls(dtype):
            expected = outputs(call.run())
            for make in (lambda t: t.new_empty([0]), oploom.zeros_like,
                         lambda t: oploom.zeros([*t.shape, 2], dtype=t.dtype).select(t.dim(), 0)):
                given = tuple(make(t) for t in expected)
                result = call.run(out=given if len(given) > 1 else given[0])
                for g, r, e in zip(given, outputs(result), expected):
                    assert r is g
                    assert g.dtype is e.dtype
                    assert_close(g, to_numpy(e), tolerance(self.op, e.dtype, dtype), str(call))

    def test_inplace(self, dtype):
        self.skip_if_told("inplace")
        function = self.op.inplace_function()
        for call in self.calls(dtype):
            target = call.tensors["self"]
            expected = outputs(call.run())[0]
            if expected.shape != target.shape or expected.dtype is not target.dtype:
                continue
            changed = target.clone()
            before = changed._version
            assert call.run(function, self=changed) is changed
            assert changed._version > before
            assert_close(changed, to_numpy(expected), tolerance(self.op, target.dtype, dtype),
                         str(call))
            self.check_inplace_promotes(call, function, dtype)

    def check_inplace_promotes(self, call, function, dtype):
        """Beside wider tensors the result is computed in their dtype and converted to `self`'s."""
        target = call.tensors["self"]
        wide = WIDEST.get(target.dtype)
        others = {n: t.to(wide) for n, t in call.tensors.items()
                  if n != "self" and isinstance(t, oploom.Tensor) and t.dtype is target.dtype}
        if wide is None or not others:
            return
        try:
            expected = outputs(call.run(**others))[0].to(target.dtype)
        except (RuntimeError, TypeError):  # the operator takes tensors of one dtype only
            return
        changed = target.clone()
        call.run(function, self=changed, **others)
        assert_close(changed, to_numpy(expected), tolerance(self.op, target.dtype, dtype),
                     f"{call} with {', '.join(others)} of {wide}")

    def arrangements(self, call):
        """The tensors to change for each way to lay the arguments of a call out."""
        yield {}
        if not (self.op.record.get("skip") or {}).get("layouts"):
            for name in call.tensor_names():
                for _, tensor in layouts(call.tensors[name]):
                    yield {name: tensor}

    def test_meta(self):
        """On the Meta device shapes, strides and dtypes are those of the CPU."""
        self.skip_if_told("meta")
        for call in self.calls(self.one_dtype()):
            for changed in self.arrangements(call):
                tensors = {**call.tensors, **changed}
                meta = {n: on_meta(t) for n, t in tensors.items() if isinstance(t, oploom.Tensor)}
                lists = {n: [t if t is None else on_meta(t) for t in v]
                         for n, v in tensors.items()
                         if isinstance(v, list) and v and isinstance(v[0], oploom.Tensor)}
                for m, r in zip(outputs(call.run(**meta, **lists)), outputs(call.run(**changed))):
                    assert m.device.type == "meta"
                    assert (m.shape, m.dtype, m.stride()) == (r.shape, r.dtype, r.stride())

    def test_shape(self):
        """The key `shape`, by which formulas are checked, says what is true of arguments that have
        as many dimensions as it says."""
        self.skip_if_told("shape")
        shape = self.op.shape
        tensors = [p.name for p in self.op.parameters if p.type in TENSORS]
        described = 0
        for call in self.calls(self.one_dtype()):
            given = [(n, t, call.tensors[n].shape) for n, t in zip(tensors, shape.inputs)
                     if isinstance(t, Dims) and call.tensors.get(n) is not None]
            if any(len(term.sizes) != len(sizes) for _, term, sizes in given):
                continue
            described += 1
            sizes: dict[str, int] = {}
            for name, term, tensor in given:
                bind(term, tensor, sizes, name)
            for term, result in zip(shape.results, outputs(call.run()), strict=True):
                if isinstance(term, Dims):
                    bind(term, result.shape, sizes, "the result")
                elif term is not None:
                    given = call.tensors[term.argument]
                    given = tuple(getattr(given, "shape", given))
                    check = is_reduced if isinstance(term, Reduced) else is_shape
                    assert check(tuple(result.shape), given), f"{tuple(result.shape)} {term} {given}"
        assert described, "no sample has arguments of as many dimensions as `shape` says"

    # ---- Instruction sets ----

    def test_capability(self, dtype):
        """The best instruction set of this machine gives what the DEFAULT kernels give."""
        self.skip_if_told("capability")
        expected = capability.default_results(type(self), dtype)
        tol = min(tolerance(self.op, oploom.float32, dtype), 1e-5)
        if dtype in ("float16", "bfloat16"):
            tol = TOLERANCE[dtype]
        for call, arrays in zip(self.calls(dtype), expected):
            for a, e in zip(outputs(call.run()), arrays):
                assert_close(a, e, tol, str(call.tensors))

    # ---- Mistakes ----

    def test_errors(self):
        """Wrong input is refused with its message, and changes nothing."""
        self.skip_if_told("errors")
        for i, error in enumerate(self.op.record["errors"]):
            call = make_call(self.op, error["args"], error.get("dtype", self.one_dtype()), i)
            before = {n: to_numpy(call.tensors[n]) for n in call.tensor_names()}
            with pytest.raises(Exception, match=error["message"]) as caught:
                call.run()
            assert "bug" not in str(caught.value), str(caught.value)
            for name, values in before.items():
                np.testing.assert_array_equal(to_numpy(call.tensors[name]), values)

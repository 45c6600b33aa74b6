"""Pointwise functions at their edges, and under their other names."""

import re

import numpy as np
import oploom
import pytest
import scipy.special
from oploom.nn import functional as F

EDGES = [-np.inf, -1e4, -100.0, -1.0, -0.0, 0.0, 1.0, 100.0, 1e4, np.inf, np.nan]
LARGE = [-1e4, -100.0, -1e-8, 0.0, 1e-8, 100.0, 1e4]


def softplus(x):
    return np.logaddexp(x, 0)


# Function, its value in float64, its derivative.
SMOOTH = {
    "sigmoid": (oploom.sigmoid, scipy.special.expit,
                lambda x: scipy.special.expit(x) * scipy.special.expit(-x)),
    "log_sigmoid": (F.logsigmoid, lambda x: -softplus(-x), lambda x: scipy.special.expit(-x)),
    "softplus": (F.softplus, softplus, scipy.special.expit),
    "elu": (F.elu, lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
            lambda x: np.exp(np.minimum(x, 0))),
    "mish": (F.mish, lambda x: x * np.tanh(softplus(x)),
             lambda x: np.tanh(softplus(x)) + x * scipy.special.expit(x) / np.cosh(
                 np.minimum(softplus(x), 300)) ** 2),
    "silu": (F.silu, lambda x: x * scipy.special.expit(x),
             lambda x: scipy.special.expit(x) * (1 + x * scipy.special.expit(-x))),
    "softsign": (F.softsign, lambda x: x / (1 + abs(x)), lambda x: 1 / (1 + abs(x)) ** 2),
    "tanhshrink": (F.tanhshrink, lambda x: x - np.tanh(x), lambda x: np.tanh(x) ** 2),
    "log_ndtr": (oploom.special.log_ndtr, scipy.special.log_ndtr,
                 lambda x: np.exp(-x * x / 2 - np.log(np.sqrt(2 * np.pi))
                                  - scipy.special.log_ndtr(x))),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SMOOTH)
def test_large_arguments(name, dtype):
    function, value, derivative = SMOOTH[name]
    x = oploom.tensor(LARGE, dtype=getattr(oploom, dtype), requires_grad=True)
    y = function(x)
    y.sum().backward()
    wide = np.array(LARGE, dtype=dtype).astype(np.float64)
    tolerance = {"rtol": 1e-6, "atol": 1e-7} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-14}
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(y.detach().numpy(), value(wide), **tolerance)
        if name == "log_ndtr" and dtype == "float64":
            tolerance["rtol"] = 1e-8  # the reference subtracts two numbers of about 5e7
        np.testing.assert_allclose(x.grad.numpy(), derivative(wide), **tolerance)


@pytest.mark.parametrize("name", ["acos", "asinh", "atan", "exp2", "erfc", "sinc", "signbit",
                                  "isposinf", "isneginf", "digamma", "lgamma", "i0", "erfinv"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_edges_against_references(name, dtype):
    reference = {"acos": np.arccos, "asinh": np.arcsinh, "atan": np.arctan,
                 "lgamma": scipy.special.gammaln}.get(name) or getattr(
                     np, name, None) or getattr(scipy.special, name)
    values = np.array(EDGES, dtype=dtype)
    if name in ("digamma", "lgamma"):
        values = values[values > -100]  # beyond, SciPy's own conventions differ at the poles
    if name == "i0":
        values = values[~np.isinf(values)]  # SciPy's is nan there, the function's limit is inf
    with np.errstate(all="ignore"):
        if name == "sinc":
            values = values[np.isfinite(values)]
            values = values[abs(values) <= 100]
        expected = reference(values.astype(np.float64)).astype(
            bool if name in ("signbit", "isposinf", "isneginf") else dtype)
    actual = getattr(oploom, name)(oploom.tensor(values)).numpy()
    np.testing.assert_allclose(actual, expected, rtol=1e-6 if dtype == "float32" else 1e-13,
                               atol=1e-6 if dtype == "float32" else 1e-13)


def test_erfcx_is_accurate_where_it_is_large():
    """Against values that were computed with 50 digits; SciPy loses up to 9 bits below 0."""
    exact = {-26.6: 3.8943377196055849981e+307, -25.353860058075895: 2.9746490918383849995e+279,
             -20.3: 1.8597006513264721527e+179, -10.7: 1.0553711762251213543e+50,
             -3.3: 107274.43593281435841, -0.7: 2.7387021025613167788,
             0.3: 0.73459933456765514992, 5.1: 0.10861102631393280177,
             11.9: 0.047245232484087668552, 13.7: 0.041072879972456776388}
    got = oploom.special.erfcx(oploom.tensor(list(exact), dtype=oploom.float64)).numpy()
    np.testing.assert_allclose(got, list(exact.values()), rtol=1e-15)


HUGE = {"float32": [1e18, 2e19, 1e30, 88.5, 89.3, 89.5, 4.05e36],
        "float64": [1e150, 1e155, 1e300, 709.5, 710.4, 711.0, 2e305, 1e308]}


@pytest.mark.parametrize("name, reference", [
    ("asinh", np.arcsinh), ("acosh", np.arccosh), ("sinh", np.sinh), ("cosh", np.cosh),
    ("lgamma", scipy.special.gammaln), ("special.i0e", scipy.special.i0e),
    ("special.i1e", scipy.special.i1e),
    # SciPy's i0 and i1 overflow before their results do.
    ("i0", lambda x: np.exp(abs(x) / 2) * scipy.special.i0e(x) * np.exp(abs(x) / 2)),
    ("special.i1", lambda x: np.exp(abs(x) / 2) * scipy.special.i1e(x) * np.exp(abs(x) / 2))])
@pytest.mark.parametrize("dtype", HUGE)
def test_huge_arguments(name, reference, dtype):
    """Where the functions overflow, and where only their intermediate results would."""
    x = np.array(3 * HUGE[dtype], dtype=dtype)
    x = x if name in ("lgamma", "acosh") else np.concatenate([x, -x])
    with np.errstate(all="ignore"):
        expected = reference(x.astype(np.float64)).astype(dtype)
    np.testing.assert_allclose(find(name)(oploom.tensor(x)).numpy(), expected,
                               rtol=3e-7 if dtype == "float32" else 1e-13)


# The samples of these operators stay on one side of their steps, where there is a derivative.
SIDES = [-3.75, -2.5, -1.5, -1.25, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.25, 1.5, 2.5, 3.75]
STEPS = {
    "abs": np.abs, "sgn": np.sign, "sign": np.sign, "relu": lambda x: np.maximum(x, 0),
    "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round": np.round,
    "frac": lambda x: x - np.trunc(x), "atan": np.arctan, "sinc": np.sinc,
    "special.i0e": scipy.special.i0e, "special.i1": scipy.special.i1,
    "special.i1e": scipy.special.i1e, "nn.functional.softsign": lambda x: x / (1 + abs(x)),
}
QUADRANTS = {
    "atan2": np.arctan2, "hypot": np.hypot, "copysign": np.copysign, "fmod": np.fmod,
    "remainder": np.remainder, "floor_divide": np.floor_divide, "heaviside": np.heaviside,
    "div": np.divide, "maximum": np.maximum, "minimum": np.minimum,
}
SIDES_TOLERANCE = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-14}


def find(name):
    place = oploom
    for part in name.split("."):
        place = getattr(place, part)
    return place


@pytest.mark.parametrize("dtype", SIDES_TOLERANCE)
@pytest.mark.parametrize("name", STEPS)
def test_both_sides_of_a_step(name, dtype):
    x = np.tile(SIDES, 5).astype(dtype)  # several vectors, and some elements more
    tolerance = SIDES_TOLERANCE[dtype]
    np.testing.assert_allclose(find(name)(oploom.tensor(x)).numpy(),
                               STEPS[name](x.astype(np.float64)), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", SIDES_TOLERANCE)
@pytest.mark.parametrize("name", QUADRANTS)
def test_all_quadrants(name, dtype):
    x, y = (a.ravel().astype(dtype) for a in np.meshgrid(SIDES, SIDES))
    expected = QUADRANTS[name](x.astype(np.float64), y.astype(np.float64))
    actual = find(name)(oploom.tensor(x), oploom.tensor(y)).numpy()
    tolerance = SIDES_TOLERANCE[dtype]
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode, reference", [("floor", np.floor), ("trunc", np.trunc)])
def test_rounded_quotients_of_all_quadrants(mode, reference):
    x, y = (a.ravel() for a in np.meshgrid(SIDES, SIDES))
    actual = oploom.div(oploom.tensor(x), oploom.tensor(y), rounding_mode=mode)
    np.testing.assert_array_equal(actual.numpy(), reference(x / y))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_shifts_of_any_count(dtype):
    bits = np.dtype(dtype).itemsize * 8
    x = oploom.tensor([5, 100, 127], dtype=getattr(oploom, dtype))
    for count in (bits - 1, bits, bits + 1, 100):
        assert (x >> count).tolist() == [v >> count if count < bits else 0 for v in (5, 100, 127)]
        if count >= bits:
            assert (x << count).tolist() == [0, 0, 0]
    if dtype != "uint8":
        y = oploom.tensor([-5, 5], dtype=x.dtype)
        assert (y >> -1).tolist() == [-1, 0] and (y << -1).tolist() == [0, 0]
        assert (y >> bits).tolist() == [-1, 0]
        assert (y >> 1).tolist() == [-3, 2] and (y << 1).tolist() == [-10, 10]
    x <<= 1
    assert x.tolist()[0] == 10
    x >>= 1
    assert x.tolist()[0] == 5
    assert (3 << oploom.tensor([0, 1, 2])).tolist() == [3, 6, 12]


def test_gcd_and_lcm_of_extremes():
    low = -(2**63)
    x = oploom.tensor([low, 0, 0, -6, 6], dtype=oploom.int64)
    y = oploom.tensor([6, 0, -7, 4, -4], dtype=oploom.int64)
    assert oploom.gcd(x, y).tolist() == [2, 0, 7, 2, 2]
    assert oploom.lcm(x, y).tolist()[1:] == [0, 0, 12, 12]


ALIASES = {"arccos": "acos", "arcsinh": "asinh", "absolute": "abs", "negative": "neg",
           "fix": "trunc", "multiply": "mul", "subtract": "sub", "divide": "div",
           "true_divide": "div", "greater": "gt", "less_equal": "le", "not_equal": "ne",
           "arctan2": "atan2"}


@pytest.mark.parametrize("alias", ALIASES)
def test_aliases(alias):
    x = oploom.tensor([0.25, 0.5], requires_grad=True)
    binary = alias in ("multiply", "subtract", "divide", "true_divide", "greater", "less_equal",
                       "not_equal", "arctan2")
    arguments = (oploom.tensor([0.5, 0.5]),) if binary else ()
    expected = getattr(oploom, ALIASES[alias])(x, *arguments)
    for result in (getattr(oploom, alias)(x, *arguments), getattr(x, alias)(*arguments)):
        assert result.tolist() == expected.tolist() and result.dtype is expected.dtype
    out = oploom.empty([0], dtype=expected.dtype)
    with oploom.no_grad():
        assert getattr(oploom, alias)(x, *arguments, out=out) is out
        changed = x.detach().clone()
        if expected.dtype is changed.dtype:
            assert getattr(changed, alias + "_")(*arguments).tolist() == expected.tolist()
    assert out.tolist() == expected.tolist()
    if expected.requires_grad:
        getattr(oploom, alias)(x, *arguments).sum().backward()
        assert x.grad is not None


def test_names_of_special():
    x = oploom.tensor([0.25, 0.5])
    for name, function in {"expit": "sigmoid", "gammaln": "lgamma", "psi": "digamma",
                           "erf": "erf", "exp2": "exp2", "sinc": "sinc", "i0": "i0"}.items():
        assert getattr(oploom.special, name)(x).tolist() == getattr(oploom, function)(x).tolist()
    assert oploom.special.polygamma(1, x).tolist() == x.clone().polygamma_(1).tolist()
    assert oploom.special.round(oploom.tensor([1.26]), decimals=1).tolist() == pytest.approx([1.3])


def test_xlogy_where_the_factor_is_zero():
    x = oploom.zeros(4, requires_grad=True)
    y = oploom.tensor([0.0, -1.0, np.inf, np.nan], requires_grad=True)
    z = oploom.xlogy(x, y)
    np.testing.assert_array_equal(z.detach().numpy(), [0, 0, 0, np.nan])
    z[:3].sum().backward()
    assert x.grad[:3].tolist() == [0, 0, 0] and y.grad[:3].tolist() == [0, 0, 0]


@pytest.mark.parametrize("pos_weight", [None, 2.0])
def test_logits_agree_with_probabilities(pos_weight):
    x = oploom.tensor([-30.0, -2.0, 0.0, 3.0, 30.0], dtype=oploom.float64, requires_grad=True)
    target = oploom.tensor([0.0, 1.0, 0.5, 0.25, 1.0], dtype=oploom.float64)
    weight = None if pos_weight is None else oploom.tensor([pos_weight], dtype=oploom.float64)
    loss = F.binary_cross_entropy_with_logits(x, target, reduction="none", pos_weight=weight)
    p = scipy.special.expit(x.detach().numpy())
    t = target.numpy()
    factor = pos_weight or 1
    with np.errstate(all="ignore"):
        expected = -(factor * t * scipy.special.log_expit(x.detach().numpy())
                     + (1 - t) * scipy.special.log_expit(-x.detach().numpy()))
    # Where x is large, terms of its size cancel.
    np.testing.assert_allclose(loss.detach().numpy(), expected, rtol=1e-12, atol=1e-14)
    loss.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), (1 - t) * p - factor * t * (1 - p), rtol=1e-9, atol=1e-13)


def test_cross_entropy_of_certain_probabilities():
    p = oploom.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
    loss = F.binary_cross_entropy(p, oploom.tensor([0.0, 1.0, 1.0, 0.0]), reduction="none")
    assert loss.tolist() == [0, 0, 100, 100]
    loss.sum().backward()
    assert np.isfinite(p.grad.numpy()).all()


def test_batchmean():
    x, t = oploom.rand(4, 3).log(), oploom.rand(4, 3)
    total = F.kl_div(x, t, reduction="sum")
    np.testing.assert_allclose(F.kl_div(x, t, reduction="batchmean").item(), total.item() / 4, rtol=1e-6)
    with pytest.raises(ValueError, match="reduction"):
        F.kl_div(x, t, reduction="other")


def test_integers_with_a_fractional_number():
    x = oploom.tensor([-2, 0, 3])
    assert F.leaky_relu(x).dtype is oploom.float32
    np.testing.assert_allclose(F.leaky_relu(x).numpy(), [-0.02, 0, 3], rtol=1e-6)
    assert F.hardtanh(x, -1, 1).dtype is oploom.float32 or F.hardtanh(x, -1, 1).tolist() == [-1, 0, 1]


def test_heaviside_takes_the_value_at_zero():
    values = oploom.tensor([0.25, 0.5, 0.75, -2.0])
    assert oploom.heaviside(oploom.tensor([-1.0, 0.0, 1.0, -0.0]), values).tolist() == [0, 0.5, 1, -2]


def test_float_power_in_place_wants_the_dtype_of_its_result():
    x = oploom.tensor([1.5, 2.0, 4.0], dtype=oploom.float64)
    exponent = oploom.tensor([2.0, 3.0, 0.5])
    expected = np.float_power(x.numpy(), exponent.numpy())
    assert x.float_power_(exponent) is x
    np.testing.assert_array_equal(x.numpy(), expected)
    x.float_power_(2)
    np.testing.assert_array_equal(x.numpy(), expected**2)

    y = oploom.tensor([1.5, 2.0])
    with pytest.raises(RuntimeError, match=r"float_power_\(\): .* float64, .*float32"):
        y.float_power_(2)
    with pytest.raises(RuntimeError, match="complex128"):
        x.float_power_(oploom.tensor([1j, 2j, 3j]))
    np.testing.assert_array_equal(y.numpy(), [1.5, 2.0])


def test_float_power_in_place_has_gradients():
    base = oploom.tensor([1.5, 2.0], dtype=oploom.float64, requires_grad=True)
    (base * 1).float_power_(3).sum().backward()
    np.testing.assert_allclose(base.grad.numpy(), 3 * base.detach().numpy() ** 2)


@pytest.mark.parametrize("name", ["remainder", "bitwise_and", "bitwise_or", "bitwise_xor",
                                  "bitwise_left_shift", "bitwise_right_shift"])
def test_a_number_first_in_out_forms(name):
    function = getattr(oploom, name)
    other = oploom.tensor([3, 1, 2])
    out = oploom.empty(0, dtype=oploom.int64)
    assert function(13, other, out=out) is out
    assert out.tolist() == function(oploom.tensor(13), other).tolist() == function(13, other).tolist()
    with pytest.raises(TypeError, match=rf"{name}\(Scalar self, Tensor other, \*, Tensor out=None\)"):
        function("13", other)


@pytest.mark.parametrize("name", ["mul", "pow", "bitwise_and"])
def test_two_tensors_are_tried_first(name):
    assert re.match(rf"{name}\(Tensor self, Tensor ", getattr(oploom, name).__doc__)


def test_gradient_with_a_number_first():
    x = oploom.tensor([1.5, -2.25, 4.0], dtype=oploom.float64, requires_grad=True)
    oploom.remainder(5, x).sum().backward()
    assert x.grad.tolist() == [-3, 3, -1]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", range(7))
def test_polygamma_of_numbers_of_any_size(n, dtype):
    places = [-0.0, 0.0, 1e-30, 1e-3, 0.5, 1, 3.7, 11.9, 12, 100, 1e10, 1e30, np.inf, np.nan]
    x = np.array(places + ([1e-300, 1e60, 1e160, 1e300] if dtype == "float64" else []), dtype=dtype)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        expected = scipy.special.polygamma(n, wide)
        far = wide > 1e20
        if n > 0:  # where SciPy's powers underflow
            expected[far] = -((-1.0) ** n) * scipy.special.gamma(n) * wide[far] ** -float(n)
        expected = expected.astype(dtype)
    np.testing.assert_allclose(oploom.polygamma(n, oploom.tensor(x)).numpy(), expected,
                               rtol=1e-6 if dtype == "float32" else 1e-13, atol=1e-307)


# By mpmath; the zero is 1.46163214496836234.
def test_digamma_next_to_its_zero():
    x = 1.4616321449683622 + np.array([-4096, -2, -1, 0, 1, 2, 4096]) * 2.0**-52
    expected = [-8.801851929429077e-13, -5.221454580919643e-16, -3.072790566546293e-16,
                -9.241265521729427e-17, 1.2245374622004068e-16, 3.3732014765737563e-16,
                8.800003676317406e-13]
    np.testing.assert_allclose(oploom.digamma(oploom.tensor(x)).numpy(), expected, rtol=1e-15)


# By mpmath; the first is the double that is nearest to a multiple of pi/2.
def test_angles_of_many_turns():
    x = [6381956970095103 * 2.0**797, 1.7976931348623157e308, -2.0**30 - 0.5, 1e22, 123456789012.0,
         np.inf, -np.inf, np.nan]
    sines = [1.0, 0.004961954789184062, 0.16458741069886315, -0.8522008497671888,
             -0.08152420165661159]
    cosines = [-4.687165924254628e-19, -0.9999876894265599, 0.9863625014361829, 0.523214785395139,
               -0.9966713623578497]
    tensor = oploom.tensor(x, dtype=oploom.float64)
    for name, expected in (("sin", sines), ("cos", cosines), ("tan", np.divide(sines, cosines))):
        y = getattr(oploom, name)(tensor).numpy()
        # glibc's cosine of the first is 8 ULP off.
        np.testing.assert_allclose(y[:5], expected, rtol=2e-15)
        assert np.isnan(y[5:]).all()


# By mpmath: sums of more terms the higher the order is.
@pytest.mark.parametrize("n, expected", [
    (3, [24580.143419063566, 0.22390584881725206, 0.0029037456056083565, 0.001268386575742703,
         5.985448553818363e-07]),
    (9, [389639433205065.1, 39.49072156988489, 0.00011999489072667389, 1.0118201339382892e-05,
         1.0806297722549043e-15]),
    (20, [-2.243956035062425e37, -10709198259.124132, -0.01235358305893972,
          -5.287937034177197e-05, -3.907786350031734e-27]),
    (60, [-1.0201500516702966e137, -4.424195614523948e57, -6.426815862509774e22,
          -6592771287999371.0, -4.577135230762314e-51]),
])
def test_polygamma_of_high_orders(n, expected):
    x = oploom.tensor([0.125, 2.5, 9.3125, 12.125, 150], dtype=oploom.float64)
    np.testing.assert_allclose(oploom.polygamma(n, x).numpy(), expected, rtol=1.5e-15)


# By mpmath: where the numbers added cancel.
@pytest.mark.parametrize("n, expected", [
    (1, [9.82199434464988, 9.754669055673187, 18.975106932284888, 1000001.6473414317]),
    (2, [-0.002266289919637797, -1.9662734999843816, -124.58699919679619, 1999999997.5893795]),
    (5, [15382.22709134502, 15511.5805225432, 492226.7524508089, 1.2e20]),
    (6, [-1.3936279375536712e-06, -25932.94286137765, -11791239.778278671, 7.2e23]),
])
def test_polygamma_of_negative_numbers(n, expected):
    x = oploom.tensor([-20.5, -7.51, -0.75, -1e-3], dtype=oploom.float64)
    np.testing.assert_allclose(oploom.polygamma(n, x).numpy(), expected, rtol=1e-13)


def test_polygamma_far_below_zero():
    x = oploom.tensor([-1e9 - 0.25, -1e300, -np.inf], dtype=oploom.float64)
    trigamma = oploom.polygamma(1, x).tolist()
    assert trigamma[0] == pytest.approx(2 * np.pi**2)  # the reflection formula, DLMF 5.15.6
    assert trigamma[1:] == [np.inf, np.inf]


def test_halves_are_rounded_as_powers_of_ten_have_them():
    """0.35 * 10 is 3.5, while 0.35 / 0.1 is less."""
    for decimals in (1, 2, 3, -1, -2):
        x = (np.arange(-200, 200) + 0.5) * 10.0**-decimals
        assert np.array_equal(oploom.round(oploom.tensor(x), decimals=decimals).numpy(),
                              np.round(x, decimals))


@pytest.mark.parametrize("equal_nan", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int64"])
def test_isclose_of_every_pair_agrees_with_numpy(dtype, equal_nan):
    if dtype == "int64":
        values = np.array([-2**63, 2**63 - 1, -2**62, -100, -1, 0, 1, 2, 99, 100, 101, 2**62])
    else:
        values = np.array([*EDGES, 1 + 1e-4, 1 + 1e-2, 99.5, 100.001, 9.99e3], dtype=dtype)
    if dtype == "complex64":
        values = np.array([complex(0, x) for x in values.real] + [1 + 1j, 1 + 1.001j,
                          complex(1, np.nan), complex(np.inf, 1), 3, 3.00001])
    values = values.astype(dtype)
    reference = values.astype(float) if dtype == "int64" else values  # NumPy's differences wrap around
    for rtol, atol in ((1e-5, 1e-8), (0, 0), (1e-2, 0), (0, 1), (0.5, 1.5)):
        with np.errstate(all="ignore"):
            expected = np.isclose(reference[:, None], reference, rtol=rtol, atol=atol,
                                  equal_nan=equal_nan)
        x = oploom.tensor(values)
        actual = oploom.isclose(x[:, None], x, rtol=rtol, atol=atol, equal_nan=equal_nan)
        assert actual.dtype == oploom.bool
        np.testing.assert_array_equal(actual.numpy(), expected, f"{rtol}, {atol}")
        assert oploom.allclose(x, x, rtol=rtol, atol=atol, equal_nan=equal_nan) == (
            equal_nan or not np.isnan(values).any())


def test_isclose_of_two_dtypes_and_of_bad_tolerances():
    whole = oploom.tensor([2**24 + 1, 5, 7])
    floating = oploom.tensor([2.0**24, 5.1, 7.0])
    assert oploom.isclose(whole, floating, rtol=0).tolist() == [False, False, True]
    assert oploom.isclose(floating.double(), floating, rtol=0).tolist() == [True, True, True]
    assert oploom.isclose(whole, oploom.tensor(True), rtol=0, atol=4).tolist() == [False, True, False]
    for tolerances in ({"rtol": -1.0}, {"atol": -1.0}, {"rtol": float("nan")}):
        with pytest.raises(ValueError, match=r"isclose\(\): expected rtol and atol not to be"):
            oploom.isclose(floating, floating, **tolerances)
    with pytest.raises(RuntimeError, match=r"^isclose\(\): tensors of shapes \[3\] and \[2\]"):
        oploom.isclose(floating, floating[:2])

"""Derivatives where a formula written carelessly cancels, overflows or divides by 0.

The numbers are the function and its first three derivatives at a place, computed with mpmath to 60
digits and rounded.
"""

import math

import oploom
import pytest

# sinc: near 0 the quotient cancels, at 0 there is none. The others: what is not taken is infinite.
SINC = [
    (0.0, 1.0, 0.0, -3.289868133696453, 0.0),
    (1e-30, 1.0, -3.289868133696453e-30, -3.289868133696453, 1.948181820680049e-29),
    (1e-6, 0.9999999999983551, -3.289868133693206e-06, -3.289868133686712, 1.9481818206777598e-05),
    (-0.001, 0.999998355066745, 0.0032898648867278964, -3.289858392793072, -0.01948179531659038),
    (0.01, 0.9998355147105487, -0.0328954344817124, -3.2888941000101957, 0.19479529272766102),
    (0.3, 0.8583936913341398, -0.9020281301388888, -2.4584852862661744, 5.24749315292437),
    (2.5, 0.12732395447351627, -0.05092958178940651, -1.215893396004392, 1.4590720752052706),
]
EXPM1 = [(-40.0, -1.0, *[4.248354255291589e-18] * 3)]
ELU = [
    (-40.0, -1.0, *[4.248354255291589e-18] * 3),
    (-1.0, -0.6321205588285577, *[0.36787944117144233] * 3),
    (1.0, 1.0, 1.0, 0.0, 0.0),
    (100.0, 100.0, 1.0, 0.0, 0.0),
    (800.0, 800.0, 1.0, 0.0, 0.0),
]
CELU = [
    (-80.0, -2.0, 4.248354255291589e-18, 2.1241771276457944e-18, 1.0620885638228972e-18),
    (-1.0, -0.7869386805747332, 0.6065306597126334, 0.3032653298563167, 0.15163266492815836),
    (2000.0, 2000.0, 1.0, 0.0, 0.0),
]
SELU = [
    (-40.0, -1.7580993408473768, *[7.46902881591429e-18] * 3),
    (-1.0, -1.1113307378125625, *[0.646768603034814] * 3),
    (800.0, 840.5607898843843, 1.0507009873554805, 0.0, 0.0),
]
LOG_NDTR = [
    (-2.0, -3.783184333682032, 2.373215532822841, -0.8857208995859187, 0.059355861291565816),
    (0.0, -0.6931471805599453, 0.7978845608028654, -0.6366197723675814, 0.21801361414499015),
    (3.0, -0.0013508099647481938, 0.004437839042125664, -0.013333211541740806, 0.03568013687657047),
]
# log2(2**x + 2**0.5)
LOGADDEXP2 = [
    (-100.0, 0.5, 5.578088954947358e-31, 3.866436632034333e-31, 2.6800096503082886e-31),
    (1.0, 1.771553303163612, 0.585786437626905, 0.16818570816586034, -0.02000152818771333),
    (100.0, 100.0, 1.0, 7.732873264068666e-31, -5.360019300616577e-31),
    (1100.0, 1100.0, 1.0, 0.0, 0.0),
]
# Binary cross entropy with logits where the target is 0, where it is 1, and where it is 0.25 and
# counts three times.
BCE_0 = [
    (-40.0, *[4.248354255291589e-18] * 4),
    (0.0, 0.6931471805599453, 0.5, 0.25, 0.0),
    (1.0, 1.3132616875182228, 0.7310585786300049, 0.19661193324148185, -0.09085774767294841),
    (40.0, 40.0, 1.0, 4.248354255291589e-18, -4.248354255291589e-18),
]
BCE_1 = [
    (-40.0, 40.0, -1.0, 4.248354255291589e-18, 4.248354255291589e-18),
    (-1.0, 1.3132616875182228, -0.7310585786300049, 0.19661193324148185, 0.09085774767294841),
    (0.0, 0.6931471805599453, -0.5, 0.25, 0.0),
    (40.0, *[4.248354255291589e-18, -4.248354255291589e-18] * 2),
]
BCE_THREE_TIMES = [
    (-40.0, 30.0, -0.75, 6.372531382937383e-18, 6.372531382937383e-18),
    (-1.0, 1.2198925312773343, -0.34658786794500734, 0.2949178998622228, 0.1362866215094226),
    (0.0, 1.0397207708399179, 0.0, 0.375, 0.0),
    (40.0, 30.0, 0.75, 6.372531382937383e-18, -6.372531382937383e-18),
]


def cross_entropy(target, weight=None):
    def loss(x):
        return oploom.nn.functional.binary_cross_entropy_with_logits(
            x,
            oploom.full_like(x, target),
            pos_weight=None if weight is None else oploom.full_like(x, weight),
            reduction="none",
        )

    return loss


TABLE = {
    "expm1": (oploom.expm1, EXPM1),
    "bce_0": (cross_entropy(0), BCE_0),
    "bce_1": (cross_entropy(1), BCE_1),
    "bce_three_times": (cross_entropy(0.25, 3), BCE_THREE_TIMES),
    "sinc": (oploom.sinc, SINC),
    "elu": (oploom.nn.functional.elu, ELU),
    "celu": (lambda x: oploom.celu(x, 2.0), CELU),
    "selu": (oploom.selu, SELU),
    "log_ndtr": (oploom.special.log_ndtr, LOG_NDTR),
    "logaddexp2": (lambda x: oploom.logaddexp2(x, oploom.full_like(x, 0.5)), LOGADDEXP2),
}


def derivatives(function, place, dtype):
    x = oploom.tensor([place], dtype=dtype)
    x.requires_grad_(True)
    value = function(x)
    values = [value.item()]
    for _ in range(3):
        (value,) = oploom.autograd.grad(value.sum(), [x], create_graph=True)
        values.append(value.item())
    return values


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-12), ("float32", 1e-4)])
def test_three_derivatives(name, dtype, tolerance):
    function, rows = TABLE[name]
    for place, *expected in rows:
        found = derivatives(function, place, getattr(oploom, dtype))
        for order, (a, b) in enumerate(zip(found, expected)):
            assert math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-38), (place, order, a, b)


def test_atan2_has_no_direction_at_0():
    y, x = (oploom.zeros(1, requires_grad=True) for _ in range(2))
    gradients = oploom.autograd.grad(oploom.atan2(y, x).sum(), [y, x])
    assert [g.tolist() for g in gradients] == [[0.0], [0.0]]


@pytest.mark.parametrize("place, value, first, second, _", SINC)
def test_complex_sinc(place, value, first, second, _):
    """The real and imaginary parts of a gradient are two derivatives, here on the real axis."""
    x = oploom.tensor([complex(place)], dtype=oploom.complex128, requires_grad=True)
    y = oploom.sinc(x)
    assert math.isclose(y.item().real, value, rel_tol=1e-12) and y.item().imag == 0
    for wanted in (first, second):
        (y,) = oploom.autograd.grad(y.real.sum(), [x], create_graph=True)
        assert math.isclose(y.item().real, wanted, rel_tol=1e-12, abs_tol=1e-38)


def test_far_tails_are_numbers():
    for place in (-30.0, -10.0, 20.0):
        for dtype in (oploom.float32, oploom.float64):
            assert all(map(math.isfinite, derivatives(oploom.special.log_ndtr, place, dtype)))
    for place in (-1000.0, -200.0, 200.0, 1000.0):
        function = TABLE["logaddexp2"][0]
        assert all(map(math.isfinite, derivatives(function, place, oploom.float32)))

"""The tests' own test: against sums of fractions."""

import math
from fractions import Fraction

import pytest
from binomial import p_value


@pytest.mark.parametrize(("hits", "trials", "rate"), [(3, 10, 0.25), (0, 20, 0.1), (20, 20, 0.9), (57, 100, 0.5)])
def test_tails(hits, trials, rate):
    share = Fraction(rate)
    law = [math.comb(trials, n) * share**n * (1 - share) ** (trials - n) for n in range(trials + 1)]
    assert p_value(hits, trials, rate) == pytest.approx(float(min(1, 2 * min(sum(law[hits:]), sum(law[: hits + 1])))), rel=1e-9)


def test_power():
    """A million questions at 1%: 6% more hits than there should be are noticed."""
    assert p_value(10_100, 1_000_000, 0.01) > 1e-6 > p_value(10_600, 1_000_000, 0.01)

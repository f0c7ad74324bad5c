"""Exact tests of a number of hits, by the binomial law itself: its terms are added up one by one."""

import math


def p_value(hits: int, trials: int, rate: float) -> float:
    """Twice the smaller tail, both of which have the number itself in them."""
    log = math.lgamma(trials + 1) - math.lgamma(hits + 1) - math.lgamma(trials - hits + 1)
    middle = math.exp(log + hits * math.log(rate) + (trials - hits) * math.log1p(-rate))
    odds = rate / (1 - rate)

    def tail(step: int) -> float:
        total, term, number = middle, middle, hits
        while term > total * 1e-17 and 0 <= number + step <= trials:
            term *= (trials - number) / (number + 1) * odds if step > 0 else number / (trials - number + 1) / odds
            number, total = number + step, total + term
        return total

    return min(1.0, 2 * min(tail(1), tail(-1)))


# An honest filter fails once in a million.
ALPHA = 1e-6

#!/usr/bin/env python3
"""Checks certificates of truebloom (docs/CERTIFICATE.md) in whole numbers with directed rounding. Shares nothing with the library; needs Python 3.8 alone.

    python3 check_certificate.py FILE ...        one certificate a line; prints a verdict for each, ends with 1 if one is refused
"""
import json
import sys
from fractions import Fraction as F
from math import isqrt

S = 1 << 256  # the unit of exponentials and roots


class Refused(Exception):
    pass


def need(truth, why):
    if not truth:
        raise Refused(why)


def power(top, bottom, n, digits):
    """(top / bottom)^n from below and above, in units of 2^-digits."""
    low, high = (top << digits) // bottom, -((-top << digits) // bottom)
    l = h = 1 << digits
    while n:
        if n & 1:
            l, h = l * low >> digits, -(-h * high >> digits)
        low, high, n = low * low >> digits, -(-high * high >> digits), n >> 1
    return l, h


def coefficients(m, k):
    """c_j m^k for j = 0..k, c_j the expected number of j-subsets of the different positions among k draws: exact."""
    b = [1] + [0] * k
    for _ in range(k):
        b = [(m - j) * b[j] + (b[j - 1] if j else 0) for j in range(k + 1)]
    falling, found = 1, []
    for j in range(k + 1):
        found.append(falling * b[j])
        falling *= m - j
    return found


def terms(m, n, k, digits):
    """c_j (1 - j/m)^(nk) / 2^k from below and above, in units of 2^-digits."""
    whole = m**k << k
    for j, c in enumerate(coefficients(m, k)):
        low, high = power(max(m - j, 0), m, n * k, digits)
        yield c * low // whole, -(-c * high // whole)


def rate(m, n, k, digits):
    """The expected rate over 2^k from below and above, in units of 2^-digits."""
    low = high = 0
    for j, (l, h) in enumerate(terms(m, n, k, digits)):
        low, high = (low + l, high + h) if j % 2 == 0 else (low - h, high - l)
    return low, high


def check_mean(m, n, k, p, mean):
    if mean == "exact":
        need(n * k * m.bit_length() <= 1 << 17, "too large for exact fractions")
        f = sum((-1) ** j * c * max(m - j, 0) ** (n * k) for j, c in enumerate(coefficients(m, k)))
        return need(F(f, m ** (n * k + k)) <= p, "the expected rate is above the rate claimed")
    digits, error, found = mean["precision"], int(mean["error"], 16), [int(t, 16) for t in mean["terms"]]
    need(0 < digits <= 1 << 20 and error >= 0 and len(found) <= k + 1, "impossible sum")
    found += [0] * (k + 1 - len(found))
    for j, (low, high) in enumerate(terms(m, n, k, digits + 64)):
        need(found[j] << 64 <= low and high <= found[j] + error << 64, f"term {j} is wrong")
    top = sum(-t if j % 2 else t + error for j, t in enumerate(found))
    need(F(top << k, 1 << digits) <= p, "the sum is above the rate claimed")


def check_smaller(m, n, k, p, smallest, smaller):
    need(smaller["bits"] == m - 1 >= 1, "the wrong size is excluded")
    m -= 1
    between = [one["probes"] for one in smaller["between"]]
    if smallest == "for these probes":
        need(between == [k], "the probes are not excluded")
    else:
        need(smallest == "for any probes", "unknown claim")
        few, many, digits = smaller["few"], smaller["many"], 256
        need(0 <= few < many and between == list(range(few + 1, many)), "some probes are not excluded")
        for probes, left in ((few, True), (many, False)):
            low, high = power(m - 1, m, n * probes, digits)
            need(probes == 0 or (2 * low >= 1 << digits if left else 2 * high <= 1 << digits), "the bound is on the wrong side")
            need(probes == 0 or F(max((1 << digits) - high, 0), 1 << digits) ** probes > p, "the bound does not exclude")
    for one in smaller["between"]:
        k, digits, error, total = one["probes"], one["precision"], int(one["error"], 16), int(one["sum"], 16)
        low, high = rate(m, n, k, digits + 64)
        need(total - error << 64 <= low and high <= total + error << 64, f"the sum of {k} probes is wrong")
        need(F(total - error) * F(2) ** (k - digits) > p, f"{k} probes are not excluded")


def exp_above(x):
    """At least e^x for a fraction x of at most 0, in units of 1/S."""
    need(x <= 0, "the bound says nothing")
    halvings = max(int(-x), 1).bit_length()
    y, term, total = int(-x * S) >> halvings, S, S
    for i in range(1, 80):
        term = term * y // (i * S)
        total += term
    for _ in range(halvings):
        total = total * total // S
    return S * S // total + 1


def log_below(z):
    """At most ln z for a fraction z above 1, in units of 1/S: 2 artanh((z - 1) / (z + 1))."""
    y = int((z - 1) / (z + 1) * S)
    power_, total = y, 0
    for i in range(1, 400, 2):
        total, power_ = total + power_ // i, power_ * y // S * y // S
    return 2 * total


def root_below(x):
    return isqrt(int(x * S * S))


def check_one_filter(m, n, k, p, confidence, one):
    x, bound, unit = one["ones"], one["bound"], 1 << 64
    need(0 < confidence < 1, "impossible confidence")
    need(0 < x < m and F(x, m) ** k <= p < F(x + 1, m) ** k, "not the largest number of set bits")
    if bound == "certain":
        return need(min(m, n * k) <= x, "more bits can be set")
    if bound == "law":
        return need(law(m, n * k, x) >= confidence * S, "the law does not prove the confidence")
    (l1, h1), (l2, h2), one_ = power(m - 1, m, n * k, 448), power(max(m - 2, 0), m, n * k, 448), 1 << 448
    mean, above = F(int(one["mean_above"], 16), unit), F(int(one["variance_above"], 16), unit)
    need(mean >= F(m * (one_ - l1), one_), "the mean is higher")
    need(above >= F(m * h1 + m * (m - 1) * h2, one_) - F(m * l1, one_) ** 2, "the variance is higher")
    d = x + 1 - mean
    need(d > 0, "the mean is beyond the bound")
    if bound in ("largest term", "normal"):
        below = F(int(one["variance_below"], 16), unit)
        need(0 < below <= F(m * l1 + m * (m - 1) * l2, one_) - F(m * h1, one_) ** 2, "the variance is lower")
    if bound == "normal":
        t = F(root_below(d * d / above), S)
        mills = 4 / (3 * t + F(root_below(t * t + 8), S))
        miss = F(exp_above(-t * t / 2), S) * F("0.398943") * mills + F("0.56") * S / root_below(below)
        return need(miss <= 1 - confidence, "the bound does not prove the confidence")
    need(bound in ("chernoff", "largest term"), "unknown bound")
    u = F(int(one["tilt"], 16), unit)
    need(u > 0, "no tilt")
    miss = F(exp_above(above * u - (above + d) * F(log_below(1 + u), S)), S)
    if bound == "largest term":
        miss *= F("0.469") * S / root_below(below / (1 + u)) * (1 + u) / u
    need(miss <= 1 - confidence, "the bound does not prove the confidence")


def law(m, throws, x):
    """At most P(at most x bits are set after so many throws), in units of 1/S: throw by throw, rounded down; what is below 2^-60 is dropped."""
    first, chances, least = 0, [S], S >> 60
    for _ in range(throws):
        stay = [c * (first + i) // m for i, c in enumerate(chances)] + [0]
        for i, c in enumerate(chances):
            stay[i + 1] += c * (m - first - i) // m
        while stay and stay[0] < least:
            first, stay = first + 1, stay[1:]
        while stay and (stay[-1] < least or first + len(stay) - 1 > x):
            stay.pop()
        chances = stay
    return sum(chances)


def check(certificate):
    """Returns if the claim is proven, raises Refused otherwise."""
    need(certificate["format"] == "truebloom certificate 1", "unknown format")
    claim = certificate["claim"]
    m, n, k, h = (claim[name] for name in ("bits", "items", "probes", "hash_bits"))
    need(all(type(x) is int and x > 0 for x in (m, n, k, h)) and claim["law"] == "standard" and h <= 128, "impossible claim")
    p = F(claim["rate"]) - F(n, 1 << h)
    check_mean(m, n, k, p, certificate["mean"])
    if claim["smallest"] is not None:
        check_smaller(m, n, k, p, claim["smallest"], certificate["smaller"])
    if claim["confidence"] is not None:
        check_one_filter(m, n, k, p, F(claim["confidence"]), certificate["one_filter"])


def verdict(certificate):
    try:
        check(certificate)
    except Refused as why:
        return str(why)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, OverflowError) as error:
        return f"malformed: {error!r}"
    return None


if __name__ == "__main__":
    refused = 0
    for line in (line for name in sys.argv[1:] for line in open(name) if line.strip()):
        certificate = json.loads(line)
        why = verdict(certificate)
        refused += why is not None
        print("refused: " + why if why else "proven: " + json.dumps(certificate["claim"]))
    sys.exit(1 if refused else 0)

#!/usr/bin/env python3
"""Random answers of `truebloom eval`, at the corners of their ranges, held to an independent evaluation that shares nothing with the library.

    python3 second_opinion.py BINARY                     2,000 answers of small parameters in exact fractions (needs Python alone; frozen seed; .ci/run does this)
    python3 second_opinion.py BINARY COUNT SEED          the campaign: COUNT answers, large parameters by ball arithmetic

The campaign needs python-flint (Arb) in an environment of its own: python3 -m venv E; E/bin/pip install python-flint==0.9.0; E/bin/python second_opinion.py ...

The routes are not the library's: a standard rate is summed over the number of different positions of the query (Stirling numbers), a blocked one over the loads of its
block, a scheme of two hashes over all pairs of residues, laws of the fill are chains. Recycling filters have `reference/recycling.py`. Ends with 1 if an answer is wrong.
"""
import itertools
import json
import random
import subprocess
import sys
from fractions import Fraction as F
from functools import lru_cache
from math import comb, log2

try:
    from flint import arb, ctx, fmpq
except ImportError:
    arb = None


def number(x):
    """An exact fraction as the kind of number that is computed with."""
    return x if not BALLS else arb(fmpq(x.numerator, x.denominator))


BALLS = False


@lru_cache(None)
def stirling(k):
    row = [1]
    for _ in range(k):
        row = [(i * row[i] if i < len(row) else 0) + (row[i - 1] if i else 0) for i in range(len(row) + 1)]
    return row


# ---- laws: every function takes whole numbers and gives a number of the kind in use


def empty(m, n, k, variant, j):
    """Chance that j given bits stay empty."""
    if j > m:
        return number(F(0))
    if variant == "standard":
        return number(F(m - j, m)) ** (n * k)
    if variant == "classic":
        share = F(1)
        for i in range(k):
            share *= F(max(m - j - i, 0), m - i)
        return number(share) ** n
    raise KeyError(variant)


def covered(m, n, k, variant, most):
    """Chances that d given bits are all set, for d = 0..most."""
    g = [empty(m, n, k, variant, j) for j in range(most + 1)]
    # Differences: (1 - E)^d.
    found, row = [], g
    while row:
        found.append(row[0])
        row = [a - b for a, b in zip(row, row[1:])]
    return found


def query_law(m, k, variant):
    """Chances of d different positions in a query."""
    if variant == "classic":
        return {k: number(F(1))}
    row, falling, law = stirling(k), 1, {}
    for d in range(1, min(k, m) + 1):
        falling *= m - d + 1
        law[d] = number(F(row[d] * falling, m**k))
    return law


def fpr(variant, m, n, k):
    if n == 0:
        return number(F(0))
    if variant == "partitioned":
        size, longer = divmod(m, k)
        share = lambda s: 1 - number(F(s - 1, s)) ** n
        return share(size) ** (k - longer) * (share(size + 1) ** longer if longer else 1)
    full = covered(m, n, k, variant, min(k, m))
    return sum(p * full[d] for d, p in query_law(m, k, variant).items())


def blocked(m, block, n, k, kind, word):
    blocks, total = m // block, number(F(0))
    for load in range(n + 1):
        chance = number(F(comb(n, load) * (blocks - 1) ** (n - load), blocks**n))
        if kind == "split":
            inside = (1 - number(F(word - 1, word)) ** load) ** k
        else:
            inside = fpr({"independent": "standard", "distinct": "classic"}[kind], block, load, k)
        total += chance * inside
    return total


def at_fill(variant, m, k, ones):
    if variant == "standard":
        return number(F(ones, m)) ** k
    if variant == "classic":
        return number(F(comb(ones, k), comb(m, k)))
    share, (size, longer) = F(1), divmod(m, k)
    for i, o in enumerate(ones):
        share *= F(o, size + (i < longer))
    return number(share)


def two_hashes(scheme, m, n, k):
    """All pairs of residues, for the query and for an item; inclusion and exclusion over the query's positions."""
    step = {"double": lambda i: 0, "double-nonzero": lambda i: 0, "square": lambda i: i * i, "cube": lambda i: i**3, "enhanced": lambda i: (i**3 - i) // 6, "partition-double": lambda i: 0}[scheme]
    pairs = [(a, b) for a in range(m) for b in range(scheme == "double-nonzero", m)]
    slice_ = m if scheme == "partition-double" else 0
    places = [frozenset(i * slice_ + (a + i * b + step(i)) % m for i in range(k)) for a, b in pairs]
    total = F(0)
    for query in places:
        for size in range(len(query) + 1):
            for missed in itertools.combinations(query, size):
                total += (-1) ** size * F(sum(not item & set(missed) for item in places), len(places)) ** n
    return total / len(places)


@lru_cache(512)
def fill_law(variant, m, n, k):
    """The law of the set bits: a chain of single balls, or of batches of k."""
    law = {0: F(1)}
    for size in [1] * (n * k) if variant == "standard" else [k] * n:
        after = {}
        for x, p in law.items():
            for new in range(size + 1):
                if new <= m - x and size - new <= x:
                    after[x + new] = after.get(x + new, 0) + p * F(comb(m - x, new) * comb(x, size - new), comb(m, size))
        law = after
    return law


def committees(m, groups):
    law = {0: F(1)}
    for size, count in groups:
        for _ in range(count):
            after = {}
            for x, p in law.items():
                for new in range(max(0, size - x), min(size, m - x) + 1):
                    after[x + new] = after.get(x + new, 0) + p * F(comb(m - x, new) * comb(x, size - new), comb(m, size))
            law = after
    return law


def meet(m, first, second):
    law = {}
    for x, p in first.items():
        for y, q in second.items():
            for both in range(max(0, x + y - m), min(x, y) + 1):
                law[both] = law.get(both, 0) + p * q * F(comb(x, both) * comb(m - x, y - both), comb(m, y))
    return law


# ---- how answers are held to them


def value(text):
    """The exact number that a printed f64 is."""
    return F(float(text))


def below(a, b):
    """Whether a <= b may be true (balls may overlap)."""
    return not a > b


def holds(a, truth, what=("lower", "upper", "value")):
    low, high, mid = (value(a[name]) for name in what)
    if not (below(number(low), truth) and below(truth, number(high)) and low <= mid <= high):
        return "the truth is outside the bracket"
    if a["method"] == "exact" and low > F(1, 10**290) and high - low > low * F(1, 2**50):
        return "wider than three f64"
    if BALLS and low > 0 and a["ln_lower"] is not None:
        ln = truth.log()
        if not (below(arb(a["ln_lower"]), ln) and below(ln, arb(a["ln_upper"]))):
            return "the logarithm is outside its bracket"
    return None


def near(found, truth, slack=F(1, 10**12)):
    """Within a relative error."""
    gap = abs(number(value(found)) - truth)
    return None if below(gap, abs(truth) * number(slack)) else f"{found} is not {truth}"


def precise(make):
    """A ball narrow enough to decide by, or a fraction."""
    if not BALLS:
        return make()
    ctx.prec = 256
    while True:
        ball = make()
        if ball.rel_accuracy_bits() > 110 or ball.is_zero():
            return ball
        ctx.prec *= 2
        if ctx.prec > 1 << 17:
            raise ArithmeticError("no precision suffices")


# ---- questions: each gives (query, function from the answer to a complaint or None)


def size(r, most):
    return r.choice([1, 2, 3, 5, r.randint(1, min(10, most)), r.randint(1, min(100, most)), r.randint(1, most)])


def q_fpr(r, big):
    variant = r.choice(["standard", "standard", "classic", "partitioned"])
    if big:
        m = r.choice([1 << r.randint(1, 62), r.randint(2, 1 << r.randint(2, 62)), (1 << 62) - r.randint(0, 9)])
        k = r.choice([1, 2, 3, r.randint(1, 12), r.randint(1, 30), r.randint(1, 60), r.choice([100, 200, 1000]) if r.random() < 0.02 else 7])
        # Near the best load, far from it, saturated, nearly empty.
        n = max(0, r.choice([0, 1, 2, m // k, int(m / k * 0.69), int(m / k * r.uniform(0.1, 20)), r.randint(0, 1000), int(m / 10**r.randint(1, 15))]))
        n = min(n, 1 << 62)
    else:
        m, k, n = size(r, 30), size(r, 7), r.choice([0, 1, 2, r.randint(0, 12)])
    if variant != "standard":
        k = min(k, m)
    if m <= n * k // 300 or n * k > m * 60:
        n = min(n, 60 * m // k)
    q = {"fn": "fpr", "variant": variant, "bits": m, "items": n, "probes": k}
    return q, lambda a: holds(a, precise(lambda: fpr(variant, m, n, k)))


def q_blocked(r, big):
    block, kind = r.choice([8, 16, 64, 512] if big else [4, 6, 8]), r.choice(["independent", "distinct", "split"])
    k, word = r.randint(1, 12 if big else 3), r.choice([4, 8, 32] if big else [2])
    if kind == "split":
        block = word * k
    k = min(k, block)
    blocks, n = r.randint(1, 50 if big else 5), r.choice([0, 1, 2, r.randint(0, 60 if big else 7)])
    q = {"fn": "fpr", "variant": "blocked", "bits": block * blocks, "block_bits": block, "in_block": kind, "items": n, "probes": k}
    if kind == "split":
        q["word_bits"] = word
    return q, lambda a: holds(a, precise(lambda: blocked(block * blocks, block, n, k, kind, word)))


def q_scheme(r, big):
    scheme = r.choice(["double", "double-nonzero", "square", "cube", "enhanced", "partition-double"])
    m, k, n = r.randint(2, 11), r.randint(1, 4), r.choice([0, 1, 2, r.randint(0, 30)])
    q = {"fn": "fpr", "scheme": scheme, "slice_bits" if scheme == "partition-double" else "bits": m, "items": n, "probes": k}

    def check(a):
        truth = two_hashes(scheme, m, n, k) if n else F(0)
        # A simulation has an interval of 99%, which may miss: it is not held to the truth here.
        return None if a["method"] in ("simulation", "approximation") else holds(a, number(truth))
    return q, check


def q_at_fill(r, big):
    variant, m = r.choice(["standard", "classic", "partitioned"]), r.choice([size(r, 60), r.randint(1, 1 << 62)]) if big else size(r, 60)
    k = min(size(r, 40), m)
    ones = r.choice([0, 1, m, m - 1, r.randint(0, m), min(k, m)])
    if variant == "partitioned":
        ones = [r.randint(0, m // k + (i < m % k)) for i in range(k)]
    if variant == "classic" and m > 1 << 20:
        m, ones = r.randint(1000, 5000), r.randint(1, 1000)
        k = min(k, m)
    q = {"fn": "fpr_at_fill", "variant": variant, "bits": m, "probes": k, "ones": ones}
    return q, lambda a: holds(a, precise(lambda: at_fill(variant, m, k, ones)))


def q_approximation(r, big):
    name = r.choice(["severance-lohman", "bloom", "lower", "knuth", "grandi"] if big else ["severance-lohman", "bloom", "lower"])
    m, k = r.randint(1, 1 << r.randint(1, 40) if big else 40), r.randint(1, 20 if big else 8)
    k = min(k, m)
    n = r.choice([1, 2, max(1, m // k), r.randint(1, 40)])
    def truth():
        if name == "lower":
            return covered(m, n, k, "standard", k)[k]
        if name == "knuth":
            return (1 - (-number(F(n * k, m))).exp()) ** k
        if name == "grandi":
            fill = 1 - empty(m, n, k, "standard", 1)
            one, two = empty(m, n, k, "standard", 1), empty(m, n, k, "standard", 2)
            variance = m * one + m * (m - 1) * two - m * m * one * one
            return fill**k + number(F(k * (k - 1), 2)) * fill ** (k - 2) * variance / m**2
        share = number(F(m - 1, m)) ** (n * k) if name == "severance-lohman" else number(F(m - k, m)) ** n
        return (1 - share) ** k
    q = {"fn": "approximation", "name": name, "bits": m, "items": n, "probes": k}
    return q, lambda a: near(a["value"], precise(truth), F(1, 10**11))


def q_occupancy(r, big):
    m = r.randint(1, 14)
    law = r.choice(["standard", "classic", "union", "intersection"])
    groups = lambda: [[r.randint(1, m), r.randint(1, 3)] for _ in range(r.randint(1, 3))]
    q = {"fn": "occupancy", "law": law, "bits": m, "pmf": True}
    if law in ("standard", "classic"):
        k, n = r.randint(1, min(4, m)), r.choice([0, 1, 2, r.randint(0, 8)])
        q.update(items=n, probes=k)
        truth = lambda: fill_law(law, m, n, k)
    elif law == "union":
        q["committees"] = groups()
        truth = lambda: committees(m, q["committees"])
    else:
        q["departments"] = [groups() for _ in range(r.randint(1, 3))]
        def truth():
            found = {m: F(1)}
            for department in q["departments"]:
                found = meet(m, found, committees(m, department))
            return found

    def check(a):
        law = truth()
        mean = sum(x * p for x, p in law.items())
        variance = sum(x * x * p for x, p in law.items()) - mean**2
        off = lambda found, right: abs(value(found) - right) > F(1, 10**12) * (abs(right) + F(1, 10**3))
        if off(a["mean"], mean) or off(a["variance"], variance):
            return f"mean {float(mean)}, variance {float(variance)}"
        return next((f"pmf at {x}" for x in range(m + 1) if off(a["pmf"][x], law.get(x, F(0)))), None)
    return q, check


def rate_of(r):
    return f"{r.randint(1, 99)}e-{r.randint(3, 12)}" if r.random() < 0.6 else r.choice(["0.5", "0.25", "0.01", "0.001", "1e-6"])


def exactly(q, name, text):
    """The query with a decimal in it as written."""
    return json.dumps(q).replace(f'"{text}"', text)


def low_enough(variant, m, n, k, p):
    return not precise(lambda: fpr(variant, m, n, k)) > number(p)


def too_high(variant, m, n, k, p):
    """Whether the rate is certainly not below p (equal counts as too high only when it is above)."""
    return not precise(lambda: fpr(variant, m, n, k)) < number(p)


def window(k, variant, m, big):
    most = m if variant != "standard" else 10**6
    return [i for i in (range(max(1, k - 3), k + 4) if big else range(1, 25)) if i <= most]


def q_min_bits(r, big):
    variant, n, text = r.choice(["standard", "classic"]), r.choice([1, 2, r.randint(1, 40), r.randint(1, 10**9 if big else 6)]), rate_of(r)
    if not big:
        n, text = min(n, 6), r.choice(["0.5", "0.25", "0.1", "0.03", "1/8".replace("1/8", "0.125")])
    p = F(text)
    q = {"fn": "min_bits", "variant": variant, "items": n, "fpr": text}

    def check(a):
        m, k = a["bits"], a["probes"]
        if not low_enough(variant, m, n, k, p):
            return "the rate is missed"
        return next((f"{m - 1} bits do with {i} probes" for i in window(k, variant, m - 1, big) if m > 1 and not too_high(variant, m - 1, n, i, p)), None)
    return exactly(q, "fpr", text), check


def q_max_items(r, big):
    variant, m, text = r.choice(["standard", "classic", "partitioned"]), r.randint(2, 1 << r.randint(2, 40) if big else 16), rate_of(r)
    if not big:
        text = r.choice(["0.5", "0.25", "0.1"])
    p = F(text)
    q = {"fn": "max_items", "variant": variant, "bits": m, "fpr": text}

    def check(a):
        n, k = a["items"], a["probes"] or 1
        if n and not low_enough(variant, m, n, k, p):
            return "the rate is missed"
        return next((f"{n + 1} items do with {i} probes" for i in window(k, variant, m, big) if not too_high(variant, m, n + 1, i, p)), None)
    return exactly(q, "fpr", text), check


def q_optimal(r, big):
    variant = r.choice(["standard", "classic", "partitioned"])
    n = r.choice([1, 2, 3, r.randint(1, 32), r.randint(1, 50)]) if big else r.randint(1, 8)
    m = max(2, int(n * r.uniform(0.2, 60))) if big else r.randint(1, 14)
    q = {"fn": "optimal_probes", "variant": variant, "bits": m, "items": n}

    def check(a):
        best = precise(lambda: fpr(variant, m, n, a["probes"]))
        wrong = holds(a["fpr"], best) if isinstance(a["fpr"], dict) else None
        if wrong:
            return wrong
        most = 80 if big else 30
        for k in range(1, (min(most, m) if variant != "standard" else most) + 1):
            other = precise(lambda: fpr(variant, m, n, k))
            if k in a["ties"]:
                # Equal numbers are never separated by balls.
                if other > best or other < best:
                    return f"{k} is no tie"
            elif not other > best and m > 1:
                return f"{k} is at least as good"
        return None
    return q, check


def q_efficiency(r, big):
    variant, m, k = r.choice(["standard", "classic", "partitioned"]), r.randint(2, 1 << 30), r.randint(1, 20)
    k = min(k, m)
    n = max(1, int(m / k * r.uniform(0.1, 3)))
    q = {"fn": "efficiency", "variant": variant, "bits": m, "items": n, "probes": k}
    return q, lambda a: near(a["value"], precise(lambda: -number(F(n, m)) * fpr(variant, m, n, k).log() / number(F(2)).log()))


def q_peak(r, big):
    variant, m, k = r.choice(["standard", "classic", "partitioned"]), r.randint(2, 10**4), r.randint(1, 10)
    k = min(k, m)
    q = {"fn": "peak_efficiency", "variant": variant, "bits": m, "probes": k}

    def check(a):
        n = a["items"]
        e = lambda n: precise(lambda: -number(F(n, m)) * fpr(variant, m, n, k).log() / number(F(2)).log()) if m > k or variant == "standard" else arb(0)
        if n < 1 or e(n).is_zero():
            return None
        best = e(n)
        return near(a["value"], best) or next((f"{i} is better" for i in (n - 2, n - 1, n + 1, n + 2, n // 2, 2 * n) if i > 0 and e(i) > best), None)
    return q, check


def q_crossover(r, big):
    k = r.choice([1, 2, 3, r.randint(1, 100), r.randint(1, 1000)])

    def check(a):
        ctx.prec = 200
        x = arb(a["items_per_bit"])
        gap = lambda x: k * (1 - (-k * x).exp()).log() - (k + 1) * (1 - (-(k + 1) * x).exp()).log()
        low, high = gap(x * (1 - arb(10) ** -11)), gap(x * (1 + arb(10) ** -11))
        return None if (low < 0 and high > 0) or (low > 0 and high < 0) else "no tie there"
    return {"fn": "crossover", "probes": k}, check


def q_estimate_items(r, big):
    variant, m = r.choice(["standard", "classic"]), r.randint(2, 20)
    k = r.randint(1, min(3, m))
    n = r.randint(0, 5)
    law = fill_law(variant, m, n, k)
    ones = r.choice(sorted(law))
    level = r.choice(["0.5", "0.9", "0.99"])
    q = {"fn": "estimate_items", "variant": variant, "bits": m, "probes": k, "ones": ones, "confidence": level}
    half = (1 - F(level)) / 2

    def check(a):
        tail = lambda n, up: sum(p for x, p in fill_law(variant, m, n, k).items() if (x >= ones if up else x <= ones))
        low, high = a["lower"], a["upper"]
        # Equal-tailed inversion, ends included: numbers of items are kept whose two tails both have
        # at least half of the error. Where none is left, the lower end is.
        if tail(low, True) < half or (low > 0 and tail(low - 1, True) >= half):
            return "lower end"
        if ones == m:
            return None if high is None else "upper end of a full filter"
        kept = next(n for n in range(80, -1, -1) if n <= low or tail(n, False) >= half)
        return None if high == kept else "upper end"
    return exactly(q, "confidence", level), check


def q_estimate_bits(r, big):
    n, k = r.randint(1, 30), r.randint(1, 5)
    ones = r.randint(min(k, 1), n * k)
    q = {"fn": "estimate_bits", "variant": "standard", "items": n, "probes": k, "ones": ones}
    # S(N + 1, x) / S(N, x): the one unbiased estimator.
    return q, lambda a: near(a["value"], number(F(stirling(n * k + 1)[ones], stirling(n * k)[ones])), F(1, 10**11))


def q_false_positives(r, big):
    variant, m = "standard", r.randint(2, 40)
    n, k, queries = r.randint(1, 8), r.randint(1, 5), r.randint(1, 10**6)
    q = {"fn": "false_positives", "variant": variant, "bits": m, "items": n, "probes": k, "queries": queries, "quantiles": [0.5]}

    def check(a):
        f, two = fpr(variant, m, n, k), sum(p * covered(m, n, k, variant, min(2 * k, m))[d] for d, p in query_law(m, 2 * k, variant).items())
        return near(a["mean"], queries * f) or near(a["variance"], queries * (f - two) + queries**2 * (two - f * f), F(1, 10**8))
    return q, check


def q_set_fpr(r, big):
    op, variant, m = r.choice(["union", "intersection"]), r.choice(["standard", "classic", "partitioned"]), r.randint(1, 1 << 40 if big else 20)
    k = min(r.randint(1, 12 if big else 4), m)
    items = [max(0, r.choice([1, 2, m // k, r.randint(0, 20)])) for _ in range(r.randint(1, 4))]
    q = {"fn": "set_fpr", "op": op, "variant": variant, "bits": m, "probes": k, "items": items}

    def truth():
        if op == "union":
            return fpr(variant, m, sum(items), k)
        if variant == "partitioned":
            total = number(F(1))
            for n in items:
                total *= fpr(variant, m, n, k)
            return total
        full = [covered(m, n, k, variant, min(k, m)) for n in items]
        total = number(F(0))
        for d, p in query_law(m, k, variant).items():
            for one in full:
                p *= one[d]
            total += p
        return total
    return q, lambda a: holds(a, precise(truth))


def q_count_min(r, big):
    e, d = (f"{r.randint(1, 99)}e-{r.randint(2, 7)}" for _ in range(2))
    two = r.random() < 0.5
    q = json.dumps({"fn": "count_min", "epsilon": e, "delta": d, "two_hash": two}).replace(f'"{e}"', e).replace(f'"{d}"', d)

    def check(a):
        ctx.prec = 300
        E, D, w = F(e), F(d), a["width"]
        ceil = lambda x: int(x.ceil().unique_fmpz())
        if E >= 1 or D >= 1:
            return None
        if not two:
            depth = max(1, ceil((1 / number(D)).log()))
            bound = number(1 / (E * w)) ** depth
            right = (ceil(arb(1).exp() / number(E)), depth, 1)
        else:
            depth = max(1, ceil((1 / (number(E) * (1 - 1 / (2 * arb(2).exp())))).log()))
            copies = next(c for c in itertools.count(1) if E**c <= D)
            bound = (number(2 / (E * w)) ** depth + number(2 / (E * w * w))) ** copies
            least = ceil(2 * arb(1).exp() / number(E))
            prime = next(i for i in itertools.count(max(least, 2)) if all(i % j for j in range(2, int(i**0.5) + 1)))
            right = (prime, depth, copies)
        if right != (w, a["depth"], a["copies"]):
            return f"{right}"
        return None if below(number(value(a["bound_lower"])), bound) and below(bound, number(value(a["bound_upper"]))) or bound > 1 else "bound"
    return q, check


SMALL = [q_fpr, q_fpr, q_blocked, q_scheme, q_at_fill, q_approximation, q_occupancy, q_min_bits, q_max_items, q_optimal, q_estimate_items, q_estimate_bits, q_false_positives, q_set_fpr]
LARGE = [q_fpr] * 6 + [q_blocked, q_at_fill, q_approximation, q_min_bits, q_max_items, q_optimal, q_efficiency, q_peak, q_crossover, q_set_fpr, q_count_min]


def main():
    global BALLS
    binary, count, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2_000, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    campaign = len(sys.argv) > 2
    if campaign and arb is None:
        sys.exit("the campaign needs python-flint; see the beginning of this file")
    r = random.Random(seed)
    asked = []
    for i in range(count):
        big = campaign and i % 4 != 0
        make = r.choice(LARGE if big else SMALL)
        query, check = make(r, big)
        asked.append((make.__name__[2:], big, query if isinstance(query, str) else json.dumps(query), check))
    run = subprocess.run([binary, "eval"], input="".join(query + "\n" for _, _, query, _ in asked), capture_output=True, text=True)
    answers = run.stdout.splitlines()
    assert len(answers) == count, run.stderr
    wrong, table = 0, {}
    for (name, big, query, check), line in zip(asked, answers):
        BALLS, answer = big, json.loads(line)
        kept = table.setdefault(name, [0, 0, 0])
        if "error" in answer:
            kept[2] += 1
            print("refused", answer["error"][:80], query) if kept[2] < 3 else None
            continue
        kept[0] += 1
        complaint = check(answer)
        if complaint:
            kept[1] += 1
            wrong += 1
            print(f"WRONG {complaint}: {query} {line[:300]}")
    for name, (held, bad, errors) in sorted(table.items()):
        print(f"{name:18} {held:6} answers, {bad} wrong, {errors} refused")
    print(f"{sum(t[0] for t in table.values())} answers, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

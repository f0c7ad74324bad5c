#!/usr/bin/env python3
"""Recycling filters by brute force over states, in exact fractions, against `truebloom eval`.

    python3 crates/math/tests/reference/recycling.py target/debug/truebloom

Nothing is shared with the library but the definitions: whole items move between numbers of set bits by matrices of fractions, restarts are states of one chain that is
solved by elimination, forgetting follows one item forward through that chain, and sizes are found by trying all of them. Ends with 1 if an answer is wrong.
"""
import json, random, subprocess, sys
from fractions import Fraction as F
from functools import lru_cache
from math import comb


@lru_cache(None)
def surjections(k, r):
    return r ** k if r <= 1 else sum((-1) ** (r - i) * comb(r, i) * i ** k for i in range(r + 1)) if r else int(k == 0)


@lru_cache(None)
def distinct(m, k, colliding):
    """Law of the distinct positions of an item: {r: chance}."""
    if not colliding:
        return {k: F(1)}
    return {r: F(comb(m, r) * surjections(k, r), m ** k) for r in range(1, min(k, m) + 1)}


def adds(m, b, r):
    """r given-size random positions, b of m set: {new bits: chance}."""
    return {j: F(comb(m - b, j) * comb(b, r - j), comb(m, r)) for j in range(max(0, r - b), min(r, m - b) + 1)}


@lru_cache(None)
def item(m, k, colliding, b):
    """{(b', r): chance} of one item."""
    law = {}
    for r, pr in distinct(m, k, colliding).items():
        for j, pj in adds(m, b, r).items():
            law[b + j, r] = law.get((b + j, r), 0) + pr * pj
    return law


@lru_cache(None)
def step(m, k, colliding, b):
    law = {}
    for (c, _), p in item(m, k, colliding, b).items():
        law[c] = law.get(c, 0) + p
    return law


@lru_cache(None)
def rho(m, k, colliding, b):
    if colliding:
        return F(b, m) ** k
    return F(comb(b, k), comb(m, k))


def restarts(m, k, colliding, sigma, retaining, b):
    """{state after the recycle: chance} of an item that overflows from b."""
    law = {}
    for (c, r), p in item(m, k, colliding, b).items():
        if c > sigma:
            to = r if retaining else 0
            law[to] = law.get(to, 0) + p
    return law


@lru_cache(None)
def stationary(m, k, colliding, sigma, retaining):
    if not retaining:
        visits = [F(0)] * (sigma + 1)
        into = [F(0)] * (sigma + 1)
        into[0] = F(1)
        for b in range(sigma + 1):
            law = step(m, k, colliding, b)
            visits[b] = into[b] / (1 - law.get(b, 0))
            for c, p in law.items():
                if b < c <= sigma:
                    into[c] += visits[b] * p
        total = sum(visits)
        return [v / total for v in visits]
    n = sigma + 1
    # pi (P - 1) = 0 with sum 1, by elimination.
    a = [[F(0)] * (n + 1) for _ in range(n)]
    for b in range(n):
        for c, p in step(m, k, colliding, b).items():
            if c <= sigma:
                a[c][b] += p
        for c, p in restarts(m, k, colliding, sigma, True, b).items():
            a[c][b] += p
        a[b][b] -= 1
    a[0] = [F(1)] * n + [F(1)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if a[r][i] != 0)
        a[i], a[pivot] = a[pivot], a[i]
        inv = 1 / a[i][i]
        a[i] = [x * inv for x in a[i]]
        for r in range(n):
            if r != i and a[r][i] != 0:
                q = a[r][i]
                a[r] = [x - q * y for x, y in zip(a[r], a[i])]
    return [a[i][n] for i in range(n)]


def overflow_rate(q, pi):
    m, k, col, sigma, ret = q
    return sum(pi[b] * p for b in range(sigma + 1) for c, p in step(m, k, col, b).items() if c > sigma)


def known(m, k, col, shared, active, frozen):
    """Chance that a query passes two independent exchangeable filters with these laws of set bits."""
    if not (col and shared):
        a = sum(p * rho(m, k, col, b) for b, p in active.items())
        f = sum(p * rho(m, k, col, b) for b, p in frozen.items())
        return a + f - a * f
    total = F(0)
    for r, pr in distinct(m, k, True).items():
        a = sum(p * F(comb(b, r), comb(m, r)) for b, p in active.items())
        f = sum(p * F(comb(b, r), comb(m, r)) for b, p in frozen.items())
        total += pr * (a + f - a * f)
    return total


def frozen_law(m, k, col, sigma, included):
    pi = stationary(m, k, col, sigma, False)
    law = {}
    for b in range(sigma + 1):
        for c, p in step(m, k, col, b).items():
            if c > sigma:
                to = c if included else b
                law[to] = law.get(to, 0) + pi[b] * p
    total = sum(law.values())
    return {b: p / total for b, p in law.items()}


def long_run(phases, m, k, sigma, col, ret, included, shared):
    pi = stationary(m, k, col, sigma, ret)
    items = 1 / overflow_rate((m, k, col, sigma, ret), pi)
    if phases == 1:
        return sum(p * rho(m, k, col, b) for b, p in enumerate(pi)), items, rho(m, k, col, sigma)
    frozen = frozen_law(m, k, col, sigma, included)
    rate = known(m, k, col, shared, dict(enumerate(pi)), frozen)
    top = min(m, sigma + k) if included else sigma
    return rate, items, known(m, k, col, shared, {sigma: F(1)}, {top: F(1)})


def start_law(m, k, col, sigma, ret):
    if not ret:
        return {0: F(1)}
    pi = stationary(m, k, col, sigma, True)
    law = {}
    for b in range(sigma + 1):
        for c, p in restarts(m, k, col, sigma, True, b).items():
            law[c] = law.get(c, 0) + pi[b] * p
    total = sum(law.values())
    return {b: p / total for b, p in law.items()}


def survival(m, k, col, sigma, ret, upto):
    """[P(N > n)], n = 0 .. upto. Floats of exact one-step laws: sums of positives."""
    now = {b: float(p) for b, p in start_law(m, k, col, sigma, ret).items()}
    laws = {b: {c: float(p) for c, p in step(m, k, col, b).items()} for b in range(sigma + 1)}
    out = [1.0]
    for _ in range(upto):
        nxt = {}
        for b, w in now.items():
            for c, p in laws[b].items():
                if c <= sigma:
                    nxt[c] = nxt.get(c, 0.0) + w * p
        now = nxt
        out.append(sum(now.values()))
        if out[-1] < 1e-18:
            break
    return out


def forgetting(phases, m, k, sigma, col, ret, included, gap):
    """One item, new at the stationary state, followed forward: alive[stage][b]."""
    pi = stationary(m, k, col, sigma, ret)
    stages = 2 if phases == 2 else 1
    alive = [dict() for _ in range(stages)]

    def put(stage, b, w):
        if stage < stages:
            alive[stage][b] = alive[stage].get(b, 0) + w

    for b, w in enumerate(pi):
        for (c, r), p in item(m, k, col, b).items():
            if c <= sigma:
                put(0, c, w * p)
            elif ret:
                put(0, r, w * p)
            elif phases == 2 and included:
                put(1, 0, w * p)
    for _ in range(gap):
        old = alive
        alive = [dict() for _ in range(stages)]
        for stage, law in enumerate(old):
            for b, w in law.items():
                for (c, r), p in item(m, k, col, b).items():
                    if c <= sigma:
                        put(stage, c, w * p)
                    else:
                        put(stage + 1, r if ret else 0, w * p)
    return 1 - sum(sum(law.values()) for law in alive)


def n_bounded(m, k, n, kind):
    if kind != "real":
        now, rates = {0: F(1)}, []
        for _ in range(n + 1):
            rates.append(sum(p * rho(m, k, True, b) for b, p in now.items()))
            nxt = {}
            for b, w in now.items():
                for c, p in step(m, k, True, b).items():
                    nxt[c] = nxt.get(c, 0) + w * p
            now = nxt
        return (rates[n] if kind == "worst" else sum(rates[:n]) / n), F(n), F(0)
    # lasts[i][b]: chance of n - i more items that set bits without a full filter before one of
    # them.
    def go(b):
        out = rho(m, k, True, b)
        return {c: p / (1 - out) for c, p in step(m, k, True, b).items() if c > b}
    lasts = {b: F(1) for b in range(m + 1)}
    table = [lasts]
    for _ in range(n):
        nxt = {b: (sum(p * table[-1][c] for c, p in go(b).items()) if b < m else F(0)) for b in range(m + 1)}
        table.append(nxt)
    ok = table[n][0]
    if ok == 0:
        return None, None, F(1)
    now, passed = {0: F(1)}, F(0)
    for i in range(n):
        nxt = {}
        for b, w in now.items():
            if b == m:
                continue
            out = rho(m, k, True, b)
            passed += w * table[n - i][b] / ok * out / (1 - out)
            for c, p in go(b).items():
                nxt[c] = nxt.get(c, 0) + w * p
        now = nxt
    return passed / (n + passed), n + passed, 1 - ok


@lru_cache(None)
def best(phases, each, rate, col, ret, included, shared, most):
    """Exhaustive: (items, k, sigma)."""
    found = None
    for k in range(1, most + 1):
        if not col and k > each:
            break
        # Two phases that keep the trigger must not be able to fill.
        for sigma in range(k if ret else 0, each):
            f, items, _ = long_run(phases, each, k, sigma, col, ret, included, shared)
            if f <= rate and (found is None or items > found[0]):
                found = (items, k, sigma)
    return found


def fields(phases, m, k, sigma, col, ret, included, shared):
    q = dict(phases=phases, bits=m, probes=k, sigma=sigma, colliding=col, retaining=ret)
    if phases == 2:
        q.update(trigger="included" if included else "excluded", shared_hash=shared)
    return q


MODES = [(1, c, r, True, True) for c in (True, False) for r in (False, True)] + [
    (2, c, False, i, s) for c in (True, False) for i in (True, False) for s in (True, False)]


def cases():
    """(query, check): check gives a complaint or None."""
    draw = random.Random(6)

    def near(answer, name, truth, tight=1e-12):
        value, low, high = answer[name], answer[name + "_lower"] if name + "_lower" in answer else answer["lower"], \
            answer[name + "_upper"] if name + "_upper" in answer else answer["upper"]
        if truth == 0:
            return None if value == 0 == low else f"{name}: {value}, truth 0"
        if not (F(low) <= truth <= F(high)):
            return f"{name}: {float(truth)!r} not in [{low!r}, {high!r}]"
        if abs(F(value) / truth - 1) > tight:
            return f"{name}: {value!r}, truth {float(truth)!r}"

    def near_items(a, truth):
        return near(a, "items_per_cycle", truth) is None

    for _ in range(700):
        phases, col, ret, inc, sh = draw.choice(MODES)
        m = draw.randint(2, 13)
        k = draw.randint(1, 5 if col else min(5, m))
        if ret and k > m - 1:
            continue
        sigma = draw.randint(k if ret else 0, m - 1)
        spec = (phases, m, k, sigma, col, ret, inc, sh)
        truth = long_run(*spec)

        def check(a, truth=truth):
            return near(a, "fpr", truth[0]) or near(a, "items_per_cycle", truth[1]) or near(a, "worst", truth[2])
        yield dict(fn="recycling", **fields(*spec)), check
    for _ in range(350):
        phases, col, ret, inc, sh = draw.choice(MODES)
        m = draw.randint(2, 22)
        k = draw.randint(1, 4 if col else min(4, m))
        if ret and k > m - 1:
            continue
        sigma = draw.randint(k if ret else 0, m - 1)
        asked = sorted(draw.uniform(0.001, 0.999) for _ in range(4))
        law = survival(m, k, col, sigma, ret, 6000)
        mean, variance = sum(law), sum((2 * n + 1) * s for n, s in enumerate(law)) - sum(law) ** 2
        if len(law) > 6000:
            continue

        def check(a, law=law, asked=asked, mean=mean, variance=variance):
            if abs(a["mean"] / mean - 1) > 1e-11 or abs(a["variance"] - variance) > 1e-8 * max(1, variance):
                return f"mean {a['mean']} {mean}, variance {a['variance']} {variance}"
            for p, n in zip(asked, a["quantiles"]):
                if not (1 - law[n] >= p - 1e-9 if n < len(law) else True) or (n > 0 and 1 - law[n - 1] >= p + 1e-9):
                    return f"quantile {p}: {n}"
            if not (law[a["shortest"] - 1] > 1 - 1e-12 and (a["shortest"] >= len(law) or law[a["shortest"]] < 1)):
                return f"shortest {a['shortest']}: {law[:4]}"
        yield dict(fn="recycling", cycle=True, quantiles=asked, **fields(phases, m, k, sigma, col, ret, inc, sh)), check
    for _ in range(150):
        phases, col, ret, inc, sh = draw.choice(MODES)
        m = draw.randint(2, 9)
        k = draw.randint(1, 3 if col else min(3, m))
        if ret and k > m - 1:
            continue
        sigma = draw.randint(k if ret else 0, m - 1)
        for gap in range(0, 9):
            truth = forgetting(phases, m, k, sigma, col, ret, inc, gap)

            def check(a, truth=truth, gap=gap):
                if not (F(a["probability_lower"]) <= truth <= F(a["probability_upper"])) or abs(a["probability"] - truth) > 1e-10:
                    return f"forgotten {a['probability']}, truth {float(truth)}"
                if (truth == 0) != (gap < a["remembered_at_least"]):
                    return f"remembered at least {a['remembered_at_least']}, forgotten after {gap}: {float(truth)}"
                if (truth == 1) != (a["remembered_at_most"] is not None and gap >= a["remembered_at_most"]):
                    return f"remembered at most {a['remembered_at_most']}, forgotten after {gap}: {float(truth)}"
            yield dict(fn="forgetting", gap=gap, **fields(phases, m, k, sigma, col, ret, inc, sh)), check
    for _ in range(250):
        m, k, n = draw.randint(2, 12), draw.randint(1, 4), draw.randint(1, 10)
        kind = draw.choice(["worst", "oracle", "real"])
        rate, arrivals, stuck = n_bounded(m, k, n, kind)
        if rate is None:
            continue

        def check(a, rate=rate, arrivals=arrivals, stuck=stuck):
            if abs(a["stuck"] - stuck) > 1e-11:
                return f"stuck {a['stuck']}, truth {float(stuck)}"
            return near(a, "fpr", rate, 1e-11) or near(a, "items_per_cycle", arrivals, 1e-11)
        yield dict(fn="n_bounded", bits=m, probes=k, items=n, kind=kind), check
    rates = ["0.5", "0.3", "0.2", "0.1", "0.05", "0.02", "0.01"]
    for phases, col, ret, inc, sh in MODES:
        for each in range(1, 11):
            for text in rates:
                found = best(phases, each, F(text), col, ret, inc, sh, 12)

                def check(a, found=found):
                    if found is None:
                        return None if "error" in a else f"{a}, but nothing is possible"
                    if "error" in a:
                        return f"{a}, but {found[1:]} with {float(found[0])}"
                    # A sigma that changes neither items nor probes is as good: distinct probes
                    # overflow at once below k.
                    if a["probes"] != found[1] or not near_items(a, found[0]):
                        return f"{a['probes']}, {a['sigma']} with {a['items_per_cycle']}; best {found[1:]} with {float(found[0])}"
                q = fields(phases, each * phases, 1, 0, col, ret, inc, sh)
                q.pop("probes"), q.pop("sigma")
                yield dict(fn="recycling_capacity", fpr=float(text), **q), check
    for phases, col, ret, inc, sh in MODES:
        for text in ["0.3", "0.1", "0.05"]:
            for items in ["1", "1.5", "2", "2.7", "3.3"]:
                least = None
                for each in range(1, 11):
                    found = best(phases, each, F(text), col, ret, inc, sh, 12)
                    if found and found[0] >= F(items):
                        least = each * phases
                        break

                def check(a, least=least, phases=phases):
                    if "error" in a:
                        return str(a)
                    if least is None:
                        return None if a["bits"] > 10 * phases else f"{a['bits']} bits, but none up to {10 * phases} do"
                    if a["bits"] != least:
                        return f"{a['bits']} bits, smallest {least}"
                q = fields(phases, 1, 1, 0, col, ret, inc, sh)
                [q.pop(x) for x in ("bits", "probes", "sigma")]
                yield dict(fn="recycling_min_bits", fpr=float(text), items_per_cycle=float(items), **q), check


def main():
    queries = list(cases())
    text = "".join(json.dumps(q) + "\n" for q, _ in queries)
    out = subprocess.run([sys.argv[1], "eval"], input=text, capture_output=True, text=True).stdout.splitlines()
    assert len(out) == len(queries), "a line for each query"
    wrong, tried = {}, {}
    for (query, check), line in zip(queries, out):
        answer = json.loads(line)
        tried[query["fn"]] = tried.get(query["fn"], 0) + 1
        refused = "error" in answer and query["fn"] not in ("recycling_capacity", "recycling_min_bits")
        complaint = str(answer) if refused else check(answer)
        if complaint:
            wrong.setdefault(query["fn"], []).append((query, complaint))
    for fn, list_ in wrong.items():
        for query, complaint in list_[:12]:
            print(json.dumps(query), "->", complaint)
    for fn, number in tried.items():
        print(f"{fn}: {number} queries, {len(wrong.get(fn, []))} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Right certificates are accepted, altered ones refused.

    python3 crates/math/tests/reference/certificates.py target/debug/truebloom [COUNT [SEED]]

Asks `truebloom eval` for COUNT certificates (100 unless given) in one process, checks each, alters each once so that its claim is false or no longer supported, and
checks that too. Ends with 1 if a right one is refused or an altered one accepted. 10,000 take some ten minutes of one core.
"""
import copy
import json
import random
import subprocess
import sys
from fractions import Fraction as F

from check_certificate import verdict


def rate(r):
    """A decimal of one to four digits between 1e-9 and 0.9, mostly as people ask."""
    if r.random() < 0.5:
        return r.choice(["0.5", "0.1", "0.05", "0.01", "0.001", "1e-4", "1e-6", "1e-9"])
    return f"{r.randint(1, 9999)}e-{r.randint(4, 9)}"


def query(r):
    items = r.choice([1, 2, 3, r.randint(1, 33), r.randint(1, 300), r.randint(34, 3000), r.randint(1000, 10**6), r.randint(1, 10**9)])
    asked = {"fn": "certificate", "items": items, "fpr": rate(r)}
    if r.random() < 0.25:
        asked["hash_bits"] = r.choice([64, 96, 128])
    if r.random() < 0.15:
        asked["probes"] = r.randint(1, 24)
    # One law after another takes a checker in Python seconds: few with handfuls of items.
    if r.random() < (0.5 if items > 20_000 else 0.1):
        asked["confidence"] = r.choice([0.9, 0.99, 0.999, 0.999999])
    return asked


def line(asked):
    # The rate as written.
    return json.dumps(asked).replace(f'"{asked["fpr"]}"', asked["fpr"])


def hexed(number):
    return hex(number)


def alterations(c):
    """Name and function of every way to alter a certificate into one that must be refused."""
    claim, found = c["claim"], []

    def alter(name, change):
        found.append((name, change))

    def put(*path):
        *folders, last = path[:-1]

        def change(d):
            for folder in folders:
                d = d[folder]
            d[last] = path[-1]
        return change

    def adds(step, *path):
        def change(d):
            for folder in path[:-1]:
                d = d[folder]
            d[path[-1]] = hexed(int(d[path[-1]], 16) + step)
        return change

    # The claim. One bit less is false where the size is the smallest; elsewhere nothing supports
    # it.
    for step in (-1, 1):
        if claim["bits"] + step > 0:
            alter(f"bits {step:+}", put("claim", "bits", claim["bits"] + step))
    alter("more items", put("claim", "items", claim["items"] + 1 + claim["items"] // 1000))
    alter("another number of probes", put("claim", "probes", claim["probes"] + 1))
    alter("a lower rate", put("claim", "rate", str(F(claim["rate"]) / 2)))
    # n = 2^h is a floor of 1.
    alter("a shorter hash", put("claim", "hash_bits", max(claim["items"].bit_length() - 1, 1)))
    alter("another law", put("claim", "law", "classic"))
    alter("no such format", put("format", "truebloom certificate 2"))
    mean = c["mean"]
    if mean != "exact":
        error = int(mean["error"], 16)
        j = random.Random(claim["bits"]).randrange(len(mean["terms"]))
        alter("a term above the truth", adds(error + 1, "mean", "terms", j))
        alter("a term below the truth", adds(-error - 1, "mean", "terms", j))
        alter("no term at the end", lambda d: d["mean"]["terms"].__setitem__(len(d["mean"]["terms"]) - 1, hexed(int(d["mean"]["terms"][-1], 16) // 2 - error - 1)))
        alter("errors that allow a rate of 1", put("mean", "error", hexed(1 << mean["precision"])))
        alter("negative errors", put("mean", "error", "-0x1"))
        alter("another precision", put("mean", "precision", mean["precision"] + 1))
        alter("too many terms", lambda d: d["mean"]["terms"].extend(["0x1"] * (claim["probes"] + 1)))
        alter("no terms", put("mean", "terms", []))
        alter("no mean", lambda d: d.pop("mean"))
    elif claim["probes"] > 1:
        alter("exact for another rate", put("claim", "rate", str(F(claim["rate"]) * F(999, 1000))))
    smaller = c["smaller"]
    if smaller is not None:
        alter("another excluded size", put("smaller", "bits", smaller["bits"] - 1))
        alter("no excluded size", put("smaller", None))
        if smaller["many"] is not None:
            alter("too many by the bound on the left", put("smaller", "few", smaller["many"] - 1 if smaller["between"] else smaller["few"] + 1))
            alter("none by the bound on the right", put("smaller", "many", smaller["many"] + 1))
        for i, one in enumerate(smaller["between"][:3]):
            error = int(one["error"], 16)
            alter("probes not excluded", lambda d, i=i: d["smaller"]["between"].pop(i))
            alter("a sum too high", adds(2 * error + 1, "smaller", "between", i, "sum"))
            alter("a sum too low", adds(-2 * error - 1, "smaller", "between", i, "sum"))
            alter("errors of a sum that exclude nothing", put("smaller", "between", i, "error", hexed(1 << one["precision"])))
            alter("a sum at another precision", put("smaller", "between", i, "precision", one["precision"] - 1))
            alter("a sum of other probes", put("smaller", "between", i, "probes", one["probes"] + 1))
    elif claim["bits"] > 1:
        alter("the smallest without evidence", put("claim", "smallest", "for any probes"))
    one = c["one_filter"]
    if one is None:
        alter("a confidence without evidence", put("claim", "confidence", "0.9"))
    else:
        alter("more set bits", put("one_filter", "ones", one["ones"] + 1))
        alter("fewer set bits", put("one_filter", "ones", one["ones"] - 1))
        alter("certainty", put("claim", "confidence", "1"))
        alter("no tail", put("one_filter", None))
        alter("an unknown bound", put("one_filter", "bound", "guess"))
        if one["bound"] != "certain":
            alter("a bound that does not apply", put("one_filter", "bound", "certain"))
        # Below the truth by far more than any rounding.
        for name in ("mean_above", "variance_above"):
            if name in one:
                alter(f"a lower {name}", put("one_filter", name, hexed(int(one[name], 16) * 999 // 1000)))
        if "variance_below" in one:
            alter("a higher variance_below", put("one_filter", "variance_below", hexed(int(one["variance_below"], 16) * 1001 // 1000)))
        if "tilt" in one:
            alter("no tilt", put("one_filter", "tilt", "0x0"))
            alter("a tilt ten times as large", put("one_filter", "tilt", hexed(int(one["tilt"], 16) * 10)))
        if one["bound"] != "certain":
            alter("near certainty", put("claim", "confidence", "0." + "9" * 60))
    return found


def main():
    binary, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    r = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 13)
    queries = [query(r) for _ in range(count + count // 2 + 20)]
    run = subprocess.run([binary, "eval"], input="".join(line(q) + "\n" for q in queries), capture_output=True, text=True)
    answers = [json.loads(answer) for answer in run.stdout.splitlines()]
    # A rate below the floor of the hash, or out of reach of the probes, is refused by the planner:
    # no certificate.
    pairs = [(q, a) for q, a in zip(queries, answers) if "error" not in a][:count]
    wrong, altered, kinds = 0, 0, {}
    for q, right in pairs:
        why = verdict(right)
        if why is not None:
            wrong += 1
            print(f"REFUSED a right one: {why}: {line(q)}")
            continue
        name, change = r.choice(alterations(right))
        false = copy.deepcopy(right)
        change(false)
        assert false != right, name
        altered += 1
        kinds[name] = kinds.get(name, 0) + 1
        if verdict(false) is None:
            wrong += 1
            print(f"ACCEPTED an altered one ({name}): {line(q)}")
    errors = {}
    for q, a in zip(queries, answers):
        if "error" in a:
            errors[a["error"][:60]] = errors.get(a["error"][:60], 0) + 1
    asked = sum(q.get("confidence") is not None for q, _ in pairs)
    less = sum(q.get("confidence") is not None and str(q["confidence"]) != a["claim"]["confidence"] for q, a in pairs)
    print(f"{len(pairs)} right ones ({asked} with a confidence, {less} of them with a little less than asked), {altered} altered in {len(kinds)} ways, {wrong} wrong verdicts")
    print("not planned:", errors)
    sys.exit(1 if wrong or len(pairs) < count else 0)


if __name__ == "__main__":
    main()

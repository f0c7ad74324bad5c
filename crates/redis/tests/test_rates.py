"""The rate that was asked for, measured through the server by exact tests.

A filter that grows meets the rate certainly, and one of a fixed size with a probability of 99.9% over its seed, so seeds are frozen, and the hits among random items are held to the rate asked for by an exact binomial test: a sound
filter fails with a probability of at most 1e-6 for each of the cases. Power: a rate of twice the one asked for is noticed with more than 99% where 100 hits are expected at the rate asked for, and of five times where 10 are; the
queries below give at least 10."""
import math
import random

import pytest

from conftest import SEED, call

LEVEL = 1e-6


def at_least(hits, queries, rate):
    """The probability of so many hits or more (exact, summed downwards from the largest term)."""
    if hits == 0:
        return 1.0
    term = math.exp(math.lgamma(queries + 1) - math.lgamma(hits + 1) - math.lgamma(queries - hits + 1) + hits * math.log(rate) + (queries - hits) * math.log1p(-rate))
    total, count = 0.0, hits
    while term > total * 1e-17 and count <= queries:
        total += term
        term *= (queries - count) / (count + 1) * rate / (1 - rate)
        count += 1
    return min(total, 1.0)


def test_the_test_notices_a_wrong_rate():
    assert at_least(160, 10_000, 0.01) < LEVEL < at_least(110, 10_000, 0.01)
    assert at_least(0, 10, 0.5) == 1.0 and abs(at_least(1, 2, 0.5) - 0.75) < 1e-12


def hits(client, key, queries, chance):
    """Hits among items that were never added."""
    found, step = 0, 20_000
    for start in range(0, queries, step):
        found += sum(call(client, "BF.MEXISTS", key, *(chance.randbytes(12) for _ in range(min(step, queries - start)))))
    return found


CASES = [(items, rate) for items in (100, 1_000, 100_000) for rate in ("1e-2", "1e-3", "1e-4", "1e-5", "1e-6")]


@pytest.mark.parametrize("items, rate", CASES)
def test_rates(server, items, rate):
    client = server.client()
    client.flushall()
    chance = random.Random(f"{SEED} {items} {rate}")
    # 1e-6 takes ten million queries: by all kinds at once, so a server is asked about 300,000 of
    # them by a client, and about ten million by BF.VERIFY.
    queries = min(int(20 / float(rate)), 300_000)
    forms = {"fixed": ("NONSCALING",), "growing": (), "blocked": ("BLOCKED",)} if float(rate) >= 1e-4 else {"fixed": ("NONSCALING",), "growing": ()}
    for number, (name, options) in enumerate(forms.items()):
        call(client, "BF.RESERVE", name, rate, items, *options, "SEED", f"{SEED + number:x}")
        added = 0
        while added < items:
            count = min(5_000, items - added)
            call(client, "BF.MADD", name, *range(added, added + count))
            added += count
        found = hits(client, name, queries, chance)
        if queries < 20 / float(rate):
            # The rest inside the server, up to ten times a million.
            for _ in range(min(10, math.ceil((20 / float(rate) - queries) / 1e6))):
                reply = call(client, "BF.VERIFY", name, "QUERIES", "1000000")
                reply = dict(zip(reply[::2], reply[1::2]))
                found, queries = found + reply[b"Hits"], queries + 1_000_000
                assert reply[b"Holds"] == 1, (name, reply)
        probability = at_least(found, queries, float(rate))
        assert probability >= LEVEL, (name, found, queries, probability)


@pytest.mark.parametrize("single", [True, False])
def test_after_growth(server, single):
    """A filter for 100 items that holds 20,000, added one by one or together."""
    client = server.client()
    client.flushall()
    chance = random.Random(SEED)
    call(client, "BF.RESERVE", "f", "0.001", "100", "SEED", f"{SEED:x}")
    if single:
        with client.pipeline(transaction=False) as pipe:
            for item in range(20_000):
                pipe.execute_command("BF.ADD", "f", item)
            pipe.execute()
    else:
        for start in range(0, 20_000, 1000):
            call(client, "BF.MADD", "f", *range(start, start + 1000))
    assert call(client, "BF.INFO", "f", "FILTERS")[0] > 4
    found = hits(client, "f", 200_000, chance)
    assert at_least(found, 200_000, 0.001) >= LEVEL, found
    assert float(call(client, "BF.INFO", "f", "NOW")[0]) <= 0.001


def test_single_and_together_give_the_same_bytes(server):
    client = server.client()
    client.flushall()
    for options in [(), ("NONSCALING",), ("BLOCKED",)]:
        for name in ("single", "together"):
            call(client, "BF.RESERVE", name, "0.01", "20000", *options, "SEED", "abc")
        with client.pipeline(transaction=False) as pipe:
            for item in range(10_000):
                pipe.execute_command("BF.ADD", "single", item)
            one_by_one = pipe.execute()
        assert [int(reply) for reply in one_by_one] == call(client, "BF.MADD", "together", *range(10_000))
        assert call(client, "BF.DUMP", "single") == call(client, "BF.DUMP", "together")
        client.flushall()


def test_sketches_keep_their_error(server):
    """Markov: an estimate is above by more than error times all counts with at most the probability, for each item. Of 2,000 items at 1% more than 45 are above with a probability below 1e-6."""
    client = server.client()
    client.flushall()
    call(client, "CMS.INITBYPROB", "c", "0.01", "0.01")
    chance = random.Random(SEED)
    counts = {f"item-{number}": chance.randint(1, 100) for number in range(2_000)}
    call(client, "CMS.INCRBY", "c", *(word for pair in counts.items() for word in pair))
    estimates = dict(zip(counts, call(client, "CMS.QUERY", "c", *counts)))
    assert all(estimates[item] >= count for item, count in counts.items())
    total = sum(counts.values())
    assert sum(estimates[item] - count > 0.01 * total for item, count in counts.items()) <= 45

"""Names, arguments, replies and errors, in both protocols."""
import shlex
from pathlib import Path

import pytest
import redis

from conftest import call


def error(client, *words):
    reply = call(client, *words)
    assert isinstance(reply, redis.exceptions.ResponseError), (words, reply)
    return str(reply)


def test_replies_of_filters(client):
    assert call(client, "BF.RESERVE", "f", "0.01", "1000") == b"OK"
    assert call(client, "BF.ADD", "f", "a") == 1
    assert call(client, "BF.ADD", "f", "a") == 0
    assert call(client, "BF.MADD", "f", "a", "b", "b") == [0, 1, 0]
    assert call(client, "BF.EXISTS", "f", "b") == 1
    assert call(client, "BF.EXISTS", "f", "nothing") == 0
    assert call(client, "BF.EXISTS", "missing", "a") == 0
    assert call(client, "BF.MEXISTS", "f", "a", "nothing", "b") == [1, 0, 1]
    assert call(client, "BF.MEXISTS", "missing", "a", "b") == [0, 0]
    assert call(client, "BF.CARD", "f") == 2
    assert call(client, "BF.CARD", "missing") == 0
    assert call(client, "BF.INSERT", "i", "CAPACITY", "500", "ERROR", "0.001", "EXPANSION", "4", "ITEMS", "x", "y") == [1, 1]
    size = call(client, "BF.INFO", "i", "SIZE")
    assert len(size) == 1 and 1000 < size[0] < 2000
    info = call(client, "BF.INFO", "i")
    expected = [b"Capacity", 500, b"Size", size[0], b"Number of filters", 1, b"Number of items inserted", 2, b"Expansion rate", 4]
    assert info == expected
    assert call(client, "BF.RESERVE", "n", "0.01", "10", "NONSCALING") == b"OK"
    assert call(client, "BF.INFO", "n")[-1] is None
    assert call(client, "BF.INFO", "n", "CAPACITY") == [10]
    assert call(client, "bf.info", "n", "Expansion") == [None]


def test_defaults(client):
    assert call(client, "BF.ADD", "f", "a") == 1
    assert call(client, "BF.INFO", "f", "CAPACITY") == [100]
    assert call(client, "BF.INFO", "f", "EXPANSION") == [2]
    assert call(client, "BF.INFO", "f", "ASKED") == [b"0.01"]


def test_the_ratio_of_memory_that_is_kept(client):
    ratio = lambda *words: float(call(client, *words)[0])
    # The least ones of docs/GROWTH.md.
    for rate, least in (("0.1", 5.228), ("0.01", 3.653), ("0.001", 3.127), ("1e-6", 2.599)):
        for expansion in (1, 2, 32):
            client.flushall()
            assert call(client, "BF.RESERVE", "f", rate, "1000", "EXPANSION", expansion) == b"OK"
            planned = call(client, "BF.PLAN", rate, "1000", "EXPANSION", expansion)
            kept = ratio("BF.INFO", "f", "RATIO")
            assert kept == (32 if expansion == 32 else least)
            assert float(planned[planned.index(b"Memory ratio") + 1]) == kept
            assert call(client, "BF.INFO", "f", "EXPANSION") == [expansion]
    assert call(client, "BF.RESERVE", "small", "0.01", "3") == b"OK" and call(client, "BF.INFO", "small", "CAPACITY") == [64]
    assert "must be at least 1e-13" in str(call(client, "BF.RESERVE", "low", "1e-14", "1000"))
    for key, *options in (("fixed", "NONSCALING"), ("lines", "BLOCKED"), ("forgets", "RECYCLE")):
        assert call(client, "BF.RESERVE", key, "0.01", "1000", *options) == b"OK"
        assert call(client, "BF.INFO", key, "RATIO") == [None]
        assert b"Memory ratio" not in call(client, "BF.PLAN", "0.01", "1000", *options)
    for key in ("a", "b", "both"):
        call(client, "BF.RESERVE", key, "0.01", "1000", "SEED", "1")
        call(client, "BF.ADD", key, key)
    client.execute_command("BF.MERGE", "both", "a", "b")
    assert call(client, "BF.INFO", "a", "RATIO") != [None] == call(client, "BF.INFO", "both", "RATIO")


def test_booleans_and_maps_of_resp3(server, client):
    three = server.client(protocol=3)
    assert call(three, "BF.ADD", "f", "a") is True
    assert call(three, "BF.MADD", "f", "a", "b") == [False, True]
    assert call(three, "BF.EXISTS", "f", "a") is True
    assert call(three, "BF.MEXISTS", "f", "z") == [False]
    info = call(three, "BF.INFO", "f")
    assert list(info) == [b"Capacity", b"Size", b"Number of filters", b"Number of items inserted", b"Expansion rate"]
    call(three, "CMS.INITBYDIM", "c", "10", "2")
    assert call(three, "CMS.INFO", "c") == {b"width": 10, b"depth": 2, b"count": 0}


RESERVE_ERRORS = [
    (("x", "100"), "bad error rate"),
    (("0", "100"), "error rate must be in the range (0.000000, 1.000000)"),
    (("1", "100"), "error rate must be in the range (0.000000, 1.000000)"),
    (("-0.5", "100"), "error rate must be in the range (0.000000, 1.000000)"),
    (("nan", "100"), "bad error rate"),
    (("0.01", "x"), "bad capacity"),
    (("0.01", "1.5"), "bad capacity"),
    (("0.01", "0"), "capacity must be in the range [1, 1000000000000]"),
    (("0.01", "-1"), "capacity must be in the range [1, 1000000000000]"),
    (("0.01", "99999999999999999999"), "capacity must be in the range [1, 1000000000000]"),
    (("0.01", "100", "EXPANSION", "x"), "bad expansion"),
    (("0.01", "100", "EXPANSION", "-1"), "expansion must be in the range [0, 32768]"),
    (("0.01", "100", "EXPANSION", "2", "NONSCALING"), "Nonscaling filters cannot expand"),
    (("0.01", "100", "NONSENSE"), "unknown option NONSENSE"),
    (("0.01", "100", "SEED", "xyz"), "bad SEED xyz: 1 to 32 hexadecimal digits"),
    (("0.01", "100", "SEED"), "SEED needs a value"),
    (("0.01", "100", "HASHER", "md5"), "bad HASHER md5: xxh3 or sip13"),
    (("0.01", "100", "BLOCKED", "RECYCLE"), "BLOCKED and RECYCLE cannot be combined"),
    (("0.01", "100", "PHASES", "3"), "bad PHASES 3: 1 or 2"),
    (("0.01", "100", "EVERY", "0"), "bad EVERY 0: seconds, from 0.001 to a hundred years"),
]


@pytest.mark.parametrize("words, expected", RESERVE_ERRORS)
def test_errors_of_reserve(client, words, expected):
    found = error(client, "BF.RESERVE", "f", *words)
    # The client takes the code off.
    assert found.removeprefix("ERR ") == expected
    assert client.exists("f") == 0


def test_other_errors(client):
    call(client, "BF.RESERVE", "f", "0.01", "100")
    assert error(client, "BF.RESERVE", "f", "0.01", "100") == "item exists"
    assert error(client, "BF.INFO", "missing") == "not found"
    assert error(client, "BF.INFO", "f", "NONSENSE") == "invalid information value"
    assert error(client, "BF.INSERT", "missing", "NOCREATE", "ITEMS", "a") == "not found"
    assert error(client, "BF.INSERT", "f", "ITEMS").startswith("wrong number of arguments")
    assert error(client, "BF.INSERT", "f", "CAPACITY", "x", "ITEMS", "a") == "bad capacity"
    assert error(client, "BF.DUMP", "missing") == "not found"
    assert error(client, "BF.MERGE", "missing", "other") == "not found"
    assert error(client, "BF.RECYCLE", "f").startswith("the filter does not recycle")


def test_a_fixed_filter_is_full_element_by_element(client):
    call(client, "BF.RESERVE", "f", "0.001", "3", "NONSCALING")
    replies = call(client, "BF.MADD", "f", "a", "b", "c", "a", "d")
    assert replies[:4] == [1, 1, 1, 0]
    assert str(replies[4]) in ("non scaling filter is full", "ERR non scaling filter is full")
    assert error(client, "BF.ADD", "f", "e") == "non scaling filter is full"
    assert call(client, "BF.ADD", "f", "c") == 0


def test_items_are_bytes(client):
    items = [b"", b"\0", b"\0\0", bytes(range(256)), b"x" * 100_000, "é".encode()]
    assert call(client, "BF.MADD", "f", *items) == [1] * len(items)
    assert call(client, "BF.MEXISTS", "f", *items) == [1] * len(items)


def test_wrong_types_are_errors_and_nothing_is_lost(client):
    client.set("text", "value")
    call(client, "CMS.INITBYDIM", "sketch", "10", "2")
    call(client, "BF.ADD", "filter", "a")
    for words in [("BF.ADD", "text", "a"), ("BF.EXISTS", "text", "a"), ("BF.MEXISTS", "sketch", "a"), ("BF.CARD", "text"),
                  ("BF.RESERVE", "text", "0.1", "10"), ("BF.INFO", "sketch"), ("BF.LOADCHUNK", "text", "1", "x"),
                  ("CMS.QUERY", "filter", "a"), ("CMS.INCRBY", "text", "a", "1"), ("CMS.INFO", "filter"), ("BF.VERIFY", "text"),
                  ("BF.MERGE", "text", "filter"), ("CMS.MERGE", "sketch", "1", "filter")]:
        assert "WRONGTYPE" in str(error(client, *words)) or "wrong kind" in error(client, *words), words
    assert client.get("text") == b"value"
    assert call(client, "BF.EXISTS", "filter", "a") == 1


def test_sketches(client):
    assert call(client, "CMS.INITBYDIM", "c", "2000", "5") == b"OK"
    assert error(client, "CMS.INITBYDIM", "c", "1", "1") == "CMS: key already exists"
    assert call(client, "CMS.INCRBY", "c", "a", "5", "b", "7") == [5, 7]
    assert call(client, "CMS.QUERY", "c", "a", "b", "none") == [5, 7, 0]
    assert call(client, "CMS.INFO", "c") == [b"width", 2000, b"depth", 5, b"count", 12]
    assert call(client, "CMS.INITBYPROB", "p", "0.001", "0.01") == b"OK"
    assert call(client, "CMS.INFO", "p") == [b"width", 2000, b"depth", 7, b"count", 0]
    assert call(client, "CMS.INITBYDIM", "d", "2000", "5") == b"OK"
    call(client, "CMS.INCRBY", "d", "a", "1")
    assert call(client, "CMS.MERGE", "d", "2", "c", "d", "WEIGHTS", "3", "1") == b"OK"
    assert call(client, "CMS.QUERY", "d", "a", "b") == [16, 21]
    assert call(client, "CMS.INFO", "d")[-1] == 37
    assert error(client, "CMS.MERGE", "d", "1", "p") == "CMS: width/depth is not equal"
    assert error(client, "CMS.MERGE", "d", "2", "c") == "CMS: wrong number of keys/weights"
    assert error(client, "CMS.QUERY", "missing", "a") == "CMS: key does not exist"
    assert error(client, "CMS.INCRBY", "missing", "a", "1") == "CMS: key does not exist"
    assert error(client, "CMS.INCRBY", "c", "a", "x") == "CMS: Cannot parse number"
    assert error(client, "CMS.INCRBY", "c", "a", "-1") == "CMS: Number cannot be negative"
    assert call(client, "CMS.QUERY", "c", "a") == [5]
    # Counters stay at their highest value.
    overflow = call(client, "CMS.INCRBY", "c", "a", str(2**32))
    assert "overflow" in str(overflow[0])
    assert call(client, "CMS.QUERY", "c", "a") == [2**32 - 1]


def test_plans_tell_the_memory_before_it_is_taken(client):
    for options in [(), ("NONSCALING",), ("BLOCKED",), ("RECYCLE",), ("EVERY", "60")]:
        for items in ("100", "20000", "1000000", "10000000"):
            plan = call(client, "BF.PLAN", "0.01", items, *options)
            plan = dict(zip(plan[::2], plan[1::2]))
            call(client, "BF.RESERVE", "f", "0.01", items, *options)
            taken = call(client, "BF.INFO", "f", "MEMORY")[0]
            assert abs(taken - plan[b"Memory"]) <= 0.02 * taken + 64, (options, items, taken, plan)
            assert call(client, "BF.INFO", "f", "BITS") == [plan[b"Bits"]]
            promised = float(call(client, "BF.INFO", "f", "GUARANTEED")[0])
            assert abs(promised / float(plan[b"Error rate guaranteed"]) - 1) < 1e-6, (options, items, promised, plan)
            assert plan[b"Fits"] == 1
            client.delete("f")
    plan = call(client, "BF.PLAN", "1e-9", "1000000000000")
    assert dict(zip(plan[::2], plan[1::2]))[b"Fits"] == 0


@pytest.mark.parametrize("layout", ["NONSCALING", "BLOCKED"])
def test_one_filter_keeps_what_is_guaranteed(client, layout):
    """Of 200 filters with frozen seeds at their capacity, at most two exceed the rate that is
    guaranteed; with 99.9% each, more would do so with a probability of 0.1%. The average in its
    place is exceeded by some 90."""
    exceeding = 0
    for seed in range(200):
        call(client, "BF.RESERVE", "f", "0.01", "500", layout, "SEED", str(seed))
        client.execute_command("BF.MADD", "f", *range(500))
        now, promised = (float(call(client, "BF.INFO", "f", name)[0]) for name in ("NOW", "GUARANTEED"))
        exceeding += now > promised
        client.delete("f")
    assert exceeding <= 2


def test_verify_and_the_fields_of_info(client):
    for options in [(), ("NONSCALING",), ("BLOCKED",)]:
        call(client, "BF.RESERVE", "f", "0.01", "5000", *options)
        client.execute_command("BF.MADD", "f", *range(5000))
        found = call(client, "BF.VERIFY", "f", "QUERIES", "100000")
        found = dict(zip(found[::2], found[1::2]))
        assert found[b"Holds"] == 1 and found[b"Fill"] == b"as predicted", (options, found)
        assert found[b"Items at least"] <= 5000
        # Blocked filters have no such estimate.
        estimate = found[b"Items by the fill"]
        assert estimate is None if options == ("BLOCKED",) else abs(float(estimate) - 5000) < 300
        assert found[b"Queries"] == 100000 and found[b"Hits"] <= 1200
        info = call(client, "BF.INFO", "f", "ALL")
        info = dict(zip(info[::2], info[1::2]))
        assert info[b"Error rate asked"] == b"0.01"
        assert 0 < float(info[b"Error rate now"]) <= 0.0105 and float(info[b"Error rate guaranteed"]) <= 0.01
        assert 0.2 < float(info[b"Fill"]) < 0.6
        assert sum(layer[0] for layer in info[b"Layers"]) == info[b"Bits"]
        assert sum(layer[3] for layer in info[b"Layers"]) == info[b"Number of items inserted"] > 4900
        assert all(0 < ones < bits and 1 <= probes < 20 for bits, probes, ones, _ in info[b"Layers"])
        client.delete("f")


def test_union_of_filters_of_one_seed(client):
    for options in [(), ("NONSCALING",), ("BLOCKED",)]:
        for name in "ab":
            call(client, "BF.RESERVE", name, "0.01", "1000", *options, "SEED", "2a")
        call(client, "BF.MADD", "a", *range(400))
        call(client, "BF.MADD", "b", *range(200, 600))
        assert call(client, "BF.MERGE", "c", "a", "b") == b"OK"
        assert call(client, "BF.MEXISTS", "c", *range(600)) == [1] * 600
        assert sum(call(client, "BF.MEXISTS", "c", *range(10_000, 12_000))) < 40
        assert call(client, "BF.MERGE", "a", "b") == b"OK"
        assert call(client, "BF.MEXISTS", "a", *range(600)) == [1] * 600
        # A merged filter goes on.
        assert 0 <= call(client, "BF.ADD", "c", "new") <= 1
        call(client, "BF.RESERVE", "d", "0.01", "1000", *options)
        assert "SEED" in error(client, "BF.MERGE", "d", "a")
        client.delete("a", "b", "c", "d")


def test_events(server, client):
    client.config_set("notify-keyspace-events", "EAd")
    listener = client.pubsub()
    listener.psubscribe("__keyevent@0__:*")
    call(client, "BF.ADD", "f", "a")
    call(client, "BF.ADD", "f", "a")
    call(client, "CMS.INITBYDIM", "c", "10", "2")
    call(client, "CMS.INCRBY", "c", "a", "1")
    client.delete("f")
    found = []
    while len(found) < 5:
        message = listener.get_message(timeout=10)
        assert message, found
        if message["type"] == "pmessage":
            found.append((message["channel"].split(b":")[-1], message["data"]))
    # What changed nothing is no event.
    assert found == [(b"bf.reserve", b"f"), (b"bf.add", b"f"), (b"cms.init", b"c"), (b"cms.incrby", b"c"), (b"del", b"f")]
    listener.close()


def test_transactions_see_changes_only(server, client):
    other = server.client()
    call(client, "BF.ADD", "f", "a")
    for item, aborted in (("a", False), ("b", True)):
        with client.pipeline() as pipe:
            pipe.watch("f")
            other.execute_command("BF.ADD", "f", item)
            pipe.multi()
            pipe.execute_command("BF.CARD", "f")
            if aborted:
                with pytest.raises(redis.WatchError):
                    pipe.execute()
            else:
                pipe.execute()


def test_scripts_and_other_databases(client):
    assert client.eval("return redis.call('BF.ADD', KEYS[1], ARGV[1])", 1, "f", "a") == 1
    assert client.eval("return redis.call('BF.MEXISTS', KEYS[1], 'a', 'b')", 1, "f") == [1, 0]
    assert client.move("f", 1)
    assert call(client, "BF.EXISTS", "f", "a") == 0
    client.swapdb(0, 1)
    assert call(client, "BF.EXISTS", "f", "a") == 1
    client.rename("f", "g")
    assert call(client, "BF.EXISTS", "g", "a") == 1
    assert client.expire("g", 1000) and client.ttl("g") > 0


def test_the_first_session_of_the_readme(client):
    """Line by line, as it is pasted into a shell."""
    text = (Path(__file__).parents[1] / "README.md").read_text()
    session = text.split("## A first session")[1].split("```sh\n")[1].split("```")[0]
    words = [shlex.split(line, comments=True) for line in session.splitlines()]
    assert len(words) == 6 and all(line[0] == "redis-cli" for line in words)
    replies = [call(client, *line[1:]) for line in words]
    assert not any(isinstance(reply, Exception) for reply in replies), replies
    assert replies[1:4] == [b"OK", [1, 1, 0], 0]

"""Memory: what small filters take, limits before anything is allocated, and what is given back."""
import time

import pytest
import redis

from conftest import call, command, until


def used(client):
    return client.info("memory")["used_memory"]


def settled(client):
    """The memory used once the server has freed the buffers of earlier commands: half a second without a change of more than 4 KiB."""
    last = used(client)
    for _ in range(20):
        time.sleep(0.5)
        last, before = used(client), last
        if abs(last - before) <= 4096:
            break
    return last


@pytest.mark.parametrize("options", [(), ("NONSCALING",)])
def test_small_filters_are_small(make, options):
    """At most 1.3 times the bytes of their bits and 128, key and table of the server's included."""
    client = make().client()
    call(client, "BF.RESERVE", "warm", "0.01", "100", *options)
    bits = call(client, "BF.INFO", "warm", "BITS")[0]
    client.delete("warm")
    # As many keys as the server's table has places for, so that it is not half empty.
    count = 1 << 16
    before = used(client)
    for start in range(0, count, 1024):
        with client.pipeline(transaction=False) as pipe:
            for number in range(start, start + 1024):
                pipe.execute_command("BF.RESERVE", f"f:{number}", "0.01", "100", *options)
            pipe.execute()
    each = (used(client) - before) / count
    assert each <= 1.3 * bits / 8 + 128, (each, bits / 8)
    # What the server is told is what it has taken, but for its own part of each key.
    assert call(client, "MEMORY", "USAGE", "f:7") <= each + 16
    for start in range(0, count, 1024):
        with client.pipeline(transaction=False) as pipe:
            for number in range(start, start + 1024):
                pipe.execute_command("BF.MADD", f"f:{number}", *range(1 + number % 99))
            pipe.execute()
    assert (used(client) - before) / count <= each + 16, "items take nothing more"
    section = client.info("bf_filters")
    assert section["bf_keys"] == count
    client.flushall()
    # Valkey frees in a thread of its own.
    until(lambda: client.info("bf_filters")["bf_keys"] == 0)
    assert client.info("bf_filters")["bf_memory_bytes"] == 0


def test_limits_of_a_key_and_of_all(make):
    client = make().client()
    client.config_set("bf.bloom-memory-usage-limit", "1mb")
    assert client.config_get("bf.bloom-memory-usage-limit")["bf.bloom-memory-usage-limit"] == "1048576"
    for words in [("BF.RESERVE", "f", "0.01", "10000000"), ("BF.RESERVE", "f", "0.01", "10000000", "NONSCALING"), ("BF.RESERVE", "f", "0.01", "10000000", "BLOCKED"),
                  ("BF.RESERVE", "f", "0.01", "10000000", "RECYCLE"), ("BF.RESERVE", "f", "0.01", "10000000", "EVERY", "1"), ("BF.RESERVE", "f", "1e-9", "1000000000000"),
                  ("CMS.INITBYDIM", "f", "1000000", "5"), ("CMS.INITBYDIM", "f", str(2**60), "900"), ("CMS.INITBYPROB", "f", "1e-17", "0.1")]:
        reply = call(client, *words)
        assert "memory-usage-limit" in str(reply), (words, reply)
    # A filter that grows stops there, and keeps what it has.
    taken = 0
    for start in range(0, 2_000_000, 5000):
        replies = call(client, "BF.MADD", "g", *range(start, start + 5000))
        refused = [reply for reply in replies if isinstance(reply, redis.exceptions.ResponseError)]
        taken += 5000 - len(refused)
        if refused:
            assert "memory-usage-limit" in str(refused[0])
            break
    else:
        raise AssertionError("it grows without limit")
    assert 200_000 < taken and call(client, "BF.INFO", "g", "MEMORY")[0] <= 1 << 20
    assert all(call(client, "BF.MEXISTS", "g", *range(start)))
    client.config_set("bf.bloom-memory-usage-limit", "0")
    assert not any(isinstance(reply, redis.exceptions.ResponseError) for reply in call(client, "BF.MADD", "g", *range(start, start + 5000)))
    client.config_set("bf.bloom-total-memory-limit", "4mb")
    replies = [call(client, "BF.RESERVE", f"t{number}", "0.01", "500000") for number in range(8)]
    assert replies[0] == b"OK" and "total-memory-limit" in str(replies[-1])
    assert client.info("bf_filters")["bf_memory_bytes"] <= 4 << 20


def test_what_is_taken_before_a_limit_is_kept_and_said(make):
    """One command that fills a small filter, would make it a large one, and is refused there: every item has its own true answer, and the replica is the same to the byte."""
    primary = make()
    replica = make("--replicaof", f"127.0.0.1 {primary.port}", "--repl-diskless-sync-delay", "0")
    client, other = primary.client(), replica.client()
    until(lambda: other.info("replication")["master_link_status"] == "up")
    call(client, "BF.RESERVE", "f", "1e-12", "20000", "SEED", "5")
    # A compact filter takes 2 MiB at most, and the large form of such a one would take more.
    client.config_set("bf.bloom-memory-usage-limit", str(2 << 20))
    taken, refused = [], []
    for start in range(0, 1_000_000, 20_000):
        items = range(start, start + 20_000)
        replies = call(client, "BF.MADD", "f", *items)
        wrong = [reply for reply in replies if isinstance(reply, Exception)]
        taken += [item for item, reply in zip(items, replies) if reply == 1]
        refused += [item for item, reply in zip(items, replies) if isinstance(reply, Exception)]
        assert all("memory-usage-limit" in str(reply) for reply in wrong)
        assert call(client, "BF.CARD", "f") == len(taken), "each 1 is an item that was added"
        if wrong:
            # In the middle of a command.
            assert 0 < len(wrong) < 20_000
            break
    assert refused
    assert all(call(client, "BF.MEXISTS", "f", *taken)) and not all(call(client, "BF.MEXISTS", "f", *refused))
    digest = lambda link: call(link, "DEBUG", "DIGEST-VALUE", "f")
    assert client.wait(1, 10_000) == 1 and digest(client) == digest(other)
    # With room it becomes a large one, and takes what was refused.
    client.config_set("bf.bloom-memory-usage-limit", "0")
    assert not any(isinstance(reply, Exception) for reply in call(client, "BF.MADD", "f", *refused))
    assert all(call(client, "BF.MEXISTS", "f", *taken, *refused))
    assert client.wait(1, 10_000) == 1 and digest(client) == digest(other)


def test_limits_hold_for_what_is_restored(make):
    client = make().client()
    call(client, "BF.RESERVE", "f", "0.01", "1000000", "NONSCALING")
    dump, file = client.dump("f"), call(client, "BF.DUMP", "f")
    header = call(client, "BF.SCANDUMP", "f", "0")[1]
    client.flushall()
    client.config_set("bf.bloom-memory-usage-limit", "100kb")
    with pytest.raises(redis.ResponseError):
        client.restore("f", 0, dump)
    assert "memory-usage-limit" in str(call(client, "BF.LOAD", "f", file))
    assert "memory-usage-limit" in str(call(client, "BF.LOADCHUNK", "f", "1", header))
    assert client.dbsize() == 0
    until(lambda: client.info("bf_filters")["bf_memory_bytes"] == 0)


def test_limits_hold_for_copies_and_merges(make):
    client = make().client()
    for key in "fg":
        call(client, "BF.RESERVE", key, "0.01", "400000", "NONSCALING", "SEED", "1")
        call(client, "BF.MADD", key, *range(100))
    call(client, "CMS.INITBYDIM", "s", "100000", "5")
    size = call(client, "BF.INFO", "f", "MEMORY")[0]
    # One more fits into neither limit.
    client.config_set("bf.bloom-total-memory-limit", client.info("bf_filters")["bf_memory_bytes"] + size // 2)
    for words in (("COPY", "f", "h"), ("BF.MERGE", "h", "f", "g")):
        assert isinstance(call(client, *words), redis.exceptions.ResponseError), words
    assert call(client, "BF.MERGE", "g", "f") == b"OK", "takes nothing more"
    client.config_set("bf.bloom-total-memory-limit", "0")
    client.config_set("bf.bloom-memory-usage-limit", size - 1)
    for words in (("COPY", "f", "h"), ("BF.MERGE", "h", "f", "g"), ("BF.MERGE", "g", "f"), ("CMS.MERGE", "s", "1", "s")):
        assert isinstance(call(client, *words), redis.exceptions.ResponseError), words
    assert client.exists("h") == 0
    # The union of three of a size takes as much as one, in another form.
    most = size + size // 4
    client.config_set("bf.bloom-memory-usage-limit", most)
    assert client.copy("f", "h") and call(client, "BF.MERGE", "m", "f", "g", "h") == b"OK" and call(client, "BF.INFO", "m", "MEMORY")[0] <= most
    # Of two that grow it may take the layers of both.
    for key in ("a", "b"):
        call(client, "BF.RESERVE", key, "0.01", "1000", "SEED", "1")
        call(client, "BF.MADD", key, *(f"{key}{number}" for number in range(1000)))
    client.config_set("bf.bloom-memory-usage-limit", call(client, "BF.INFO", "a", "MEMORY")[0] + 100)
    assert "memory-usage-limit" in str(call(client, "BF.MERGE", "a", "b"))
    client.config_set("bf.bloom-memory-usage-limit", "0")
    assert call(client, "BF.MERGE", "a", "b") == b"OK"


def full(client, names, items, first=0):
    """Growing filters of one seed whose first layer is nearly full of items of its own, so that no two merge into one."""
    for number, name in enumerate(names, first):
        call(client, "BF.RESERVE", name, "0.01", "64", "SEED", "1")
        call(client, "BF.MADD", name, *range(items * number, items * (number + 1)))


def test_merged_filters_grow_by_their_numbers_not_by_their_layers(make):
    client = make().client()
    names = [f"f{number}" for number in range(40)]
    full(client, names, 60)
    one = call(client, "BF.INFO", "f0", "CAPACITY")[0]
    assert call(client, "BF.MERGE", "m", *names) == b"OK" and call(client, "BF.INFO", "m", "FILTERS") == [40]
    assert call(client, "BF.INFO", "m", "CAPACITY") == [40 * one]
    # The next layer is the second of the plan, and not the 41st, which no limit would allow.
    client.config_set("bf.bloom-memory-usage-limit", "100kb")
    assert 0 < sum(call(client, "BF.MADD", "m", *range(10_000, 10_200))) <= 200
    assert 40 < call(client, "BF.INFO", "m", "FILTERS")[0] <= 43


def test_layers_have_a_limit(make, tmp_path):
    """Each query looks in all of them: a filter of a hundred thousand stopped the server for as long as its owner liked."""
    client = make().client()
    for half, count in (("a", 600), ("b", 500)):
        client.flushall()
        full(client, [f"{half}{number}" for number in range(count)], 60, 0 if half == "a" else 600)
        before = settled(client)
        assert call(client, "BF.MERGE", half, *(f"{half}{number}" for number in range(count))) == b"OK"
        assert call(client, "BF.INFO", half, "FILTERS") == [count]
        # What it says it takes is no less than what it takes.
        taken = settled(client) - before
        assert 0.95 * taken <= call(client, "MEMORY", "USAGE", half) <= 2 * taken
        (tmp_path / half).write_bytes(call(client, "BF.DUMP", half))
    client.flushall()
    # One file of both, as the command makes it.
    command("merge", tmp_path / "both.tbl", tmp_path / "a", tmp_path / "b")
    file = (tmp_path / "both.tbl").read_bytes()
    assert "1100 layers" in str(call(client, "BF.LOAD", "f", file))
    for half in "ab":
        assert call(client, "BF.LOAD", half, (tmp_path / half).read_bytes()) == b"OK"
    assert "1100 layers" in str(call(client, "BF.MERGE", "a", "b")) and call(client, "BF.INFO", "a", "FILTERS") == [600]
    dump = client.dump("a")
    # So many, and not one more, come back.
    assert client.restore("c", 0, dump) == b"OK" and call(client, "BF.INFO", "c", "FILTERS") == [600]
    # Before anything is allocated, the limit of a key counts what layers take beside their bits.
    client.config_set("bf.bloom-memory-usage-limit", len(dump) + 100_000)
    assert "memory-usage-limit" in str(call(client, "BF.LOAD", "d", (tmp_path / "a").read_bytes()))
    with pytest.raises(redis.ResponseError):
        client.restore("d", 0, dump)
    # Queries of random items are bounded, too.
    assert "at most 50000 for a filter with 600 layers" in str(call(client, "BF.VERIFY", "a", "QUERIES", "50001"))


def test_merges_keep_the_time_to_live(make):
    client = make().client()
    for key in "fg":
        call(client, "BF.RESERVE", key, "0.01", "1000", "SEED", "1")
        call(client, "BF.ADD", key, key)
        call(client, "CMS.INITBYDIM", f"s{key}", "100", "5")
    for key in ("f", "sf"):
        client.expire(key, 1000)
    assert call(client, "BF.MERGE", "f", "g") == call(client, "CMS.MERGE", "sf", "1", "sg") == b"OK"
    assert client.ttl("f") > 900 and client.ttl("sf") > 900 and call(client, "BF.MEXISTS", "f", "f", "g") == [1, 1]


def test_plans_are_counted_and_forgotten(make):
    client = make().client()
    plans = lambda: client.info("bf_filters")["bf_plans_memory_bytes"]
    for number in range(300):
        call(client, "BF.RESERVE", f"f{number}", "0.01", 1_000 + number, "NONSCALING")
    assert 300 * 500 < plans() < 300 * 5_000
    # The next one fits only if plans that nobody uses go first.
    client.flushall()
    until(lambda: client.info("bf_filters")["bf_keys"] == 0)
    client.config_set("bf.bloom-total-memory-limit", plans() // 2)
    assert call(client, "BF.RESERVE", "f", "0.01", "2000", "NONSCALING") == b"OK"
    assert plans() < 10_000
    # Plans in use leave no room.
    client.config_set("bf.bloom-total-memory-limit", "100kb")
    replies = [call(client, "BF.RESERVE", f"g{number}", "0.01", 64 + number, "NONSCALING") for number in range(300)]
    taken = replies.count(b"OK")
    assert "total-memory-limit" in str(replies[-1]) and client.info("bf_filters")["bf_memory_bytes"] + plans() <= 105_000 and taken > 10


def test_no_memory_is_an_error_and_no_crash(make):
    """With 2 GB of addresses the server lives on when a filter of 8 GB is asked for."""
    import resource

    server = make()
    client = server.client()
    resource.prlimit(server.process.pid, resource.RLIMIT_AS, (2 << 30, 2 << 30))
    client.config_set("bf.bloom-memory-usage-limit", "0")
    for words in [("BF.RESERVE", "f", "0.01", "8000000000", "NONSCALING"), ("BF.RESERVE", "f", "0.01", "5000000000"), ("BF.RESERVE", "f", "0.01", "8000000000", "BLOCKED"),
                  ("CMS.INITBYDIM", "f", "1000000000", "4")]:
        reply = call(client, *words)
        assert isinstance(reply, redis.exceptions.ResponseError) and "alloc" in str(reply), (words, reply)
    # One that fits, but not twice.
    assert call(client, "BF.RESERVE", "f", "0.01", "900000000", "NONSCALING") == b"OK"
    for words in [("COPY", "f", "g"), ("BF.MERGE", "g", "f")]:
        assert isinstance(call(client, *words), redis.exceptions.ResponseError), words
    client.delete("f")
    assert client.ping() and call(client, "BF.ADD", "f", "a") == 1


def test_filters_of_a_server_without_room_for_more(make):
    """`maxmemory`: adding is refused by the server, asking is not."""
    client = make().client()
    call(client, "BF.ADD", "f", "a")
    client.config_set("maxmemory", "1")
    assert isinstance(call(client, "BF.ADD", "f", "b"), redis.exceptions.OutOfMemoryError)
    assert call(client, "BF.EXISTS", "f", "a") == 1
    client.config_set("maxmemory", "0")


def test_large_filters_take_their_memory_when_they_are_used(make):
    client = make().client()
    before = client.info("memory")["used_memory_rss"]
    assert call(client, "BF.RESERVE", "f", "0.01", "200000000", "NONSCALING") == b"OK"
    assert used(client) > 200_000_000
    assert client.info("memory")["used_memory_rss"] - before < 60_000_000
    # Freed in a thread of the server's.
    assert client.unlink("f") == 1
    until(lambda: client.info("bf_filters")["bf_memory_bytes"] == 0)


def test_arguments_of_the_module(make):
    client = make(arguments=("ERROR_RATE", "0.001", "INITIAL_SIZE", "5000", "bloom-expansion", "3")).client()
    call(client, "BF.ADD", "f", "a")
    assert call(client, "BF.INFO", "f", "CAPACITY") == [5000]
    assert call(client, "BF.INFO", "f", "ASKED") == [b"0.001"]
    assert call(client, "BF.INFO", "f", "EXPANSION") == [3]
    for name, value in (("bf.bloom-fp-rate", "1.5"), ("bf.bloom-fp-rate", "x"), ("bf.bloom-capacity", "0"), ("bf.bloom-expansion", "99999"), ("bf.cms-seed", "wrong")):
        with pytest.raises(redis.ResponseError):
            client.config_set(name, value)


@pytest.mark.parametrize("arguments", [("NONSENSE", "1"), ("ERROR_RATE",), ("ERROR_RATE", "7"), ("INITIAL_SIZE", "0")])
def test_wrong_arguments_of_the_module_are_said(make, arguments):
    server = make(arguments=arguments, expect=False)
    assert server.process.wait(60) != 0
    assert "truebloom: " in server.log.read_text()


def test_a_filter_that_has_expired_or_was_evicted_is_gone(make):
    client = make("--maxmemory-policy", "allkeys-lru").client()
    call(client, "BF.RESERVE", "f", "0.001", "5000")
    call(client, "BF.ADD", "f", "a")
    client.expireat("f", 1)
    assert call(client, "BF.EXISTS", "f", "a") == 0 and not client.exists("f")
    assert str(call(client, "BF.INSERT", "f", "NOCREATE", "ITEMS", "a")) == "not found"
    assert call(client, "BF.ADD", "f", "a") == 1 and call(client, "BF.INFO", "f", "CAPACITY") == [100]
    for number in range(50):
        assert call(client, "BF.RESERVE", f"f{number}", "0.01", "100000", "NONSCALING") == b"OK"
    client.config_set("maxmemory", client.info("memory")["used_memory"] - 2_000_000)
    call(client, "BF.ADD", "new", "a")
    evicted = client.info("stats")["evicted_keys"]
    assert evicted > 0 and client.dbsize() + evicted == 52

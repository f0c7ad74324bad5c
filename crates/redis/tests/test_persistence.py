"""What is written to disk comes back: RDB, AOF in both ways, saves that are killed, DUMP and RESTORE, COPY."""
import random
import time

import pytest
import redis

from conftest import SEED, call, digest, until


def fill(client):
    """One value of each kind, small and large."""
    call(client, "BF.MADD", "default", *range(1000))
    call(client, "BF.RESERVE", "fixed", "0.001", "500", "NONSCALING")
    call(client, "BF.MADD", "fixed", *range(300))
    call(client, "BF.RESERVE", "blocked", "0.01", "5000", "BLOCKED", "HASHER", "sip13")
    call(client, "BF.MADD", "blocked", *range(3000))
    call(client, "BF.RESERVE", "large", "0.0001", "1500000")
    call(client, "BF.MADD", "large", *range(5000))
    call(client, "BF.RESERVE", "items", "0.01", "1000", "RECYCLE")
    call(client, "BF.MADD", "items", *range(2500))
    call(client, "BF.RESERVE", "time", "0.01", "1000", "EVERY", "3600")
    call(client, "BF.MADD", "time", *range(500))
    call(client, "CMS.INITBYDIM", "sketch", "1000", "5")
    call(client, "CMS.INCRBY", "sketch", "a", "5", "b", "7")
    for name in ("m1", "m2"):
        call(client, "BF.RESERVE", name, "0.01", "200", "SEED", "77")
        call(client, "BF.MADD", name, *(f"{name}-{i}" for i in range(300)))
    call(client, "BF.MERGE", "merged", "m1", "m2")
    header = call(client, "BF.SCANDUMP", "large", "0")[1]
    call(client, "BF.LOADCHUNK", "half", "1", header)
    return set(client.keys())


def check(client):
    assert all(call(client, "BF.MEXISTS", "default", *range(1000)))
    assert all(call(client, "BF.MEXISTS", "large", *range(5000)))
    assert call(client, "CMS.QUERY", "sketch", "a", "b") == [5, 7]


def test_restart_with_rdb(make):
    server = make("--save", "3600 1")
    client = server.client()
    keys = fill(client)
    before, dumps = digest(client), {key: client.dump(key) for key in keys}
    server.restart()
    client = server.client()
    assert set(client.keys()) == keys and digest(client) == before
    check(client)
    assert {key: client.dump(key) for key in keys} == dumps
    # What was loaded goes on as what was not.
    added = [call(client, "BF.ADD", "default", f"new-{i}") for i in range(1000)]
    assert sum(added) > 950


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_restart_with_aof(make, preamble):
    server = make("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", preamble)
    client = server.client()
    keys = fill(client)
    before = digest(client)
    server.kill()
    server.start()
    client = server.client()
    assert set(client.keys()) == keys and digest(client) == before, "the commands as they came"
    client.bgrewriteaof()
    until(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0 and client.info("persistence")["aof_rewrite_scheduled"] == 0)
    assert client.info("persistence")["aof_last_bgrewrite_status"] == "ok"
    call(client, "BF.ADD", "default", "after the rewrite")
    before = digest(client)
    server.kill()
    server.start()
    client = server.client()
    assert set(client.keys()) == keys and digest(client) == before, "the rewritten file"
    check(client)


def test_settings_do_not_change_what_an_aof_makes(make):
    server = make("--appendonly", "yes", "--appendfsync", "always")
    client = server.client()
    for setting, value in (("bf.bloom-capacity", "777"), ("bf.bloom-fp-rate", "0.0007"), ("bf.bloom-expansion", "5"), ("bf.cms-seed", "99")):
        client.config_set(setting, value)
    call(client, "BF.ADD", "f", "a")
    call(client, "BF.INSERT", "g", "ITEMS", "a")
    call(client, "BF.INSERT", "h", "NONSCALING", "ITEMS", "a")
    call(client, "CMS.INITBYPROB", "c", "0.01", "0.01")
    call(client, "CMS.INCRBY", "c", "a", "1")
    before = digest(client)
    server.kill()
    server.options += []
    # A limit that all of them break.
    server.arguments = ["bloom-memory-usage-limit", "1", "bloom-capacity", "5"]
    server.start()
    client = server.client()
    assert digest(client) == before
    assert call(client, "BF.INFO", "f", "CAPACITY") == [777]
    assert "memory-usage-limit" in str(call(client, "BF.ADD", "z", "a"))


def test_kills_during_saves(make):
    """Acknowledged items are there after a kill at any moment: those of the last save with RDB, all with an AOF that is written always."""
    chance = random.Random(SEED)
    server = make("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no")
    acknowledged = 0
    for _ in range(6):
        client = server.client()
        client.bgrewriteaof()
        until_time = time.monotonic() + chance.uniform(0.02, 0.4)
        while time.monotonic() < until_time:
            call(client, "BF.MADD", "f", *range(acknowledged, acknowledged + 200))
            acknowledged += 200
            if chance.random() < 0.1:
                client.bgsave() if not client.info("persistence")["rdb_bgsave_in_progress"] and not client.info("persistence")["aof_rewrite_in_progress"] else None
        server.kill()
        server.start()
        client = server.client()
        for start in range(0, acknowledged, 5000):
            assert all(call(client, "BF.MEXISTS", "f", *range(start, min(start + 5000, acknowledged))))
    assert acknowledged > 2000


def test_dump_and_restore(make):
    one, other = make(name="one"), make(name="other")
    source, target = one.client(), other.client()
    keys = fill(source)
    for key in keys:
        dump = source.dump(key)
        target.restore(key, 0, dump)
        assert target.dump(key) == dump
    assert digest(source) == digest(target)
    with pytest.raises(redis.ResponseError):
        target.restore("default", 0, source.dump("default"))
    target.restore("default", 0, source.dump("fixed"), replace=True)
    assert call(target, "DEBUG", "DIGEST-VALUE", "default") == call(source, "DEBUG", "DIGEST-VALUE", "fixed")


def test_copies_are_their_own(make):
    client = make().client()
    for key in fill(client):
        copy = key + b"-copy"
        assert client.copy(key, copy)
        before = call(client, "DEBUG", "DIGEST-VALUE", key)
        assert call(client, "DEBUG", "DIGEST-VALUE", copy) == before
        if key not in (b"sketch", b"half", b"fixed"):
            call(client, "BF.MADD", copy, *(f"other-{i}" for i in range(50)))
            assert call(client, "DEBUG", "DIGEST-VALUE", copy) != before
        assert call(client, "DEBUG", "DIGEST-VALUE", key) == before


def test_a_server_without_the_module_refuses_the_values(make):
    client = make().client()
    call(client, "BF.ADD", "f", "a")
    dump = client.dump("f")
    other = make(module=None).client()
    with pytest.raises(redis.ResponseError):
        other.restore("f", 0, dump)
    assert other.ping()

"""Replicas agree to the byte, whatever their settings."""
import time

from conftest import call, digest, until
from test_persistence import fill


def linked(replica):
    info = replica.info("replication")
    return info["role"] == "slave" and info["master_link_status"] == "up"


def synced(primary, replica):
    primary.execute_command("WAIT", "1", "10000")
    offset = lambda client: client.info("replication")["master_repl_offset"]
    until(lambda: offset(primary) == offset(replica), what="the replica")


def pair(make, *options, arguments=()):
    first = make("--repl-diskless-sync-delay", "0", name="primary")
    second = make("--replicaof", "127.0.0.1", str(first.port), *options, name="replica", arguments=arguments)
    primary, replica = first.client(), second.client()
    until(lambda: linked(replica), what="the link")
    return first, second, primary, replica


def test_replicas_agree_whatever_their_settings(make):
    settings = ("bloom-capacity", "12345", "bloom-fp-rate", "0.2", "bloom-expansion", "7", "cms-seed", "5", "bloom-memory-usage-limit", "10")
    _, _, primary, replica = pair(make, arguments=settings)
    keys = fill(primary)
    call(primary, "BF.INSERT", "i", "CAPACITY", "10", "ERROR", "0.3", "ITEMS", *range(500))
    call(primary, "BF.LOAD", "loaded", call(primary, "BF.DUMP", "large"))
    iterator = 0
    while True:
        iterator, chunk = call(primary, "BF.SCANDUMP", "merged", iterator)
        if iterator == 0:
            break
        call(primary, "BF.LOADCHUNK", "chunks", iterator, chunk)
    call(primary, "CMS.INITBYPROB", "sum", "0.1", "0.1")
    assert primary.copy("fixed", "copied") and call(primary, "BF.MERGE", "merged", "m2") == call(primary, "CMS.MERGE", "sketch", "2", "sketch", "sketch", "WEIGHTS", "3", "4") == b"OK"
    primary.eval("redis.call('BF.MADD', 'script', 'a', 'b')", 0)
    assert primary.execute_command("WAIT", "1", "10000") == 1
    synced(primary, replica)
    assert set(replica.keys()) >= keys and digest(primary) == digest(replica)
    assert call(replica, "BF.INFO", "default", "CAPACITY") == call(primary, "BF.INFO", "default", "CAPACITY")
    # A replica answers, and takes nothing.
    assert all(call(replica, "BF.MEXISTS", "default", *range(1000)))
    assert "READONLY" in repr(call(replica, "BF.ADD", "default", "x")) or "read only" in str(call(replica, "BF.ADD", "default", "x"))


def test_repeats_are_not_replicated(make):
    _, _, primary, replica = pair(make)
    call(primary, "BF.MADD", "f", *range(50))
    synced(primary, replica)
    before = primary.info("replication")["master_repl_offset"]
    for _ in range(200):
        assert call(primary, "BF.ADD", "f", "7") == 0
        assert call(primary, "BF.MADD", "f", *range(50)) == [0] * 50
    # Pings of the primary are some bytes.
    assert primary.info("replication")["master_repl_offset"] - before < 500
    assert digest(primary) == digest(replica)


def test_a_new_replica_takes_the_whole_state(make):
    for diskless in ("yes", "no"):
        first = make("--repl-diskless-sync", diskless, "--repl-diskless-sync-delay", "0", name=f"p-{diskless}")
        primary = first.client()
        fill(primary)
        load = "swapdb" if diskless == "yes" else "disabled"
        second = make("--repl-diskless-load", load, name=f"r-{diskless}")
        replica = second.client()
        call(replica, "BF.ADD", "goes away", "a")
        replica.execute_command("REPLICAOF", "127.0.0.1", first.port)
        until(lambda: linked(replica), what="the link")
        synced(primary, replica)
        assert digest(primary) == digest(replica)


def test_failover_by_hand(make):
    first, second, primary, replica = pair(make)
    acknowledged = 0
    for _ in range(20):
        call(primary, "BF.MADD", "f", *range(acknowledged, acknowledged + 100))
        acknowledged += 100
    assert primary.execute_command("WAIT", "1", "10000") == 1
    first.kill()
    replica.execute_command("REPLICAOF", "NO", "ONE")
    assert all(call(replica, "BF.MEXISTS", "f", *range(acknowledged)))
    call(replica, "BF.MADD", "f", *range(acknowledged, acknowledged + 100))
    first.start()
    primary = first.client()
    primary.execute_command("REPLICAOF", "127.0.0.1", second.port)
    until(lambda: linked(primary), what="the link")
    synced(replica, primary)
    assert digest(primary) == digest(replica)
    assert all(call(primary, "BF.MEXISTS", "f", *range(acknowledged + 100)))


def test_only_the_primary_turns_filters(make):
    """No test waits for a clock: filters begin in the past, by the word that a primary says to its replicas."""
    first, second, primary, replica = pair(make)
    now = int(time.time() * 1000)
    hour = 3_600_000
    turns = lambda key: call(primary, "BF.INFO", key, "TURNS")[0]
    for key, begun in (("young", now - hour // 2), ("old", now - hour - hour // 2), ("older", now - 5 * hour)):
        call(primary, "BF.RESERVE", key, "0.01", "1000", "EVERY", "3600", "CLOCK", begun)
    call(primary, "BF.RESERVE", "n", "0.01", "100", "RECYCLE")
    synced(primary, replica)
    # Asking turns nothing, on either.
    for client in (primary, replica):
        assert call(client, "BF.MEXISTS", "old", "a") == [0]
    assert [turns(key) for key in ("young", "old", "older")] == [0, 0, 0] and digest(primary) == digest(replica)
    for key in ("young", "old", "older"):
        assert call(primary, "BF.ADD", key, "one") == 1
    # After a pause of two ages or more both phases are too old.
    assert [turns(key) for key in ("young", "old", "older")] == [0, 1, 2]
    # Its time is not up yet, and nobody but a primary says what time it is. By force it turns, and
    # two phases remember what was there once more.
    assert call(primary, "BF.RECYCLE", "old") == 0
    assert "unknown option AT" in str(call(primary, "BF.RECYCLE", "old", "AT", now + hour)) and turns("old") == 1
    assert call(primary, "BF.RECYCLE", "old", "FORCE") == 1 and turns("old") == 2
    call(primary, "BF.ADD", "old", "two")
    assert call(primary, "BF.MEXISTS", "old", "one", "two") == [1, 1]
    assert call(primary, "BF.RECYCLE", "old", "FORCE") == 1
    assert call(primary, "BF.MEXISTS", "old", "one", "two") == [0, 1]
    # By items.
    call(primary, "BF.MADD", "n", *range(1000))
    assert turns("n") >= 3
    assert call(primary, "BF.RECYCLE", "n", "FORCE") == 1
    assert call(primary, "BF.RECYCLE", "n") == 0
    synced(primary, replica)
    assert digest(primary) == digest(replica)
    for key in ("young", "old", "older", "n"):
        assert call(primary, "BF.DUMP", key) == call(replica, "BF.DUMP", key)
    # What was replicated is in the AOF too, and gives the same bytes.
    primary.config_set("appendonly", "yes")
    until(lambda: primary.info("persistence")["aof_rewrite_in_progress"] == 0 and primary.info("persistence")["aof_enabled"] == 1)
    call(primary, "BF.RESERVE", "late", "0.01", "1000", "EVERY", "3600", "CLOCK", now - 2 * hour)
    call(primary, "BF.MADD", "late", "three", "four")
    assert turns("late") == 2
    before = digest(primary)
    first.kill()
    first.options += ["--appendonly", "yes"]
    first.start()
    assert digest(first.client()) == before


def test_what_a_limit_refuses_is_not_replicated(make):
    """Once where a small filter must not grow, once where it would become a large one."""
    _, _, primary, replica = pair(make)
    for limit in ("1mb", "2mb"):
        primary.config_set("bf.bloom-memory-usage-limit", limit)
        for start in range(0, 3_000_000, 5000):
            replies = call(primary, "BF.MADD", limit, *range(start, start + 5000))
            if any(isinstance(reply, Exception) for reply in replies):
                break
        else:
            raise AssertionError("it grows without limit")
        # And one that none of the items goes into.
        call(primary, "BF.MADD", limit, *range(-5000, 0))
        synced(primary, replica)
        assert digest(primary) == digest(replica)


def test_chunks_that_come_to_nothing_leave_nothing_anywhere(make):
    first, _, primary, replica = pair(make)
    begin = lambda total: b"TBdump\0\x01" + total.to_bytes(8, "little")
    # Zeros; and chunks of chunks, which no dump has.
    nested = b"TBv1" + (5).to_bytes(4, "little") + bytes(8) + (1).to_bytes(8, "little")
    for last in (bytes(24), nested):
        assert call(primary, "BF.LOADCHUNK", "k", "1", begin(24)) == b"OK"
        assert "received bad data" in str(call(primary, "BF.LOADCHUNK", "k", "2", last))
        synced(primary, replica)
        assert primary.exists("k") == replica.exists("k") == 0
    call(primary, "BF.ADD", "kept", "a")
    primary.save()
    first.restart()
    assert call(first.client(), "BF.EXISTS", "kept", "a") == 1


def test_turns_by_fill_and_by_time_agree(make):
    """A turn by fill begins the phase again: the time of the next one counts from there, on both."""
    _, _, primary, replica = pair(make)
    call(primary, "BF.RESERVE", "w", "0.01", "100", "EVERY", "1")
    number = 0
    for _ in range(30):
        number += 40
        call(primary, "BF.MADD", "w", *range(number, number + 40))
        time.sleep(0.13)
        synced(primary, replica)
        assert digest(primary) == digest(replica), number

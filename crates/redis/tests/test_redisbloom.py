"""Filters of RedisBloom come in by its chunks, its DUMP, its RDB and its replication stream.

RedisBloom is not needed: what it writes is made here by a second implementation in Python, which is held to the filter that the documentation of BF.SCANDUMP prints byte for byte.
"""
import math
import random
import struct

import pytest
import redis

from conftest import SEED, call, digest, until
from test_hostile import altered, crc64, is_sound
from test_replication import pair, synced

# https://redis.io/commands/bf.scandump: BF.RESERVE bf 0.1 10; BF.ADD bf item1.
PUBLISHED = [
    (1, b"\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x05\x00\x00\x00\x02\x00\x00\x00\b\x00\x00\x00\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"
        b"\x9a\x99\x99\x99\x99\x99\xa9?J\xf7\xd4\x9e\xde\xf0\x18@\x05\x00\x00\x00\n\x00\x00\x00\x00\x00\x00\x00\x00"),
    (9, b"\x01\b\x00\x80\x00\x04 \x00"),
]

WORD = (1 << 64) - 1
MULTIPLIER = 0xC6A4A7935BD1E995


def murmur(data, seed):
    """MurmurHash64A."""
    def mixed(word):
        word = word * MULTIPLIER & WORD
        return (word ^ word >> 47) * MULTIPLIER & WORD

    whole = len(data) // 8 * 8
    value = seed ^ len(data) * MULTIPLIER & WORD
    for at in range(0, whole, 8):
        value = (value ^ mixed(int.from_bytes(data[at : at + 8], "little"))) * MULTIPLIER & WORD
    if data[whole:]:
        value = (value ^ int.from_bytes(data[whole:], "little")) * MULTIPLIER & WORD
    value = (value ^ value >> 47) * MULTIPLIER & WORD
    return value ^ value >> 47


class Layer:
    def __init__(self, capacity, rate):
        self.capacity, self.rate, self.items = capacity, rate, 0
        self.each = -math.log(rate) / 0.480453013918201
        self.probes = math.ceil(0.693147180559945 * self.each)
        self.bits = -(-max(int(capacity * self.each), 1) // 64) * 64
        self.bytes = bytearray(self.bits // 8)

    def positions(self, first, second):
        return [((first + i * second) & WORD) % self.bits for i in range(self.probes)]

    def has(self, hashes):
        return all(self.bytes[at >> 3] >> (at & 7) & 1 for at in self.positions(*hashes))

    def add(self, hashes):
        for at in self.positions(*hashes):
            self.bytes[at >> 3] |= 1 << (at & 7)
        self.items += 1


class Chain:
    """A filter as RedisBloom keeps it: a layer that is full is followed by one for half the rate and more items."""

    def __init__(self, rate, capacity, growth=2, fixed=False):
        self.growth, self.fixed = growth, fixed
        self.layers = [Layer(capacity, rate if fixed else rate / 2)]

    def hashes(self, item):
        first = murmur(item, MULTIPLIER)
        return first, murmur(item, first)

    def has(self, item):
        return any(layer.has(self.hashes(item)) for layer in self.layers)

    def add(self, item):
        if self.has(item):
            return
        last = self.layers[-1]
        if last.items >= last.capacity:
            assert not self.fixed
            last = Layer(last.capacity * self.growth, last.rate / 2)
            self.layers.append(last)
        last.add(self.hashes(item))

    @property
    def options(self):
        return 5 | (8 if self.fixed else 0)

    @property
    def items(self):
        return sum(layer.items for layer in self.layers)

    def chunks(self, most=16 << 20):
        header = struct.pack("<QIII", self.items, len(self.layers), self.options, self.growth)
        for layer in self.layers:
            header += struct.pack("<QQQddIQB", len(layer.bytes), layer.bits, layer.items, layer.rate, layer.each, layer.probes, layer.capacity, 0)
        chunks, iterator = [(1, header)], 1
        for layer in self.layers:
            for at in range(0, len(layer.bytes), most):
                chunk = bytes(layer.bytes[at : at + most])
                iterator += len(chunk)
                chunks.append((iterator, chunk))
        return chunks

    def value(self, encoding=4):
        """As it stands in an RDB: a module's value, each field with its kind before it."""
        number = lambda value: length(2) + length(value)
        fraction = lambda value: length(4) + struct.pack("<d", value)
        string = lambda value: length(5) + length(len(value)) + value
        fields = [number(self.items), number(len(self.layers)), number(self.options)] + ([number(self.growth)] if encoding >= 4 else [])
        for layer in self.layers:
            fields += [number(layer.capacity), fraction(layer.rate), number(layer.probes), fraction(layer.each), number(layer.bits), number(0), string(bytes(layer.bytes)), number(layer.items)]
        return b"\x07" + length(type_id("MBbloom--", encoding)) + b"".join(fields) + length(0)

    def dump(self, encoding=4):
        return sealed(self.value(encoding))


def length(number):
    """A number as an RDB has it."""
    if number < 64:
        return bytes([number])
    if number < 1 << 14:
        return bytes([0x40 | number >> 8, number & 255])
    return b"\x80" + struct.pack(">I", number) if number < 1 << 32 else b"\x81" + struct.pack(">Q", number)


def type_id(name, encoding):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    value = 0
    for letter in name:
        value = value << 6 | letters.index(letter)
    return value << 10 | encoding


def sealed(body):
    """With the version and the checksum that a DUMP ends with."""
    body += struct.pack("<H", 10)
    return body + struct.pack("<Q", crc64(body))


def load(client, key, chunks):
    for iterator, chunk in chunks:
        assert call(client, "BF.LOADCHUNK", key, iterator, chunk) == b"OK", iterator


def chain_of(items, *arguments, **options):
    chain = Chain(*arguments, **options)
    for item in items:
        chain.add(item)
    return chain


def words(name, count):
    return [b"%s-%d" % (name, number) for number in range(count)]


def test_the_second_implementation_makes_the_published_filter(server):
    assert chain_of([b"item1"], 0.1, 10).chunks() == PUBLISHED


def test_the_published_filter_comes_in(server):
    client = server.client()
    client.flushall()
    load(client, "bf", PUBLISHED)
    assert call(client, "BF.EXISTS", "bf", "item1") == 1
    assert call(client, "BF.INFO", "bf") == [b"Capacity", 10, b"Size", call(client, "BF.INFO", "bf", "SIZE")[0], b"Number of filters", 1, b"Number of items inserted", 1, b"Expansion rate", 2]
    assert call(client, "BF.INFO", "bf", "ASKED") == [b"0.1"] and call(client, "BF.INFO", "bf", "KIND") == [b"imported"]


FORMS = {"one layer": (50, 0.01, 100, {}), "many layers": (3_000, 0.001, 100, {}), "fixed": (80, 0.001, 100, {"fixed": True}), "by four": (2_000, 0.01, 50, {"growth": 4})}


@pytest.mark.parametrize("form", FORMS)
def test_every_answer_is_that_of_redisbloom(server, form):
    client = server.client()
    client.flushall()
    count, rate, capacity, options = FORMS[form]
    items = words(b"item", count)
    chain = chain_of(items, rate, capacity, **options)
    load(client, "chunks", chain.chunks(most=1_000))
    client.restore("dump", 0, chain.dump())
    strangers = words(b"stranger", 10_000)
    expected = [int(chain.has(item)) for item in strangers]
    for key in ("chunks", "dump"):
        assert call(client, "BF.MEXISTS", key, *items) == [1] * count
        assert call(client, "BF.MEXISTS", key, *strangers) == expected
        assert call(client, "BF.CARD", key) == chain.items and call(client, "BF.INFO", key, "FILTERS") == [len(chain.layers)]
        assert call(client, "BF.INFO", key, "EXPANSION") == [None if chain.fixed else chain.growth]
        # The rate that is measured is the rate.
        report = call(client, "BF.VERIFY", key, "QUERIES", "200000")
        report = dict(zip(report[::2], report[1::2]))
        assert float(report[b"Error rate at least"]) <= sum(expected) / 10_000 + 0.004 and float(report[b"Error rate at most"]) >= sum(expected) / 10_000 - 0.004
        assert call(client, "BF.INFO", key, "GUARANTEED") == [None] and 0 <= float(call(client, "BF.INFO", key, "NOW")[0]) < 0.03
    assert client.type("dump") == b"MBbloom--" and client.type("chunks") == b"truebloom"
    # What is added is kept beside it, and found with it.
    for key in ("chunks", "dump"):
        more = words(b"more", 20 if chain.fixed else 2_000)
        new = [int(not chain.has(item)) for item in more]
        replies = call(client, "BF.MADD", key, *more)
        # A new item may be taken for one of those that were added here, at the rate asked for.
        assert all(reply <= expected for reply, expected in zip(replies, new)) and sum(replies) >= sum(new) * 0.97
        assert all(call(client, "BF.MEXISTS", key, *items, *more))
        assert call(client, "BF.MADD", key, *more) == [0] * len(more) and call(client, "BF.CARD", key) == chain.items + sum(replies)
    if chain.fixed:
        replies = call(client, "BF.MADD", "dump", *words(b"beyond", 100))
        assert "full" in str(replies[-1]) and call(client, "BF.CARD", "dump") == 100
    # And goes where values go.
    assert call(client, "DEBUG", "DIGEST-VALUE", "chunks")
    before = digest(client)
    call(client, "DEBUG", "RELOAD")
    assert digest(client) == before
    client.copy("dump", "copied")
    client.restore("restored", 0, client.dump("dump"))
    values = call(client, "DEBUG", "DIGEST-VALUE", "dump", "copied", "restored")
    assert values[0] == values[1] == values[2]
    for words_of in (("BF.DUMP", "dump"), ("BF.MERGE", "other", "dump")):
        assert "RedisBloom" in str(call(client, *words_of))


def test_older_encodings_and_wrong_ones(server):
    client = server.client()
    client.flushall()
    chain = chain_of(words(b"item", 150), 0.01, 100)
    client.restore("old", 0, chain.dump(encoding=2))
    assert all(call(client, "BF.MEXISTS", "old", *words(b"item", 150)))
    for encoding in (0, 1, 5, 999, 1001):
        assert "Bad data" in str(call(client, "RESTORE", "r", "0", chain.dump(encoding=encoding)))
    # Hashes of 32 bits, which RedisBloom 1 had.
    header = bytearray(chain.chunks()[0][1])
    header[12] = 1
    assert "32-bit hashes" in str(call(client, "BF.LOADCHUNK", "r", "1", bytes(header)))
    assert client.dbsize() == 1


def test_an_rdb_of_redisbloom_is_loaded(make):
    """The way over: the server is stopped, and started with this module on the same files."""
    server = make()
    chain = chain_of(words(b"item", 700), 0.01, 100)
    server.end()
    body = b"REDIS0010\xfe\x00" + chain.value()[:1] + length(4) + b"seen" + chain.value()[1:] + b"\xff"
    (server.folder / "dump.rdb").write_bytes(body + struct.pack("<Q", crc64(body)))
    client = server.start().client()
    assert all(call(client, "BF.MEXISTS", "seen", *words(b"item", 700))) and call(client, "BF.CARD", "seen") == chain.items


def test_replicas_and_aof_agree(make):
    first, _, primary, replica = pair(make)
    chain, grown = chain_of(words(b"item", 700), 0.01, 100), chain_of(words(b"other", 90), 0.01, 100, fixed=True)
    load(primary, "chunks", chain.chunks(most=700))
    primary.restore("dump", 0, grown.dump())
    chunks = chain.chunks(most=700)
    load(primary, "half", chunks[:2])
    for number in range(20):
        call(primary, "BF.MADD", "chunks", *words(b"more%d" % number, 100))
        call(primary, "BF.MADD", "dump", *words(b"more%d" % number, 5))
    synced(primary, replica)
    assert digest(primary) == digest(replica)
    for preamble in ("no", "yes"):
        primary.config_set("aof-use-rdb-preamble", preamble)
        primary.config_set("appendonly", "yes")
        until(lambda: primary.info("persistence")["aof_rewrite_in_progress"] == 0 and primary.info("persistence")["aof_enabled"] == 1)
        before, values = digest(primary), call(primary, "DEBUG", "DIGEST-VALUE", "chunks", "half")
        call(primary, "DEBUG", "LOADAOF")
        # Without a preamble the AOF has commands, which make a key of our own type.
        assert call(primary, "DEBUG", "DIGEST-VALUE", "chunks", "half") == values and (preamble == "no" or digest(primary) == before)
        primary.config_set("appendonly", "no")
    load(primary, "half", chunks[2:])
    assert all(call(primary, "BF.MEXISTS", "half", *words(b"item", 700)))


def test_chunks_of_redisbloom_hold_to_limits_and_order(make):
    client = make().client()
    chain = chain_of(words(b"item", 300), 0.001, 1_000)
    chunks = chain.chunks(most=500)
    client.config_set("bf.bloom-memory-usage-limit", "1kb")
    assert "memory-usage-limit" in str(call(client, "BF.LOADCHUNK", "f", "1", chunks[0][1]))
    assert "Bad data" in str(call(client, "RESTORE", "f", "0", chain.dump()))
    client.config_set("bf.bloom-memory-usage-limit", "0")
    load(client, "f", chunks[:2])
    assert f"iterator {chunks[2][0]} must come next" in str(call(client, "BF.LOADCHUNK", "f", chunks[3][0], chunks[2][1]))
    assert "is incomplete" in str(call(client, "BF.ADD", "f", "a"))
    client.expire("f", 1000)
    load(client, "f", chunks[2:])
    assert all(call(client, "BF.MEXISTS", "f", *words(b"item", 300)))
    assert client.ttl("f") > 900, "what is loaded to the end keeps its time to live"


def test_any_bytes_of_redisbloom(server):
    client = server.client()
    client.flushall()
    chance, taken = random.Random(SEED), 0
    chain = chain_of(words(b"item", 400), 0.01, 100)
    value, header = chain.value(), chain.chunks()[0][1]
    before = client.info("memory")["used_memory"]
    for number in range(1_500):
        if number % 100 == 0:
            call(client, "BF.INFO", "r", "ALL")
        reply = call(client, "RESTORE", "r", "0", sealed(altered(value, chance)), "REPLACE")
        taken += reply == b"OK"
        if reply == b"OK":
            call(client, "BF.MADD", "r", "a", "b")
            call(client, "BF.INFO", "r", "LAYERS")
            client.restore("again", 0, client.dump("r"), replace=True)
        call(client, "BF.LOADCHUNK", "c", "1", altered(header, chance))
        assert client.info("memory")["used_memory"] < before + (64 << 20)
    is_sound(server, client)
    assert taken > 0

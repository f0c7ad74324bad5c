"""How the golden files were made: hash, positions and file format written down a second time, from docs/design/positions.md and docs/FORMAT.md and not from the Rust code.

Needs Python 3 and `pip install xxhash`; no test runs it. `python3 reference.py FOLDER` writes all files anew.
"""
import struct
import sys
from fractions import Fraction
from itertools import islice
from pathlib import Path

import xxhash

MASK = (1 << 64) - 1
SEED = 0x0F1E2D3C4B5A69788796A5B4C3D2E1F0


def rotl(word, by):
    return ((word << by) | (word >> (64 - by))) & MASK


def mix(w):
    w = ((w ^ (w >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    w = ((w ^ (w >> 27)) * 0x94D049BB133111EB) & MASK
    return w ^ (w >> 31)


def words(h1, h2):
    x, y, i = h1, h2, 0
    while True:
        yield mix(x ^ rotl(y, 32))
        x, i = (x + y) & MASK, i + 1
        y = (y + i) & MASK


def halves_and_words(h1, h2):
    """The stream of schemes 11 and 12."""
    yield h1
    yield h2
    yield from words(h1, h2)


def below(stream, bound):
    threshold = (1 << 64) % bound
    for skipped in range(65):
        product = next(stream) * bound
        if (product & MASK) >= threshold or skipped == 64:
            return product >> 64


def positions(h1, h2, m):
    """The walk of sketches' rows: one a word."""
    stream = words(h1, h2)
    while True:
        yield below(stream, m)


def batched_positions(h1, h2, m, k):
    """Scheme 11: the digits to the base m of a number below m^r, most significant first; by division, not digit by digit."""
    stream, r = halves_and_words(h1, h2), 1
    while r < k and m ** (r + 1) <= 1 << 52:
        r += 1
    found = []
    while len(found) < k:
        tuple = below(stream, m**r)
        found += [tuple // m**i % m for i in reversed(range(r))]
    return found[:k]


def distinct_positions(h1, h2, m, k):
    """Scheme 2, by Floyd's method."""
    stream, drawn = words(h1, h2), []
    for bound in range(m - k + 1, m + 1):
        position = below(stream, bound)
        drawn.append(bound - 1 if position in drawn else position)
    return drawn


def residues(stream, m, lowest):
    h1 = below(stream, m)
    return h1, lowest + below(stream, m - lowest)


def two_hashes(f, lowest=0):
    """Schemes 4 to 8: h1 + i h2 + f(i) modulo m, with big integers and no differences."""

    def scheme(h1, h2, m, k):
        a, b = residues(words(h1, h2), m, lowest)
        return [(a + i * b + f(i)) % m for i in range(k)]

    return scheme


def partitioned(h1, h2, m, k):
    """Scheme 3: the first m mod k slices are longer by a bit."""
    stream, lengths = words(h1, h2), [m // k + (i < m % k) for i in range(k)]
    return [sum(lengths[:i]) + below(stream, length) for i, length in enumerate(lengths)]


def partition_double(h1, h2, m, k):
    """Scheme 9."""
    a, b = residues(words(h1, h2), m // k, 0)
    return [i * (m // k) + (a + i * b) % (m // k) for i in range(k)]


SCHEMES = {
    "standard": batched_positions,
    "classic": distinct_positions,
    "partitioned": partitioned,
    "double": two_hashes(lambda i: 0),
    "double-nonzero": two_hashes(lambda i: 0, 1),
    "square": two_hashes(lambda i: i * i),
    "cube": two_hashes(lambda i: i**3),
    "enhanced": two_hashes(lambda i: (i**3 - i) // 6),
    "partition-double": partition_double,
}


def golden_positions():
    """Scheme, hash, bits, probes and the sum over i of (i + 1) times position i, modulo 2^64; then up to 8 positions themselves."""
    hashes = [0, 1, 1 << 64, (1 << 128) - 1, SEED]
    sizes = [(1, 1), (2, 2), (3, 3), (5, 5), (6, 6), (7, 7), (12, 6), (1000, 8), (1001, 7), (28800, 20), (3000, 1000), ((3 << 60) - 2, 7), (1 << 62, 8)]
    for name, scheme in SCHEMES.items():
        for hash in hashes:
            for m, k in sizes:
                if (name == "double-nonzero" and m == 1) or (name == "partition-double" and m % k):
                    continue
                found = scheme(hash & MASK, hash >> 64, m, k)
                assert len(found) == k and all(0 <= p < m for p in found)
                digest = sum((i + 1) * p for i, p in enumerate(found)) & MASK
                yield f"{name} {hash:x} {m} {k} {digest} {','.join(map(str, found[:8]))}"


def xxh3(seed, key):
    """Hasher 3."""
    seed = mix(mix(((seed & MASK) + 0x9E3779B97F4A7C15) & MASK) ^ (seed >> 64))
    h = xxhash.xxh3_128_intdigest(key, seed=seed)
    return h & MASK, h >> 64


def siphash13(seed, key):
    k0, k1 = seed & MASK, seed >> 64
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    whole = len(key) // 8 * 8
    last = int.from_bytes(key[whole:], "little") | (len(key) & 255) << 56
    for block in [*(w for (w,) in struct.iter_unpack("<Q", key[:whole])), last]:
        v[3] ^= block
        rounds(1)
        v[0] ^= block
    halves = []
    for i, constant in ((2, 0xEE), (1, 0xDD)):
        v[i] ^= constant
        rounds(3)
        halves.append(v[0] ^ v[1] ^ v[2] ^ v[3])
    return tuple(halves)


HASHERS = {2: siphash13, 3: xxh3}


class Filter:
    scheme, kind = 11, 1

    def __init__(self, hasher, bits, probes, capacity=0, rate=(0, 0, 0)):
        self.hasher, self.bits, self.probes, self.capacity, self.rate = hasher, bits, probes, capacity, rate
        self.payload, self.offered, self.changed, self.merged = bytearray((bits + 63) // 64 * 8), 0, 0, 0

    def insert(self, key):
        h1, h2 = HASHERS[self.hasher](SEED, key)
        before = bytes(self.payload)
        for p in self.positions(h1, h2):
            self.payload[p // 8] |= 1 << p % 8
        self.offered += 1
        self.changed += before != self.payload

    def positions(self, h1, h2):
        return batched_positions(h1, h2, self.bits, self.probes)

    def union(self, other):
        self.payload = bytearray(a | b for a, b in zip(self.payload, other.payload))
        self.offered, self.changed, self.merged = self.offered + other.offered, max(self.changed, other.changed), 1

    def encode(self):
        numerator, exponent, divisor = self.rate
        header = b"\x89TBL\r\n\x1a\n"
        header += struct.pack("<HHHHIIQ", 1, self.kind, self.scheme, self.hasher, self.merged, self.probes, self.bits)
        header += SEED.to_bytes(16, "little")
        header += struct.pack("<QQQ", self.offered, self.changed, self.capacity)
        header += struct.pack("<QQiI", numerator, divisor, exponent, 0)
        header += struct.pack("<QQQ", 256, len(self.payload), xxhash.xxh3_64_intdigest(bytes(self.payload)))
        header += bytes(128)
        return header + struct.pack("<Q", xxhash.xxh3_64_intdigest(header)) + self.payload


def blocked_positions(stream, m, k):
    """The first word of the stream (skips included) draws one of m / 512 blocks, the next words seven positions each."""
    line = below(stream, m // 512)
    drawn = [next(stream) for _ in range(-(-k // 7))]
    return [512 * line + (drawn[probe // 7] >> 9 * (probe % 7) & 511) for probe in range(k)]


class Blocked(Filter):
    """Kind 2."""

    scheme, kind = 12, 2

    def positions(self, h1, h2):
        return blocked_positions(halves_and_words(h1, h2), self.bits, self.probes)

    def encode(self):
        header = bytearray(super().encode()[:248])
        header[120:128] = struct.pack("<Q", 512)
        return bytes(header) + struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(header))) + self.payload


class Scalable:
    """Kind 5: layers with a limit each, of which the next is opened when the last has no room for a key that none of them has."""

    def __init__(self, hasher, first, ratio, rate, layers):
        self.hasher, self.first, self.ratio, self.rate, self.planned = hasher, first, ratio, rate, layers
        self.layers, self.offered = [[0, set()]], 0

    def positions(self, number, h1, h2):
        constant = int.from_bytes(b"scalable", "little")
        salt = siphash13(SEED ^ (constant << 64 | constant), struct.pack("<Q", number))
        bits, probes, _ = self.planned[number]
        return set(batched_positions(mix(h1 ^ salt[0]), mix(h2 ^ salt[1]), bits, probes))

    def insert(self, key):
        h1, h2 = HASHERS[self.hasher](SEED, key)
        self.offered += 1
        if any(self.positions(number, h1, h2) <= ones for number, (_, ones) in enumerate(self.layers)):
            return
        _, probes, limit = self.planned[len(self.layers) - 1]
        if len(self.layers[-1][1]) + probes > limit:
            self.layers.append([0, set()])
        self.layers[-1][0] += 1
        self.layers[-1][1] |= self.positions(len(self.layers) - 1, h1, h2)

    def encode(self):
        payload, planned = b"", self.planned[: len(self.layers)]
        for number, ((inserted, ones), (bits, probes, limit)) in enumerate(zip(self.layers, planned)):
            record = struct.pack("<QQQQQQQ", number, bits, probes, limit, inserted, 0, 0)
            payload += record + struct.pack("<Q", xxhash.xxh3_64_intdigest(record)) + sum(1 << p for p in ones).to_bytes(bits // 8, "little")
        numerator, exponent, divisor = self.rate
        header = b"\x89TBL\r\n\x1a\n"
        header += struct.pack("<HHHHII", 1, 5, 11, self.hasher, 0, sum(probes for _, probes, _ in planned))
        header += struct.pack("<Q", sum(bits for bits, _, _ in planned)) + SEED.to_bytes(16, "little")
        header += struct.pack("<QQQ", self.offered, sum(inserted for inserted, _ in self.layers), 0)
        header += struct.pack("<QQiI", numerator, divisor, exponent, 0)
        header += struct.pack("<QQQ", 256, len(payload), xxhash.xxh3_64_intdigest(payload))
        header += struct.pack("<QdQ", self.first, self.ratio, len(self.layers)) + bytes(104)
        return sealed(header) + payload


def coded(data):
    """One section of a few bytes: rANS, the last byte first."""
    ones, bits = sum(byte.bit_count() for byte in data), 8 * len(data)
    head = struct.pack("<II", len(data), ones)
    if ones in (0, bits):
        return head
    p = (ones << 32) // bits
    each = []
    for j in range(9):
        x = 1 << 60
        for by in [p] * j + [(1 << 32) - p] * (8 - j):
            x = (x * by) >> 32
        each.append(max(1, x >> 29))
    likeliest = 8 if 2 * ones > bits else 0
    order = sorted(range(256), key=lambda byte: (byte.bit_count(), byte))
    each[likeliest] = (1 << 31) - sum(each[byte.bit_count()] for byte in order if byte.bit_count() != likeliest)
    start, total = {}, 0
    for byte in order:
        start[byte], total = total, total + each[byte.bit_count()]
    assert total == 1 << 31
    state, words = 1 << 32, []
    for byte in reversed(data):
        f = each[byte.bit_count()]
        if state >= f << 33:
            words.append(state & 0xFFFFFFFF)
            state >>= 32
        state = (state // f << 31) + state % f + start[byte]
    return head + struct.pack("<Q", state) + b"".join(struct.pack("<I", word) for word in reversed(words))


def packed(header):
    return bytes(sum((header[8 * i + j] != 0) << j for j in range(8)) for i in range(32)) + bytes(byte for byte in header if byte)


def sent(what, body):
    return b"\x89TBZ\r\n\x1a\n\x01" + bytes([what]) + struct.pack("<QQ", len(body), xxhash.xxh3_64_intdigest(body)) + body


def compressed(file):
    return sent(1, packed(file[:256]) + coded(file[256:]))


def difference(old, new):
    """Bit by bit, of states of which the later one lacks no bit of the earlier one."""
    before = old[256:] + bytes(len(new) - len(old))
    places = [i for i in range(8 * len(before)) if not before[i // 8] >> i % 8 & 1]
    bits = [new[256 + i // 8] >> i % 8 & 1 for i in places]
    dense = bytes(sum(bit << j for j, bit in enumerate(bits[i : i + 8])) for i in range(0, len(bits), 8))
    lost = any(a & ~b & 255 for a, b in zip(before, new[256:]))
    ones = [i for i in range(8 * len(before)) if before[i // 8] >> i % 8 & 1]
    gone = [1 - (new[256 + i // 8] >> i % 8 & 1) for i in ones]
    gone = bytes(sum(bit << j for j, bit in enumerate(gone[i : i + 8])) for i in range(0, len(gone), 8))
    changed = bytes(a ^ b for a, b in zip(old[:256], new[:256]))
    return sent(2, old[248:256] + packed(changed) + coded(dense) + bytes([lost]) + (coded(gone) if lost else b""))


def sealed(header):
    """With the checksum of its first 248 bytes."""
    return bytes(header[:248]) + struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(header[:248])))


def pack(members):
    """Kind 9, of filters that share everything but their keys."""
    header = bytearray(members[0].encode()[:256])
    header[10:12] = struct.pack("<H", 9)
    header[16:20] = bytes(4)
    header[48:64] = bytes(16)
    header[104:120] = bytes(16)
    family = struct.unpack("<Q", sealed(header)[248:])[0]
    payload = b""
    for member in members:
        bits = bytes(member.payload)
        kept = struct.pack("<QQQQQQQ", member.offered, member.changed, member.merged, 0, 0, 0, xxhash.xxh3_64_intdigest(bits))
        payload += kept + struct.pack("<Q", xxhash.xxh3_64_intdigest(kept, seed=family)) + bits
    header[128:136] = struct.pack("<Q", len(members))
    header[104:120] = struct.pack("<QQ", len(payload), xxhash.xxh3_64_intdigest(payload))
    return sealed(header) + payload


P61 = (1 << 61) - 1


class Sketch:
    """A Count-Min sketch: family 1 full rows, 2 pairwise rows; two hashes if copies are given."""

    def __init__(self, width, depth, counter_bytes, family=1, copies=None, conservative=False):
        self.width, self.depth, self.counter_bytes, self.family, self.copies, self.conservative = width, depth, counter_bytes, family, copies, conservative
        self.counters, self.total, self.halved = [0] * (width * depth * (copies or 1)), 0, False

    def cells(self, h1, h2):
        if self.copies:
            drawn = list(islice(positions(h1, h2, self.width), 2 * self.copies))
            rows = [(a + j * b) % self.width for a, b in zip(drawn[::2], drawn[1::2]) for j in range(self.depth)]
        elif self.family == 1:
            rows = islice(positions(h1, h2, self.width), self.depth)
        else:
            number, mask = h2 << 64 | h1, (1 << 43) - 1
            digits = number & mask, number >> 43 & mask, number >> 86
            rows = []
            for row in range(self.depth):
                seed = SEED ^ row
                *coefficients, d = islice(positions(seed & MASK, seed >> 64, P61), 4)
                rows.append((sum(c * x for c, x in zip(coefficients, digits)) + d) % P61 % self.width)
        return [row * self.width + p for row, p in enumerate(rows)]

    def add(self, key, count):
        cells, most = self.cells(*xxh3(SEED, key)), 256**self.counter_bytes - 1
        raised = min(self.counters[c] for c in cells) + count
        for c in cells:
            self.counters[c] = min(most, max(self.counters[c], raised) if self.conservative else self.counters[c] + count)
        self.total += count

    def halve(self):
        self.counters, self.total, self.halved = [c // 2 for c in self.counters], (self.total + 1) // 2, True

    def encode(self, listed=None):
        payload = b"".join(c.to_bytes(self.counter_bytes, "little") for c in self.counters)
        payload += bytes(-len(payload) % 8)
        parameters = struct.pack("<IIII", self.copies or 1, self.counter_bytes, self.family, 0)
        if listed:
            section = b""
            for key, count in sorted(listed.items(), key=lambda item: (lambda h: h[1] << 64 | h[0])(xxh3(SEED, item[0]))):
                section += struct.pack("<QQQQ", count, 0, count, len(key)) + key + bytes(-len(key) % 8)
            parameters += struct.pack("<QQQQ", 50, len(listed), len(section), 0)
            payload += section
        header = b"\x89TBL\r\n\x1a\n"
        kind = 7 if self.copies else 6
        header += struct.pack("<HHHHIIQ", 1, kind, 13, 3, 2 * self.conservative + 4 * self.halved, self.depth, self.width)
        header += SEED.to_bytes(16, "little") + struct.pack("<Q", self.total) + bytes(40)
        header += struct.pack("<QQQ", 256, len(payload), xxhash.xxh3_64_intdigest(payload)) + parameters
        header += bytes(248 - len(header))
        return header + struct.pack("<Q", xxhash.xxh3_64_intdigest(header)) + payload


def sketches(folder):
    """Keys 0 to 39 as text, key i counted i + 1 times."""
    for name, sketch, halve in (
        ("full", Sketch(31, 3, 4), False),
        ("pairwise", Sketch(31, 3, 8, family=2), True),
        ("two-hash", Sketch(31, 3, 4, copies=2, conservative=True), False),
    ):
        for i in range(40):
            sketch.add(b"key %d" % i, i + 1)
        if halve:
            sketch.halve()
        (folder / f"v1-count-min-{name}.tbl").write_bytes(sketch.encode())
    heavy = Sketch(31, 3, 4)
    listed = {b"key %d" % i: i + 1 for i in range(40)}
    for key, count in listed.items():
        heavy.add(key, count)
    (folder / "v1-count-min-heavy.tbl").write_bytes(heavy.encode(listed))


def power(base, exponent):
    """By squaring, so that the last digit is the same everywhere."""
    product = 1.0
    while exponent:
        if exponent & 1:
            product *= base
        base *= base
        exponent >>= 1
    return product


class Recycling:
    """Kinds 3 and 4: phases as sets of positions."""

    def __init__(self, hasher, bits, probes, sigma, phases, classic=False, renewed=True, excluded=False, retaining=False, insertions=0, age=0, shared=False):
        self.shared = shared
        self.hasher, self.bits, self.probes, self.sigma, self.phases, self.classic = hasher, bits, probes, sigma, phases, classic
        self.renewed, self.excluded, self.retaining, self.insertions, self.age = renewed, excluded, retaining, insertions, age
        self.active, self.frozen, self.salt, self.frozen_salt = set(), set(), None, None
        self.offered = self.new = self.refreshed = self.cycles = self.by_fill = self.items = 0
        self.now = self.start = None
        self.odds = self.odds_of_cycle = 0.0
        self.renew()

    def renew(self):
        if self.renewed:
            constant = int.from_bytes(b"recycled", "little")
            self.salt = siphash13(SEED ^ (constant << 64 | constant), struct.pack("<Q", self.cycles))

    def positions(self, h1, h2, salt):
        if salt:
            h1, h2 = mix(h1 ^ salt[0]), mix(h2 ^ salt[1])
        if self.classic:
            return set(distinct_positions(h1, h2, self.bits, self.probes))
        return set(batched_positions(h1, h2, self.bits, self.probes))

    def rate(self, ones):
        if not self.classic:
            return power(ones / self.bits, self.probes)
        product = 1.0
        for i in range(self.probes):
            product *= max(ones - i, 0) / (self.bits - i)
        return product

    def is_full(self):
        return len(self.active) > self.sigma

    def rate_now(self):
        active = self.rate(len(self.active))
        if self.phases == 1:
            return active
        frozen = self.rate(len(self.frozen))
        if self.renewed:
            return active + frozen - active * frozen
        return active + frozen - self.rate(len(self.active & self.frozen))

    def advance(self, now):
        if self.now is None:
            self.now = self.start = now
        self.now = now
        overdue = (now - self.start) // self.age
        start = self.start + overdue * self.age
        for _ in range(min(overdue, 2)):
            self.turn()
        self.start = start

    def turn(self):
        self.cycles, self.items = self.cycles + 1, 0
        self.odds, self.odds_of_cycle = self.odds + self.odds_of_cycle, 0.0
        self.frozen, self.frozen_salt, self.active = self.active, self.salt, set()
        self.renew()
        if self.now is not None:
            self.start = self.now

    def offer(self, key):
        h1, h2 = HASHERS[self.hasher](SEED, key)
        self.offered += 1
        here = self.positions(h1, h2, self.salt)
        if here <= self.active:
            return
        rate, fresh = self.rate_now(), here - self.active
        if self.phases == 2 and self.positions(h1, h2, self.frozen_salt) <= self.frozen:
            self.refreshed += 1
        else:
            self.new += 1
            self.odds_of_cycle += rate / (1.0 - rate)
        self.active |= here
        self.items += 1
        full = self.is_full()
        if full or (self.insertions and self.items >= self.insertions):
            self.by_fill += full
            if self.excluded:
                self.active -= fresh
            self.turn()
            if self.retaining:
                self.active, self.items = self.positions(h1, h2, self.salt), 1

    def encode(self):
        payload = bytearray()
        for phase in (self.active, self.frozen)[: self.phases]:
            bits = bytearray((self.bits + 63) // 64 * 8)
            for p in phase:
                bits[p // 8] |= 1 << p % 8
            payload += bits
        flags = self.retaining * 2 | (not self.renewed) * 4 | self.excluded * 8 | (self.now is not None) * 16 | self.shared * 32
        offered, odds = (self.new + self.refreshed, (0.0, 0.0)) if self.shared else (self.offered, (self.odds, self.odds_of_cycle))
        header = b"\x89TBL\r\n\x1a\n"
        header += struct.pack("<HHHHIIQ", 1, 2 + self.phases, 2 if self.classic else 11, self.hasher, flags, self.probes, self.bits)
        header += SEED.to_bytes(16, "little")
        header += struct.pack("<QQ", offered, self.new) + bytes(32)
        header += struct.pack("<QQQ", 256, len(payload), xxhash.xxh3_64_intdigest(bytes(payload)))
        header += struct.pack("<QQQ", int(self.sigma), self.insertions, self.age)
        header += struct.pack("<QQQQ", self.cycles, self.by_fill, self.items, self.refreshed)
        header += struct.pack("<QQdd", self.now or 0, self.start or 0, *odds) + bytes(40)
        return header + struct.pack("<Q", xxhash.xxh3_64_intdigest(header)) + payload


class BlockedRecycling(Recycling):
    """Kind 8: one phase of lines, recycled when their mean rate exceeds sigma, with each line's rate rounded up in units of 2^-64."""

    def positions(self, h1, h2, salt):
        if salt:
            h1, h2 = mix(h1 ^ salt[0]), mix(h2 ^ salt[1])
        return set(blocked_positions(halves_and_words(h1, h2), self.bits, self.probes))

    def weight(self):
        ones = {}
        for p in self.active:
            ones[p // 512] = ones.get(p // 512, 0) + 1
        total = 0
        for count in ones.values():
            weight = 1 << 64
            for _ in range(self.probes):
                weight = -(-weight * count // 512)
            total += weight
        return total

    def rate_now(self):
        return self.weight() * 2.0**-64 / (self.bits // 512)

    def is_full(self):
        return self.weight() > int(Fraction(self.sigma) * (self.bits // 512) * 2**64)

    def encode(self):
        header = bytearray(super().encode()[:248])
        payload = super().encode()[256:]
        header[10:12], header[12:14] = struct.pack("<H", 8), struct.pack("<H", 12)
        header[120:128], header[208:216] = struct.pack("<d", self.sigma), struct.pack("<Q", 512)
        return bytes(header) + struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(header))) + payload


def recycling(folder):
    lines = BlockedRecycling(3, 1536, 5, 0.0075, 1, age=1_000_000_000)
    for second in range(3):
        lines.advance((7 + second) * 1_000_000_000)
        for key in keys(0, 160 + 40 * second):
            lines.offer(key)
    (folder / "v1-recycling-blocked.tbl").write_bytes(lines.encode())
    one = Recycling(3, 300, 4, 150, 1, retaining=True, age=1_000_000_000)
    for second in range(3):
        one.advance((7 + second) * 1_000_000_000)
        for key in keys(0, 80 + 40 * second):
            one.offer(key)
    (folder / "v1-recycling-one.tbl").write_bytes(one.encode())
    two = Recycling(2, 250, 5, 120, 2, classic=True, renewed=False, excluded=True, insertions=25)
    three = Recycling(3, 500, 6, 303, 2)
    four = Recycling(3, 500, 6, 303, 2, retaining=True, shared=True)
    for filter in (two, three, four):
        for key in [*keys(0, 60), *keys(30, 90), *keys(80, 130)]:
            filter.offer(key)
    (folder / "v1-recycling-two-classic.tbl").write_bytes(two.encode())
    (folder / "v1-recycling-two.tbl").write_bytes(three.encode())
    (folder / "v1-recycling-shared.tbl").write_bytes(four.encode())


def keys(start, end):
    """Texts, integers around 0, and byte strings at the borders of XXH3's branches."""
    yield from (b"key %d" % i for i in range(start, end))
    yield from (struct.pack("<q", i - 100) for i in range(start, end))
    yield from (bytes(range(256))[:n] for n in (0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 256))


def main(folder):
    for made, name, end in (Filter(3, 2401, 7, 250, (1, -2, 1)), "xxh3", 120), (Blocked(3, 5632, 10, 333, (1, -3, 1)), "blocked", 160):
        for key in keys(0, end):
            made.insert(key)
        (folder / f"v1-{name}.tbl").write_bytes(made.encode())
    for made, name in ((Blocked(3, 3584, 7), "blocked"),):
        for key in keys(0, 100):
            made.insert(key)
        (folder / f"v1-scheme-{name}.tbl").write_bytes(made.encode())
    grown = Scalable(3, 64, 3.933, (2, -2, 1), [(832, 9, 422), (1280, 9, 633), (3008, 9, 1455), (7104, 10, 3629)])
    for key in keys(0, 230):
        grown.insert(key)
    earlier = Scalable(3, 64, 3.933, (2, -2, 1), grown.planned)
    for key in keys(0, 100):
        earlier.insert(key)
    (folder / "v1-scalable.tbl").write_bytes(grown.encode())
    (folder / "v1-scalable.tbz").write_bytes(compressed(grown.encode()))
    (folder / "v1-scalable-difference.tbz").write_bytes(difference(earlier.encode(), grown.encode()))
    merged, other = Filter(2, 4097, 5), Filter(2, 4097, 5)
    for key in keys(0, 100):
        merged.insert(key)
    for key in keys(100, 200):
        other.insert(key)
    merged.union(other)
    (folder / "v1-siphash-merged.tbl").write_bytes(merged.encode())
    for made, name in (Filter, "pack"), (Blocked, "pack-blocked"):
        members = [made(3, 1024 + 512 * (name != "pack"), 7, 100, (1, -2, 1)) for _ in range(3)]
        for number, member in enumerate(members):
            for key in keys(30 * number, 30 * number + 20):
                member.insert(key)
        members[2].union(members[1])
        (folder / f"v1-{name}.tbl").write_bytes(pack(members))
    sketches(folder)
    (folder / "positions.txt").write_text("".join(f"{line}\n" for line in golden_positions()))
    recycling(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Sizes and measured rates of the Python libraries, as CSV."""

import hashlib
import os
import struct

from pybloom_live import BloomFilter
from rbloom import Bloom

FILTERS = 20


def blake(key):
    """A 128-bit hash. rbloom saves only filters with a hash function that the user gives."""
    return int.from_bytes(hashlib.blake2b(key, digest_size=16).digest(), "little", signed=True)


def rbloom_size(items, rate):
    bloom = Bloom(items, rate, blake)
    return bloom.size_in_bits, struct.unpack("<Q", bloom.save_bytes()[:8])[0]


def pybloom_size(items, rate):
    bloom = BloomFilter(items, rate)
    return bloom.num_bits, bloom.num_slices


LIBRARIES = [("rbloom", Bloom, rbloom_size), ("pybloom-live", BloomFilter, pybloom_size)]


def measure(name, make, size, items, rate, queries):
    hits = 0
    for _ in range(FILTERS):
        bloom = make(items, rate)
        for _ in range(items):
            bloom.add(os.urandom(16).hex())
        hits += sum(os.urandom(16).hex() in bloom for _ in range(queries // FILTERS))
    print(name, items, rate, *size(items, rate), queries, hits, sep=",")


print("library,items,rate,bits,probes,queries,hits")
for name, make, size in LIBRARIES:
    for items in [1, 2, 7, 33, 250, 4321, 1_000_000]:
        for rate in [0.5, 0.1, 0.03, 1e-3, 1e-4, 1e-9]:
            print(name, items, rate, *size(items, rate), 0, 0, sep=",")
    measure(name, make, size, 100, 1e-2, 400_000)
    measure(name, make, size, 1_000, 1e-2, 400_000)
    measure(name, make, size, 20_000, 1e-2, 400_000)

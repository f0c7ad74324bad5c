"""How keys.txt was made: the bytes of keys written down a second time, from docs/FORMAT.md ("Keys") and not from the Rust code.

Needs Python 3 alone; no test runs it. `python3 keys.py > keys.txt` writes the file anew.
"""
import ipaddress
import uuid


def number(n):
    """Up to 64 bits, sign-extended."""
    return (n % 2**64).to_bytes(8, "little")


def wide(n):
    return (n % 2**128).to_bytes(16, "little")


def part(key):
    """Within another key: a string of bytes after its length."""
    return number(len(key.string)) + key.string if isinstance(key, Bytes) else key


class Bytes:
    def __init__(self, string):
        self.string = string.encode() if isinstance(string, str) else string


def fields(*keys):
    """Of one field: that field."""
    return keys[0] if len(keys) == 1 else b"".join(part(key) for key in keys)


def sequence(keys):
    return number(len(keys)) + b"".join(part(key) for key in keys)


def variant(discriminant, *keys):
    return number(discriminant) + b"".join(part(key) for key in keys)


def option(key=None):
    return variant(0) if key is None else variant(1, key)


def ip(text):
    address = ipaddress.ip_address(text)
    return number(int(address)) if address.version == 4 else wide(int(address))


def any_ip(text):
    return variant(ipaddress.ip_address(text).version, ip(text))


LONG = Bytes("0123456789" * 30)
KEYS = {
    "u8 5": number(5),
    "i16 -2": number(-2),
    "usize max32": number(2**32 - 1),
    "isize -1": number(-1),
    "u64 max": number(2**64 - 1),
    "u128 2^64": wide(2**64),
    "i128 -1": wide(-1),
    "bool true": number(1),
    "char e-acute": number(0xE9),
    "nonzero 7": number(7),
    "str": Bytes("caf\u00e9"),
    "empty str": Bytes(""),
    "byte array": Bytes(bytes([1, 2, 3])),
    "one-tuple of a str": fields(Bytes("a")),
    "pair": fields(number(1), number(2)),
    "pair of str ab, c": fields(Bytes("ab"), Bytes("c")),
    "pair of str a, bc": fields(Bytes("a"), Bytes("bc")),
    "nested pair": fields(fields(number(1), Bytes("x")), wide(3)),
    "array of u16": sequence([number(1), number(2), number(3)]),
    "empty vec of u16": sequence([]),
    "vec of str": sequence([Bytes("a"), Bytes("")]),
    "none of u64": option(),
    "some of u64": option(number(9)),
    "some of str": option(Bytes("s")),
    "ipv4": ip("192.0.2.1"),
    "ipv6": ip("2001:db8::1"),
    "any ipv4": any_ip("192.0.2.1"),
    "any ipv6": any_ip("2001:db8::1"),
    "socket v4": fields(ip("192.0.2.1"), number(443)),
    "any socket v4": variant(4, fields(ip("192.0.2.1"), number(443))),
    "any socket v6": variant(6, fields(ip("2001:db8::1"), number(443), number(5), number(7))),
    "duration": fields(number(90), number(250_000_000)),
    "uuid": Bytes(uuid.UUID("67e55044-10b1-426f-9247-bb680e5fe0c8").bytes),
    "long pair": fields(LONG, number(1)),
    "long sequence": sequence([number(i) for i in range(100)]),
    "derived newtype": fields(Bytes("https://example.org")),
    "derived struct": fields(number(12), Bytes("eu"), option(number(3))),
    "derived unit": fields(number(0), number(0))[:0],
    "derived plain enum": number(7),
    "derived next discriminant": number(8),
    "derived negative discriminant": number(-3),
    "derived variant": variant(1, number(4), Bytes("y")),
    "derived skipped": number(5),
}

for name, key in KEYS.items():
    print(f"{name}\t{(key.string if isinstance(key, Bytes) else key).hex()}")

"""What rbloom needs for a filter that other processes can read: a hash in Python, as its documentation shows it."""

from hashlib import sha256


def hash_of(key: str) -> int:
    """A signed integer of 128 bits."""
    return int.from_bytes(sha256(key.encode()).digest()[:16], "big", signed=True)

#!/usr/bin/env python3
"""Server CPU a command and items a second, and memory a key, on the servers that `test.sh` has unpacked.

    crates/redis/bench.py [redis|valkey] [KEYS] [ROUNDS]

CPU seconds are those of the server's threads, user and system, to the nanosecond, read before and after; the client does not count. The lines are measured in turns, each round with new filters, and
the least of a line is shown. Trust ratios within one run."""
import os
import random
import socket
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
os.environ.setdefault("TRUEBLOOM_MODULE", str(ROOT / "target/redis/cargo/release/libtruebloom_redis.so"))
os.environ.setdefault("TRUEBLOOM_COMMAND", "")  # none is used here
os.environ.setdefault("TRUEBLOOM_SERVERS", str(ROOT / "target/redis/servers"))
sys.path.insert(0, str(HERE / "tests"))

from conftest import Server, call  # noqa: E402


def cpu(server):
    """CPU seconds of the server."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{server.process.pid}/task").glob("*/schedstat")) / 1e9


def encode(*words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def count_replies(data):
    return data.count(b"\r\n")


def run(server, make, commands, lines_a_reply=1, clients=16, together=16):
    """Microseconds of the server's CPU a command: `clients` connections, each with `together` commands in flight, as many clients have them."""
    sockets = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(clients)]
    prepared = [b"".join(make(number) for number in range(together)) for _ in range(commands // together)]
    before = cpu(server)
    for first in range(0, len(prepared), clients):
        some = list(zip(sockets, prepared[first : first + clients]))
        for link, command in some:
            link.sendall(command)
        for link, _ in some:
            left = lines_a_reply * together
            while left > 0:
                left -= count_replies(link.recv(1 << 20))
    used = cpu(server) - before
    for link in sockets:
        link.close()
    return 1e6 * used / commands


def main():
    engine = sys.argv[1] if len(sys.argv) > 1 else "redis"
    keys = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with tempfile.TemporaryDirectory() as folder:
        server = Server(engine, folder).start()
        try:
            measure(server, server.client(), rounds)
            memory(server.client(), keys)
        finally:
            server.end()


def measure(server, client, rounds):
    client.config_set("bf.bloom-memory-usage-limit", "0")
    least = {}
    for number in range(rounds):
        client.flushall()
        for name, items, micros in one_round(server, client, number):
            least[name] = min(least.get(name, (items, micros)), (items, micros))
    ping = least["PING"][1]
    print(f"{'command':<28}{'us of CPU':>12}{'PINGs':>8}{'items/CPU s':>14}")
    for name, (items, micros) in least.items():
        print(f"{name:<28}{micros:>12.2f}{micros / ping:>8.1f}{1e6 * items / micros:>14,.0f}")


def one_round(server, client, number):
    chance = random.Random(number)
    key = lambda: b"%012d" % chance.randrange(10_000_000)
    call(client, "BF.RESERVE", "f", "0.01", "10000000", "NONSCALING")
    call(client, "BF.RESERVE", "g", "0.01", "100000")
    call(client, "BF.RESERVE", "h", "0.01", "10000000")
    for start in range(0, 1_000_000, 10_000):
        for name in "fh":
            call(client, "BF.MADD", name, *(b"%012d" % number for number in range(start, start + 10_000)))
    lines = [
        ("PING", lambda _: encode("PING"), 1, 1),
        ("GET", lambda _: encode("GET", "x"), 1, 1),
        ("SET", lambda _: encode("SET", "x", "value"), 1, 1),
        ("BF.EXISTS, 10M fixed", lambda _: encode("BF.EXISTS", "f", key()), 1, 1),
        ("BF.ADD, 10M fixed", lambda _: encode("BF.ADD", "f", key()), 1, 1),
        ("BF.ADD, growing", lambda _: encode("BF.ADD", "g", key()), 1, 1),
        ("BF.MADD of 10, 10M fixed", lambda _: encode("BF.MADD", "f", *(key() for _ in range(10))), 10, 11),
        ("BF.MADD of 10, 10M growing", lambda _: encode("BF.MADD", "h", *(key() for _ in range(10))), 10, 11),
        ("BF.MEXISTS of 10", lambda _: encode("BF.MEXISTS", "f", *(key() for _ in range(10))), 10, 11),
        ("BF.MEXISTS of 100", lambda _: encode("BF.MEXISTS", "f", *(key() for _ in range(100))), 100, 101),
        ("BF.MADD of 100", lambda _: encode("BF.MADD", "f", *(key() for _ in range(100))), 100, 101),
    ]
    for name, make, items, replies in lines:
        # GET of what is not there yet is one line; of a value two.
        commands = 480_000 if items == 1 else 1_000_000 // items
        yield name, items, run(server, make, commands, replies)


def memory(client, keys):
    for options in [(), ("NONSCALING",)]:
        client.flushall()
        before = client.info("memory")["used_memory"]
        for start in range(0, keys, 10_000):
            with client.pipeline(transaction=False) as pipe:
                for number in range(start, min(start + 10_000, keys)):
                    pipe.execute_command("BF.RESERVE", f"f:{number}", "0.01", "100", *options)
                pipe.execute()
        each = (client.info("memory")["used_memory"] - before) / keys
        bits = call(client, "BF.INFO", "f:0", "BITS")[0]
        name = "fixed" if options else "growing"
        print(f"{keys:,} {name} filters of 100 items at 1%: {each:.1f} bytes a key, of which {bits / 8:.1f} are bits (limit {1.3 * bits / 8 + 128:.1f})")
    client.flushall()
    before = client.info("memory")["used_memory"]
    call(client, "BF.RESERVE", "f", "0.01", "100000000", "NONSCALING")
    taken, bits = client.info("memory")["used_memory"] - before, call(client, "BF.INFO", "f", "BITS")[0]
    print(f"one of 100 million: {taken:,} bytes, of which {bits // 8:,} are bits")


main()

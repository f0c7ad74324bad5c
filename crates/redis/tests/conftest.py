"""Servers on loopback, one a test or a file, ended by their process ids."""
import os
import random
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

MODULE = os.environ["TRUEBLOOM_MODULE"]
SERVERS = Path(os.environ["TRUEBLOOM_SERVERS"])
ENGINES = os.environ.get("TRUEBLOOM_ENGINES", "redis valkey").split()
# A frozen seed, so that a failure can be made again; another one is given in the environment.
SEED = int(os.environ.get("TRUEBLOOM_SEED", "20261122"))


COMMAND = os.environ["TRUEBLOOM_COMMAND"]


def command(*words, **options):
    """What the command prints."""
    return subprocess.run([COMMAND, *map(str, words)], check=True, capture_output=True, **options).stdout


def free_port():
    # A cluster's own port is 10,000 higher.
    while True:
        port = random.randint(20000, 45000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Server:
    """A server with the module. `options` are those of its command line."""

    def __init__(self, engine, folder, options=(), arguments=(), port=None, name="server"):
        self.engine, self.folder, self.options, self.arguments = engine, Path(folder), list(options), list(arguments)
        self.port = port or free_port()
        self.log = self.folder / f"{name}-{self.port}.log"
        self.process = None
        self.clients = []

    def start(self, expect=True):
        libraries = SERVERS / "usr/lib/x86_64-linux-gnu"
        environment = dict(os.environ, LD_LIBRARY_PATH=str(libraries))
        command = [
            SERVERS / f"usr/bin/{self.engine}-server",
            "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder), "--save", "", "--daemonize", "no",
            "--enable-debug-command", "yes", *self.options, "--loadmodule", MODULE, *self.arguments,
        ]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, env=environment)
        if expect:
            self.wait()
        return self

    def wait(self, seconds=60):
        client = self.client()
        for _ in range(seconds * 50):
            try:
                client.ping()
                return
            except redis.exceptions.BusyLoadingError:
                pass
            except redis.exceptions.ConnectionError:
                if self.process.poll() is not None:
                    break
            time.sleep(0.02)
        raise AssertionError(f"{self.engine} does not answer:\n{self.log.read_text()[-3000:]}")

    def client(self, protocol=2, **options):
        client = redis.Redis(port=self.port, protocol=protocol, retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0), socket_timeout=300, **options)
        self.clients.append(client)
        return client

    def end(self):
        """SIGTERM, and waits."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for client in self.clients:
            client.close()
        self.clients.clear()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.end()
        return self.start()

    def crashed(self):
        text = self.log.read_text(errors="replace")
        return "BUG REPORT" in text or "panicked" in text


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


@pytest.fixture
def make(engine, tmp_path):
    """Makes servers of this engine, and ends them."""
    made = []

    def start(*options, arguments=(), name=None, expect=True, port=None):
        folder = tmp_path / (name or f"s{len(made)}")
        folder.mkdir(exist_ok=True)
        server = Server(engine, folder, options, arguments, port=port)
        made.append(server)
        return server.start(expect)

    yield start
    for server in made:
        server.end()
        assert not server.crashed(), server.log.read_text(errors="replace")[-5000:]


@contextmanager
def shared(engine, folder):
    server = Server(engine, folder).start()
    try:
        yield server
    finally:
        server.end()
        assert not server.crashed(), server.log.read_text(errors="replace")[-5000:]


@pytest.fixture(scope="module", params=ENGINES)
def server(request, tmp_path_factory):
    """One server for the tests of a file that need no options."""
    with shared(request.param, tmp_path_factory.mktemp(request.param)) as server:
        yield server


@pytest.fixture
def client(server):
    client = server.client()
    client.flushall()
    return client


def call(client, *words):
    """The reply as the protocol has it, without what the client makes of it; an error is returned."""
    connection = client.connection_pool.get_connection()
    try:
        connection.send_command(*words)
        try:
            return connection.read_response()
        except redis.exceptions.ResponseError as error:
            return error
    finally:
        client.connection_pool.release(connection)


def digest(client):
    return call(client, "DEBUG", "DIGEST")


def until(condition, seconds=60, what="the condition"):
    for _ in range(seconds * 50):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f"{what} does not come about in {seconds} s")

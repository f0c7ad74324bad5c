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


# A server may have a second port: that of its cluster is always so much higher, and so is the one
# for TLS that an option with this word asks for.
SECOND, HIGHER = "SECOND_PORT", 10_000


def free_port():
    """A port that was free just now, with the second one. Both are below the ports that systems give
    to outgoing connections, from 32768 on."""
    while True:
        port = random.SystemRandom().randint(11_000, 22_000)
        try:
            for each in (port, port + HIGHER):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", each))
            return port
        except OSError:
            continue


class Server:
    """A server with the module, unless that is None. `options` are those of its command line."""

    def __init__(self, engine, folder, options=(), arguments=(), name="server", module=MODULE):
        self.engine, self.folder, self.options, self.arguments = engine, Path(folder), list(options), list(arguments)
        self.module = module
        self.port = None
        self.log = self.folder / f"{name}.log"
        self.begun = 0
        self.process = None
        self.clients = []

    @property
    def second(self):
        return self.port + HIGHER

    def start(self, expect=True):
        """Another process may take the port before the server does. Then the server ends, and the
        next port is tried; a server that is started again waits for its own."""
        has_port = self.port is not None
        for _ in range(100):
            if not has_port:
                self.port = free_port()
            self.launch()
            if not expect or self.answers():
                return self
            assert "Address already in use" in self.said(), f"{self.engine} does not answer:\n{self.said()[-3000:]}"
            if has_port:
                time.sleep(0.1)
        raise AssertionError(f"{self.engine} finds no port:\n{self.said()[-3000:]}")

    def launch(self):
        libraries = SERVERS / "usr/lib/x86_64-linux-gnu"
        environment = dict(os.environ, LD_LIBRARY_PATH=str(libraries))
        options = [str(self.second) if option == SECOND else option for option in self.options]
        module = ["--loadmodule", self.module, *self.arguments] if self.module else []
        command = [
            SERVERS / f"usr/bin/{self.engine}-server",
            "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder), "--save", "", "--daemonize", "no",
            "--enable-debug-command", "yes", *options, *module,
        ]
        with open(self.log, "ab") as log:
            self.begun = log.tell()
            self.process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, env=environment)

    def said(self):
        """What the server has logged since it was launched."""
        return self.log.read_bytes()[self.begun:].decode(errors="replace")

    def answers(self, seconds=60):
        """Waits until this server answers, not another one at its port; False if it ends before."""
        # Something else at the port may accept connections, and say nothing.
        client = self.client(socket_timeout=1)
        for _ in range(seconds * 50):
            if self.process.poll() is not None:
                return False
            try:
                if client.ping() and client.info("server")["process_id"] == self.process.pid:
                    return True
            except (redis.exceptions.BusyLoadingError, redis.exceptions.ConnectionError, redis.exceptions.TimeoutError):
                pass
            time.sleep(0.02)
        return False

    def client(self, protocol=2, socket_timeout=300, **options):
        client = redis.Redis(port=self.port, protocol=protocol, retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0), socket_timeout=socket_timeout, **options)
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

    def start(*options, arguments=(), name=None, expect=True, module=MODULE):
        folder = tmp_path / (name or f"s{len(made)}")
        folder.mkdir(exist_ok=True)
        server = Server(engine, folder, options, arguments, module=module)
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

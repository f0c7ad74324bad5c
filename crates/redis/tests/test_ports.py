"""Ports: a server whose port is taken gets another one."""
import socket

import conftest
import pytest


@pytest.fixture
def offered(monkeypatch):
    """The ports that are offered first."""
    ports, free = [], conftest.free_port
    monkeypatch.setattr(conftest, "free_port", lambda: ports.pop() if ports else free())
    return ports


def test_a_port_that_something_else_has_is_left(make, offered):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        offered.append(other.getsockname()[1])
        server = make()
        assert not offered and server.port != other.getsockname()[1]
        assert server.client().ping()


def test_a_server_that_answers_at_the_same_port_is_not_taken_for_ours(make, offered):
    first = make()
    offered.append(first.port)
    second = make()
    assert not offered and second.port != first.port
    assert second.client().info("server")["process_id"] == second.process.pid
    first.restart()
    assert first.client().info("server")["process_id"] == first.process.pid


def test_a_second_port_that_is_taken_is_left(make, offered):
    taken = conftest.free_port()
    with socket.socket() as other:
        other.bind(("127.0.0.1", taken + conftest.HIGHER))
        other.listen()
        offered.append(taken)
        server = make("--cluster-enabled", "yes")
        assert not offered and server.port != taken

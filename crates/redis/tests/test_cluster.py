"""A cluster of three: keys where they belong, a live reshard while clients write, and no acknowledged item lost."""
import threading
import time

import pytest
import redis
from redis.cluster import RedisCluster, ClusterNode

from conftest import call, until


@pytest.fixture
def nodes(make):
    options = ("--cluster-enabled", "yes", "--cluster-node-timeout", "5000")
    nodes = [make(*options, name=f"node{number}") for number in range(3)]
    clients = [node.client() for node in nodes]
    starts = [0, 5461, 10923, 16384]
    for number, client in enumerate(clients):
        call(client, "CLUSTER", "ADDSLOTSRANGE", starts[number], starts[number + 1] - 1)
        call(client, "CLUSTER", "SET-CONFIG-EPOCH", number + 1)
    for client in clients[1:]:
        call(client, "CLUSTER", "MEET", "127.0.0.1", nodes[0].port)

    def ready():
        states = [call(client, "CLUSTER", "INFO") for client in clients]
        return all(b"cluster_state:ok" in state and b"cluster_known_nodes:3" in state for state in states)

    until(ready, what="the cluster")
    return list(zip(nodes, clients))


def move(slot, source, target):
    (source_node, source_client), (target_node, target_client) = source, target
    source_id, target_id = (call(client, "CLUSTER", "MYID") for client in (source_client, target_client))
    call(target_client, "CLUSTER", "SETSLOT", slot, "IMPORTING", source_id)
    call(source_client, "CLUSTER", "SETSLOT", slot, "MIGRATING", target_id)
    while keys := call(source_client, "CLUSTER", "GETKEYSINSLOT", slot, 100):
        moved = call(source_client, "MIGRATE", "127.0.0.1", target_node.port, "", 0, 5000, "KEYS", *keys)
        assert moved in (b"OK", b"NOKEY"), moved
    for client in (target_client, source_client):
        assert call(client, "CLUSTER", "SETSLOT", slot, "NODE", target_id) == b"OK"


def test_a_live_reshard_loses_nothing(nodes):
    names = [f"f{number}" for number in range(300)]
    acknowledged = {name: [] for name in names}
    stop, problems = threading.Event(), []

    def write(part):
        client = RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", node.port) for node, _ in nodes])
        number = 0
        while not stop.is_set():
            for name in names[part::2]:
                items = [f"{name}-{number}-{i}" for i in range(5)]
                try:
                    client.execute_command("BF.MADD", name, *items)
                    acknowledged[name] += items
                except redis.exceptions.RedisError as error:
                    # Not acknowledged; a slot that moves asks to try again.
                    if not isinstance(error, (redis.exceptions.TryAgainError, redis.exceptions.ClusterError, redis.exceptions.MovedError, redis.exceptions.AskError)):
                        problems.append(error)
            number += 1
        client.close()

    threads = [threading.Thread(target=write, args=(part,)) for part in range(2)]
    [thread.start() for thread in threads]
    time.sleep(0.5)
    used = sorted({call(nodes[0][1], "CLUSTER", "KEYSLOT", name) for name in names})
    for slot in [slot for slot in used if slot <= 5460] + list(range(5000, 5461)):
        if slot in used or slot % 4 == 0:
            move(slot, nodes[0], nodes[1])
    time.sleep(0.5)
    stop.set()
    [thread.join() for thread in threads]
    assert not problems, problems[:3]
    client = RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", nodes[1][0].port)])
    assert sum(map(len, acknowledged.values())) > 3000
    for name, items in acknowledged.items():
        for start in range(0, len(items), 1000):
            assert all(client.execute_command("BF.MEXISTS", name, *items[start : start + 1000])), name
    assert not any(call(nodes[0][1], "CLUSTER", "COUNTKEYSINSLOT", slot) for slot in used if slot <= 5460)
    client.close()


def test_keys_of_merges_are_seen_by_the_cluster(nodes):
    client = nodes[0][1]
    assert call(client, "COMMAND", "GETKEYS", "CMS.MERGE", "a", "2", "b", "c", "WEIGHTS", "1", "2") == [b"a", b"b", b"c"]
    assert call(client, "COMMAND", "GETKEYS", "BF.MERGE", "a", "b", "c") == [b"a", b"b", b"c"]
    assert call(client, "COMMAND", "GETKEYS", "BF.MADD", "a", "b", "c") == [b"a"]
    for words in [("BF.MERGE", "a", "b"), ("CMS.MERGE", "a", "2", "b", "c"), ("CMS.MERGE", "a", "1", "b")]:
        assert isinstance(call(client, *words), redis.exceptions.ClusterCrossSlotError), words

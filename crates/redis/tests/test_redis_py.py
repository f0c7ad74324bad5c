"""The calls of redis-py's `bf()` and `cms()`, in both protocols: what a client that knows RedisBloom does here."""
import pytest
import redis

from conftest import call


@pytest.fixture(params=[2, 3])
def client(server, request):
    client = server.client(protocol=request.param, decode_responses=True)
    client.flushall()
    return client


def test_create_and_add(client):
    bf = client.bf()
    assert bf.create("bloom", 0.01, 1000)
    assert bf.create("expanding", 0.01, 1000, expansion=1)
    assert bf.create("fixed", 0.01, 1000, noScale=True)
    assert bf.add("bloom", "foo") == 1
    assert bf.add("bloom", "foo") == 0
    assert list(bf.madd("bloom", "foo", "bar")) == [0, 1]
    assert bf.exists("bloom", "foo") == 1
    assert list(bf.mexists("bloom", "foo", "noexist")) == [1, 0]
    assert bf.card("bloom") == 2


def test_insert(client):
    bf = client.bf()
    assert list(bf.insert("captest", ["foo"], capacity=1000)) == [1]
    assert list(bf.insert("errtest", ["foo"], error=0.01)) == [1]
    assert list(bf.insert("noscale", ["foo"], noScale=True)) == [1]
    assert list(bf.insert("expansion", ["foo", "bar"], expansion=3)) == [1, 1]
    with pytest.raises(redis.ResponseError):
        bf.insert("nothing", ["foo"], noCreate=True)
    assert bf.exists("captest", "foo")


def test_info(client):
    bf = client.bf()
    bf.create("nonscaling", "0.0001", "1000", noScale=True)
    bf.create("expanding", "0.0001", "1000", expansion=4)
    fixed, grows = bf.info("nonscaling"), bf.info("expanding")
    if isinstance(fixed, dict):
        # A map of RESP3 is left as it is.
        assert fixed["Expansion rate"] is None and fixed["Capacity"] == 1000 and fixed["Number of items inserted"] == 0
        assert grows["Expansion rate"] == 4 and grows["Number of filters"] == 1 and grows["Size"] > 1000
    else:
        assert fixed.expansionRate is None and fixed.capacity == 1000 and fixed.insertedNum == 0
        assert grows.expansionRate == 4 and grows.filterNum == 1 and grows.size > 1000
    with pytest.raises(redis.ResponseError):
        bf.create("both", "0.0001", "1000", expansion=2, noScale=True)


def test_scandump_and_loadchunk(server):
    # Chunks are bytes.
    client = server.client()
    client.flushall()
    bf = client.bf()
    for capacity, layers in (("1000", 1), ("10000000", 1)):
        bf.create("source", "0.0001", capacity)
        bf.madd("source", *range(1000))
        chunks, iterator = [], 0
        while True:
            iterator, chunk = bf.scandump("source", iterator)
            if iterator == 0:
                break
            chunks.append((iterator, chunk))
        assert chunks[0][0] == 1
        before = client.execute_command("BF.DEBUG", "source"), client.execute_command("BF.DUMP", "source")
        client.delete("source")
        for iterator, chunk in chunks:
            assert bf.loadchunk("source", iterator, chunk)
        assert (client.execute_command("BF.DEBUG", "source"), client.execute_command("BF.DUMP", "source")) == before
        assert all(bf.mexists("source", *range(1000)))
        client.delete("source")
        assert len(chunks) >= 1 + layers


def test_chunks_are_cut_at_16_mib(server):
    client = server.client()
    client.flushall()
    call(client, "BF.RESERVE", "f", "0.0001", "10000000", "NONSCALING")
    call(client, "BF.MADD", "f", *range(5000))
    iterator, sizes = 0, []
    while True:
        iterator, chunk = call(client, "BF.SCANDUMP", "f", iterator)
        if iterator == 0:
            break
        sizes.append(len(chunk))
        call(client, "BF.LOADCHUNK", "g", iterator, chunk)
        if 1 < iterator < 3:
            # Half of it is no filter, but is kept like one.
            assert "is incomplete" in str(call(client, "BF.ADD", "g", "x"))
            call(client, "DEBUG", "RELOAD")
    assert sizes[0] == 16 and sizes[1] == 16 << 20 and len(sizes) == 3
    assert call(client, "DEBUG", "DIGEST-VALUE", "f") == call(client, "DEBUG", "DIGEST-VALUE", "g")


def test_sketches(client):
    cms = client.cms()
    assert cms.initbydim("dim", 1000, 5)
    assert cms.initbyprob("prob", 0.01, 0.01)
    assert list(cms.incrby("dim", ["foo"], [5])) == [5]
    assert list(cms.query("dim", "foo", "bar")) == [5, 0]
    info = cms.info("dim")
    if not isinstance(info, dict):
        info = {"width": info.width, "depth": info.depth, "count": info.count}
    assert info == {"width": 1000, "depth": 5, "count": 5}


def test_merge_of_sketches(client):
    cms = client.cms()
    for name in "ABC":
        assert cms.initbydim(name, 1000, 5)
    assert cms.incrby("A", ["foo", "bar", "baz"], [5, 3, 9])
    assert cms.incrby("B", ["foo", "bar", "baz"], [2, 3, 1])
    assert cms.merge("C", 2, ["A", "B"])
    assert list(cms.query("C", "foo", "bar", "baz")) == [7, 6, 10]
    assert cms.merge("C", 2, ["A", "B"], ["1", "2"])
    assert list(cms.query("C", "foo", "bar", "baz")) == [9, 9, 11]
    assert cms.merge("C", 2, ["A", "B"], ["2", "3"])
    assert list(cms.query("C", "foo", "bar", "baz")) == [16, 15, 21]


def test_pipelines(client):
    with client.pipeline(transaction=False) as pipe:
        for item in range(100):
            pipe.bf().add("f", item)
        assert sum(map(int, pipe.execute())) >= 99
    assert client.bf().card("f") >= 99

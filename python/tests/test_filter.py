"""The filter as a set, its numbers, and what can go wrong."""

import copy
import importlib.metadata
import pickle
import re
import signal
import sys
import threading
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import truebloom
from binomial import ALPHA, p_value
from truebloom import BloomFilter, CountMin, HeavyHitters, MergeError, PlanError, RecyclingFilter, ScalableFilter, plan


def test_it_is_a_set():
    f = BloomFilter(1000, 0.01, seed=1)
    assert f.is_empty and f.add("a") is True and f.add("a") is False and "a" in f and "b" not in f
    g = f.to_empty()
    g.update(["b", "c"])
    union = f | g
    assert all(key in union for key in "abc") and "b" not in f and union.is_merged
    f |= g
    assert f == union
    h = union & g
    assert "b" in h and "a" not in h
    union &= g
    assert union == h and union.estimated_items().value is None
    f.clear()
    assert f.is_empty and f == f.to_empty() and f != g
    with pytest.raises(TypeError):
        len(f)
    with pytest.raises(TypeError):
        hash(f)
    with pytest.raises(TypeError):
        f | {"a"}
    assert (f == 5) is False


def test_a_filter_with_itself():
    f = BloomFilter(1000, 0.01, seed=1)
    f.update(range(500))
    before = f.to_bytes()
    assert f == f and (f | f) == f and (f & f) == f
    f |= f
    f &= f
    assert BloomFilter.from_bytes(before) == f


def test_copies_are_apart():
    f = BloomFilter(1000, 0.01, seed=1)
    f.update(range(100))
    for other in (f.copy(), copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f)), BloomFilter.from_bytes(memoryview(f.to_bytes()))):
        assert other == f and other.offered == 100
        other.add("more")
        assert other != f and "more" not in f


def test_the_version_is_that_of_the_package():
    assert truebloom.__version__ == importlib.metadata.version("truebloom")


@pytest.mark.parametrize("rate", [0.01, "1%", "0.01", "1/100", Decimal("0.01"), Fraction(1, 100), np.float64(0.01), 1e-2])
def test_rates_as_people_write_them(rate):
    assert BloomFilter(1000, rate, seed=1) == BloomFilter(1e3, 0.01, seed="1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, 0.01), "items is 0"),
        ((-3, 0.01), "items is -3"),
        ((1.5, 0.01), "items is 1.5"),
        (("1000", 0.01), "items is '1000'"),
        ((True, 0.01), "items is True"),
        ((float("nan"), 0.01), "items is nan"),
        ((2**64, 0.01), "items is 18446744073709551616"),
        ((1000, 0), "is not a rate"),
        ((1000, 1), "is not a rate"),
        ((1000, 2.0), "is not a rate"),
        ((1000, "x"), "is not a rate"),
        ((1000, None), "is not a rate"),
        ((1000, float("nan")), "is not a rate"),
        ((1000, []), "is not a rate"),
        ((1000, 1e-60), "collisions of 128-bit hashes"),
    ],
)
def test_numbers_that_no_filter_has(arguments, words):
    with pytest.raises(PlanError, match=words) as error:
        BloomFilter(*arguments)
    assert isinstance(error.value, ValueError) and isinstance(error.value, truebloom.Error)


def test_errors_carry_their_numbers():
    with pytest.raises(PlanError) as error:
        plan(0, 0.01)
    assert (error.value.name, error.value.found, error.value.expected) == ("items", "0", "at least 1")
    with pytest.raises(MergeError) as error:
        BloomFilter(1000, 0.01, seed=1) | BloomFilter(2000, 0.01, seed=1)
    assert error.value.field == "bits" and error.value.ours < error.value.theirs
    again = pickle.loads(pickle.dumps(error.value))
    assert str(again) == str(error.value) and again.field == "bits"
    with pytest.raises(MergeError) as error:
        BloomFilter(1000, 0.01, seed=123456789) | BloomFilter(1000, 0.01, seed=987654321)
    assert error.value.field == "seed" and "123456789" not in str(error.value), "seeds are secrets"
    with pytest.raises(truebloom.OutOfMemoryError) as error:
        BloomFilter(10**15, 0.001)
    assert isinstance(error.value, MemoryError) and error.value.bytes > 10**14
    with pytest.raises(PlanError, match="seed"):
        BloomFilter(10, 0.1, seed=2**128)
    with pytest.raises(PlanError, match="not a seed"):
        BloomFilter(10, 0.1, seed="xyz")
    with pytest.raises(PlanError, match="layout"):
        BloomFilter(10, 0.1, layout="round")
    # The names that the command and the crate have for the two.
    assert plan(1000, 0.01, layout="standard") == plan(1000, 0.01) and plan(1000, 0.01, layout="blocked") == plan(1000, 0.01, layout="lines")
    with pytest.raises(PlanError, match="exclude each other"):
        BloomFilter(10, 0.1, mean=True, confidence=0.9)


RUST_WORDS = re.compile(r"::|`[A-Z]\w+`|\bhash_bits\b|AnyScheme|InPlace|encoded_bytes")


def test_no_rust_names_in_messages(golden, tmp_path):
    """Every message that a user can get by arguments and files, as far as we could think of them."""
    damaged = bytearray(BloomFilter(100, 0.01).to_bytes())
    damaged[-1] ^= 1
    (tmp_path / "text.tbl").write_text("not a filter")
    calls = [
        lambda: BloomFilter(1000, 0.01, scheme="double"),
        lambda: BloomFilter(1000, 0.01, scheme="none"),
        lambda: BloomFilter(1000, 1e-12, scheme="double", mean=True),
        lambda: BloomFilter.with_size(100, 0),
        lambda: BloomFilter.with_size(100, 5, scheme="blocked"),
        lambda: BloomFilter.with_size(512, 65, scheme="blocked"),
        lambda: BloomFilter.with_size(100, 7, scheme="partitioned"),
        lambda: BloomFilter.with_size(2**63, 7),
        lambda: plan(1000),
        lambda: plan(1000, 1e-9, bits=1000),
        lambda: plan(1000, 1e-9, max_bits=1000),
        lambda: ScalableFilter(1e-30),
        lambda: RecyclingFilter(0, 0.01),
        lambda: RecyclingFilter(10**18, 1e-200),
        lambda: CountMin(1e-12, 0.01),
        lambda: HeavyHitters(1e-12),
        lambda: BloomFilter.from_bytes(bytes(damaged)),
        lambda: BloomFilter.from_bytes(bytes(damaged[:100])),
        lambda: BloomFilter.from_bytes(b""),
        lambda: BloomFilter.open(tmp_path / "text.tbl"),
        lambda: BloomFilter.open(tmp_path),
        lambda: BloomFilter.open(tmp_path / "none"),
        lambda: ScalableFilter.from_bytes(BloomFilter(10, 0.1).to_bytes()),
        lambda: BloomFilter(10, 0.1) | ScalableFilter(0.1),
        lambda: ScalableFilter(0.1, seed=1) & ScalableFilter(0.1, seed=1),
        lambda: BloomFilter(10, 0.1).add(1.5),
    ]
    kinds = (BloomFilter, ScalableFilter, RecyclingFilter, CountMin, HeavyHitters)
    calls += [lambda path=path, kind=kind: kind.open(path) for path in sorted(golden.glob("*.tb[lz]")) for kind in kinds]
    failed = 0
    for call in calls:
        try:
            call()
        except truebloom.Error as error:
            failed += 1
            assert not RUST_WORDS.search(str(error)), str(error)
            assert len(str(error)) > 20
    assert failed > 60


def test_the_guarantee_and_the_numbers():
    f = BloomFilter(10_000, 0.01, seed=1)
    assert f.update(range(10_000)) <= 10_000
    own, expected = f.fpr(), f.expected_fpr()
    assert own.method == "exact" and own.lower <= own.value <= own.upper <= 0.01 and float(own) == own.value
    assert expected.upper <= 0.01 < f.expected_fpr(20_000).value
    estimate = f.estimated_items()
    assert estimate.lower <= 10_000 <= estimate.upper and abs(estimate.value - 10_000) < 300
    assert not f.is_over_capacity
    f.update(range(10_000, 30_000))
    assert f.is_over_capacity and f.fpr().value > 0.1
    assert f.capacity == 10_000 and f.asked_fpr == 0.01 and f.probes == 7 and f.nbytes * 8 >= f.bits and 0.5 < f.fill < 1
    for confidence in (0, 1, -1, float("nan")):
        with pytest.raises(PlanError):
            f.estimated_items(confidence)
    parted = BloomFilter(50, 0.01, scheme="partitioned", seed=2)
    parted.update(range(40))
    certain = parted.estimated_items()
    assert certain.method == "bound" and certain.lower <= 40 <= certain.upper


def test_verify_tells_kept_from_broken():
    """Error: three exact tests at one in a million, with fixed seeds. Power: a filter with three times its keys has twenty times its rate."""
    f = BloomFilter(5000, 0.01, seed=1)
    f.update(range(5000))
    found = f.verify(200_000, seed=1)
    assert found.holds and found.fill_holds and found.expected_verdict == "met" and found.interval[0] <= found.own.value <= found.interval[1]
    f.update(range(5000, 15_000))
    found = f.verify(200_000, seed=1)
    assert not found.holds and found.overfull and found.expected_verdict == "exceeded"


@pytest.mark.parametrize("layout", ["spread", "lines", "auto"])
@pytest.mark.parametrize("source", ["objects", "column", "single"])
def test_the_measured_rate_is_the_proven_one(layout, source):
    """200,000 keys that are not in it, by each way of asking: as many hits as the filter's own rate says, by an exact test; it would notice a rate 15% off."""
    import pyarrow as pa

    f = BloomFilter(20_000, 0.01, seed=11, layout=layout)
    f.update(pa.array([f"in {i}" for i in range(20_000)]))
    others = [f"out {i}" for i in range(200_000)]
    match source:
        case "objects":
            hits = sum(f.contains_many(others))
        case "column":
            hits = f.contains_many(pa.array(others)).true_count
        case "single":
            hits = sum(other in f for other in others)
    own = f.fpr().value
    assert p_value(hits, 200_000, own) > ALPHA and own <= 0.01


def test_plans():
    p = plan(1000, 0.01)
    assert p.fpr.upper <= 0.01 and p.guaranteed.upper <= 0.01 and p.confidence == 0.999 and p.scheme == "standard" and p.layout == "spread"
    mean = plan(1000, 0.01, mean=True)
    assert mean.bits < p.bits and mean.guaranteed is None and mean.textbook().fpr.lower > 0.01 and mean.bits == truebloom.laws.min_bits(items=1000, fpr=0.01).bits
    assert plan(bits=8192, fpr=0.01).items > 700 and plan(1000, bits=20_000).fpr.value < 1e-3
    assert pickle.loads(pickle.dumps(p)) == p
    assert BloomFilter.from_plan(p, seed=1) == BloomFilter(1000, 0.01, seed=1)
    assert plan(1000, 0.01, layout="lines").scheme == "blocked"
    assert BloomFilter.with_size(1000, 3, scheme="classic", seed=1).scheme == "classic"


def test_scalable():
    f = ScalableFilter(0.01, seed=1)
    assert f.update(range(50_000)) > 49_000 and f.fpr().upper <= 0.01 and f.layers > 3 and f.capacity is None
    assert isinstance(f, BloomFilter) and type(pickle.loads(pickle.dumps(f))) is ScalableFilter and type(f.copy()) is ScalableFilter
    g = f.to_empty()
    g.update(range(40_000, 60_000))
    assert type(f | g) is ScalableFilter and (f | g).count_contained(range(60_000)) == 60_000


def test_recycling():
    f = RecyclingFilter(1000, 0.01, seed=1)
    assert f.long_run_fpr().upper <= 0.01 < f.worst_fpr and f.long_run_fpr().method in ("exact", "bound", "validated")
    new = f.add_many(np.arange(100_000))
    assert new.sum() == f.new_keys and f.cycles > 50 and f.offered == 100_000
    drops = f.wrong_drops()
    assert 100_000 - f.new_keys <= drops.at_most and 0 < drops.expected < 1000 + drops.at_most
    for other in (pickle.loads(pickle.dumps(f)), f.copy(), RecyclingFilter.from_bytes(f.to_bytes())):
        assert other == f and "x" not in other
    two = RecyclingFilter(1000, 0.01, phases=2, seed=1)
    two.update(range(5000))
    assert two.phases == 2 and 4999 in two
    with pytest.raises(PlanError):
        RecyclingFilter(1000, 0.01, phases=3)


def test_counts(tmp_path):
    c = CountMin(0.001, 0.001, seed=1)
    assert c.update(["a"] * 3 + ["b"]) == 4
    c.add("b", 5)
    assert c.estimate("a") == 3 and c.estimate("b") == 6 and c.total == 9 and c.estimate("never") == 0
    d = pickle.loads(pickle.dumps(c))
    d.merge(c)
    assert d.total == 18 and d.estimate("a") == 6 and d != c
    d.halve()
    assert d.estimate("a") == 3
    d.save(tmp_path / "c.tbl")
    assert CountMin.open(tmp_path / "c.tbl") == d
    with pytest.raises(MergeError):
        d.merge(CountMin(0.01, 0.001, seed=1))


def test_heavy_hitters():
    h = HeavyHitters("1%", seed=1)
    h.update(["a"] * 500 + [f"rare {i}" for i in range(400)] + ["é"] * 100)
    top = h.top(2)
    # Where the list was full before a key came, it may have missed the first of it; the bounds say
    # so.
    assert [found.key for found in top] == ["a", "é"] and top[0].at_least == top[0].at_most == 500 and top[1].at_least <= 100 <= top[1].at_most
    assert all(found.at_least <= found.at_most for found in h.top(100)) and h.missed_at_most >= 1
    assert [found.key for found in h.above(90)] == ["a", "é"] and h.above(0) is None
    assert h.bounds("a").at_least == 500 and h.bounds("never").at_least == 0
    numbers = HeavyHitters(0.1, keys=int, seed=1)
    numbers.update(np.array([-1, -1, 7]))
    assert [found.key for found in numbers.top(2)] == [-1, 7]
    assert [found.key for found in pickle.loads(pickle.dumps(numbers)).top(1)] == [-1]
    raw = HeavyHitters(0.1, keys=bytes)
    raw.add("x")
    assert raw.top(1)[0].key == b"x"
    with pytest.raises(PlanError):
        HeavyHitters(0.1, keys=float)


def test_labels():
    f = BloomFilter(100, 0.01)
    assert f.label is None
    f.label = "e-mail"
    assert BloomFilter.from_bytes(f.to_bytes()).label == "e-mail"
    with pytest.raises(PlanError):
        f.label = "x" * 105
    f.label = None
    assert f.label is None


def test_what_it_says_of_itself():
    f = BloomFilter(1000, 0.01, seed=1)
    f.update(["<script>"])
    assert repr(f) == f"<BloomFilter for 1,000 keys at 0.01: {f.bits:,} bits, 7 probes, 1 key offered>"
    f.label = "<b>"
    html = f._repr_html_()
    assert "&lt;b&gt;" in html and "<b>&lt;" not in html and "rate now" in html and html.startswith("<table")
    for other in (ScalableFilter(0.01), RecyclingFilter(100, 0.1), CountMin(0.1, 0.1), HeavyHitters(0.1), plan(10, 0.1), BloomFilter.with_size(512, 3)):
        assert type(other).__name__ in repr(other)
    assert "over capacity" not in html
    f.update(range(5000))
    assert "over capacity" in f._repr_html_()


def test_threads_share_a_filter():
    f = BloomFilter(100_000, 0.001, seed=1)
    expected = BloomFilter(100_000, 0.001, seed=1)
    expected.update(range(80_000))

    def work(part):
        for key in range(part * 10_000, part * 10_000 + 1000):
            f.add(key)
        f.update(np.arange(part * 10_000, (part + 1) * 10_000))
        assert f.count_contained(range(part * 10_000, (part + 1) * 10_000)) == 10_000
        assert f.copy().fpr().value <= 1 and f.verify(1000).holds

    threads = [threading.Thread(target=work, args=(part,)) for part in range(8)]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    assert f == expected and f.offered == 88_000


def test_two_filters_merged_both_ways_at_once():
    """Neither waits for the other for ever. Large enough for a thread to be in the middle of a merge when another one begins: without an order of locks this hangs within some hundred rounds."""
    one = BloomFilter(200_000, 0.01, seed=1)
    other = one.to_empty()

    def work(ours, theirs):
        for i in range(1000):
            ours |= theirs
            if i % 100 == 0:
                ours.add(i)
                assert ours == ours and (ours == theirs) in (True, False)

    pairs = [(one, other), (other, one)] * 2 + [(one, one)]
    threads = [threading.Thread(target=work, args=pair, daemon=True) for pair in pairs]
    [thread.start() for thread in threads]
    deadline = time.monotonic() + 60
    [thread.join(max(0, deadline - time.monotonic())) for thread in threads]
    assert not any(thread.is_alive() for thread in threads)


def test_other_threads_run_during_a_batch():
    """While one thread inserts millions of numbers, another one counts: the interpreter is released. Without that it gets no turn at all between two slices."""
    f = BloomFilter(5_000_000, 0.001, layout="lines")
    numbers, counted, done = np.arange(5_000_000), 0, threading.Event()

    def insert():
        f.update(numbers)
        done.set()

    thread = threading.Thread(target=insert)
    thread.start()
    while not done.is_set():
        counted += 1
    thread.join()
    assert counted > 1000


@pytest.mark.parametrize("call", ["from_bytes", "pickle", "to_bytes", "copy", "==", "|", "|=", "clear", "save", "open", "ones of a file"])
def test_other_threads_run_during_a_long_call(call, tmp_path):
    """A thread counts while this one works on 12 MB. Nobody is asked for the interpreter here, so the thread comes further during a call only if that releases it; on a busy machine it may take several calls."""
    f = BloomFilter(10_000_000, 0.01, seed=1)
    f.update(range(1000))
    data, pickled, g, h = f.to_bytes(), pickle.dumps(f), f.to_empty(), f.copy()
    f.save(tmp_path / "f.tbl")
    calls = {
        "from_bytes": lambda: BloomFilter.from_bytes(data),
        "pickle": lambda: pickle.loads(pickled),
        "to_bytes": f.to_bytes,
        "copy": f.copy,
        "==": lambda: f == h,
        "|": lambda: f | g,
        "|=": lambda: f.__ior__(g),
        "clear": g.clear,
        "save": lambda: f.save(tmp_path / "g.tbl"),
        "open": lambda: BloomFilter.open(tmp_path / "f.tbl"),
        "ones of a file": lambda: BloomFilter.open(tmp_path / "f.tbl", mmap=True).ones,
    }
    counted, done, work = [0], threading.Event(), calls[call]

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0)  # Gives the interpreter back at once.

    thread, interval = threading.Thread(target=count), sys.getswitchinterval()
    thread.start()
    sys.setswitchinterval(1000)
    try:
        for _ in range(300):
            before = counted[0]
            work()
            if counted[0] > before:
                return
        pytest.fail(f"no other thread ran during 300 calls of {call}")
    finally:
        sys.setswitchinterval(interval)
        done.set()
        thread.join()


def test_an_interrupt_is_heard():
    """Both in a batch of objects and in a column; the filter is whole afterwards."""
    f = BloomFilter(1000, 0.01, seed=1)
    # Two thousand million keys in the memory of one.
    numbers = np.broadcast_to(np.int32(1), 2_000_000_000)

    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    try:
        for keys in (numbers, iter(int, 1)):
            with pytest.raises(Stop):
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                f.update(keys)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert f.surely_new <= 2 and f.offered > 0 and f.add("still alive")

"""The border between Python and Rust, under random and broken input: `fuzz_border.py CALLS SEED`.

Random objects as keys and as arguments, broken Arrow (lengths, offsets, buffers and children that contradict each other, within what the interface lets a consumer check), streams that fail half-way,
one capsule handed in by two threads, subclasses, truncated pickles, altered files, and threads that share all of it. Every call answers or raises an exception of Python; a panic, a crash or a memory
error of the interpreter ends the run with a failure, and so do ten minutes in which no thread comes further.
"""

import ctypes
import faulthandler
import os
import pickle
import random
import sys
import tempfile
import threading
import uuid

import numpy as np
import polars as pl
import pyarrow as pa
import truebloom as tb

THREADS = 4


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
]  # fmt: skip
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
]  # fmt: skip

pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


@ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
def release_schema(schema):
    schema.contents.release = None


@ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
def release_array(array):
    array.contents.release = None


class Broken:
    """A column of pyarrow with one thing wrong: copies of its outer structures, which are changed and released here, while what they point to stays that of pyarrow."""

    def __init__(self, column, change):
        self.kept = column.__arrow_c_array__()
        self.schema = Schema.from_buffer_copy(Schema.from_address(pointer_of(self.kept[0], b"arrow_schema")))
        self.array = Array.from_buffer_copy(Array.from_address(pointer_of(self.kept[1], b"arrow_array")))
        self.schema.release = ctypes.cast(release_schema, ctypes.c_void_p)
        self.array.release = ctypes.cast(release_array, ctypes.c_void_p)
        change(self.schema, self.array)

    def __arrow_c_array__(self, requested_schema=None):
        return new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None), new_capsule(ctypes.addressof(self.array), b"arrow_array", None)


def columns(rng):
    size = rng.choice([0, 1, 7, 64, 300])
    texts = [rng.choice([None, "", "x", "a longer string than twelve", "é" * rng.randrange(9)]) for _ in range(size)]
    numbers = [rng.choice([None, 0, -1, 2**31 - 1, rng.randrange(-99, 99)]) for _ in range(size)]
    return rng.choice([
        lambda: pa.array(texts), lambda: pa.array(texts, pa.large_string()), lambda: pa.array(texts, pa.string_view()), lambda: pa.array(numbers, pa.int32()),
        lambda: pa.array(numbers, pa.int64()), lambda: pa.array(texts, pa.string()).dictionary_encode(), lambda: pa.array([n and n > 0 for n in numbers]),
        lambda: pa.array([None if t is None else t.encode()[:2].ljust(2) for t in texts], pa.binary(2)), lambda: pa.nulls(size),
        lambda: pa.StructArray.from_arrays([pa.array(texts), pa.array(numbers, pa.int8())], ["a", "b"]), lambda: pa.array([[1]] * size), lambda: pa.array([1.5] * size),
    ])()  # fmt: skip


def break_it(rng):
    """Changes that a consumer can see: it may believe lengths of buffers, and nothing else."""
    def shorter(_, array):
        array.length = rng.randrange(0, array.length + 1)

    def negative(_, array):
        setattr(array, rng.choice(["length", "offset", "n_buffers"]), -rng.randrange(1, 2**62))

    def huge(_, array):
        array.offset = 2**63 - 1 - rng.randrange(100)

    def fewer_buffers(_, array):
        array.n_buffers = rng.randrange(0, max(array.n_buffers, 1))

    def no_buffers(_, array):
        array.buffers = ctypes.POINTER(ctypes.c_void_p)()

    def children(schema, array):
        schema.n_children += rng.choice([-1, 1, 5])

    def no_children(schema, array):
        (schema.n_children, array.n_children) = (2, 2) if not schema.n_children else (schema.n_children, array.n_children)
        schema.children, array.children = ctypes.POINTER(ctypes.POINTER(Schema))(), ctypes.POINTER(ctypes.POINTER(Array))()

    def no_dictionary(_, array):
        array.dictionary = ctypes.POINTER(Array)()

    def other_type(schema, _):
        # Only types that read no more of a buffer than there is.
        schema.format = rng.choice([b"n", b"", b"?", b"e", b"w:", b"w:-1", b"w:x", b"+l", b"+x", b"tsu:", b"d:5,2", b"\xff\xfe", b"+r"])

    def no_type(schema, _):
        schema.format = None

    def lying_nulls(_, array):
        # There are none, says the count, and there is a buffer all the same; or the other way
        # round.
        array.null_count = rng.choice([0, -1, 1, array.length, 2**62])

    def released(schema, array):
        rng.choice([schema, array]).release = None

    def nothing(_schema, _array):
        pass

    changes = [shorter, negative, huge, fewer_buffers, no_buffers, children, no_children, no_dictionary, other_type, no_type, lying_nulls, released, nothing]
    return rng.choice(changes)


class Streamed:
    """A stream of columns whose source fails after some, gives nothing, or gives one capsule to everybody."""

    def __init__(self, rng):
        first = columns(rng)
        self.batches, self.type = [first] * rng.randrange(4), first.type
        self.fails, self.capsule = rng.random() < 0.3, None
        self.is_shared = rng.random() < 0.3

    def __arrow_c_stream__(self, requested_schema=None):
        def batches():
            for batch in self.batches:
                yield pa.record_batch([batch], names=["a"])
            if self.fails:
                raise ValueError("the source is gone")

        if self.capsule is None or not self.is_shared:
            self.capsule = pa.RecordBatchReader.from_batches(pa.schema([("a", self.type)]), batches()).__arrow_c_stream__()
        return self.capsule


class Same:
    """A column that hands out the same two capsules each time."""

    def __init__(self, column):
        self.capsules = column.__arrow_c_array__()

    def __arrow_c_array__(self, requested_schema=None):
        return self.capsules


def at_once(*calls):
    """All of these in threads of their own; what they raise is given back."""
    raised = []

    def run(call):
        try:
            call()
        except BaseException as error:  # noqa: BLE001
            raised.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for error in raised:
        raise error


class Own(tb.BloomFilter):
    """A subclass with an attribute."""


class Hostile:
    """An object whose methods fail, or answer nonsense."""

    def __init__(self, rng):
        self.answer = rng.choice([None, 1, (), "x", (1, 2), [], object()])
        self.fails = rng.random() < 0.5

    def _answer(self, *_, **__):
        if self.fails:
            raise LookupError("hostile")
        return self.answer

    __arrow_c_stream__ = __arrow_c_array__ = __iter__ = __index__ = __fspath__ = __float__ = __str__ = _answer


def thing(rng, depth=0):
    """Any object."""
    makers = [
        lambda: rng.randrange(-(2**70), 2**70), lambda: rng.randrange(300), lambda: rng.random(), lambda: rng.choice([float("nan"), float("inf"), -0.0, 1e300]),
        lambda: "".join(chr(rng.choice([65, 0, 233, 0xD800, 0x1F600])) for _ in range(rng.randrange(20))), lambda: rng.randbytes(rng.randrange(40)), lambda: None, lambda: True,
        lambda: bytearray(b"abc"), lambda: memoryview(b"abcd")[:: rng.choice([1, 2, -1])], lambda: memoryview(np.arange(6).reshape(2, 3)), lambda: uuid.UUID(int=rng.getrandbits(128)),
        lambda: object(), lambda: Hostile(rng), lambda: np.int64(5), lambda: np.float32(1), lambda: np.datetime64("2020"), lambda: np.str_("x"), lambda: int, lambda: Ellipsis,
        lambda: np.arange(rng.randrange(50), dtype=rng.choice(["i1", "u2", ">i4", "i8", "f4", "?", "U3", "S2", "M8[s]", "O", "c16"])), lambda: np.zeros((2, 2), int),
        lambda: np.arange(40)[:: rng.choice([1, 3, -1, -7])], lambda: np.broadcast_to(np.int8(3), rng.randrange(2000)), lambda: np.array(5), lambda: columns(rng), lambda: pl.Series(["a", None]),
        lambda: pa.chunked_array([columns(rng)]), lambda: (n for n in range(rng.randrange(9))), lambda: Broken(columns(rng), break_it(rng)), lambda: Streamed(rng), lambda: b"TRUEBLM" + rng.randbytes(90),
    ]  # fmt: skip
    if depth < 3:
        several = lambda: (thing(rng, depth + 1) for _ in range(rng.randrange(4)))  # noqa: E731
        makers += [lambda: tuple(several()), lambda: list(several()), lambda: {"a": thing(rng, depth + 1)}]
    return rng.choice(makers)()


def altered(rng, data):
    data = bytearray(data)
    match rng.randrange(3):
        case 0:
            del data[rng.randrange(len(data)) :]
        case 1:
            for _ in range(rng.randrange(1, 5)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        case 2:
            place = rng.randrange(len(data))
            data[place:place] = rng.randbytes(rng.randrange(1, 9))
    return bytes(data)


def shared():
    return [
        tb.BloomFilter(500, 0.01, seed=1), tb.BloomFilter(500, 0.01, seed=1), tb.BloomFilter(500, 0.05, seed=1, layout="lines"), tb.ScalableFilter(0.05, first_items=64, seed=1),
        tb.RecyclingFilter(100, 0.05, seed=1), tb.CountMin(0.05, 0.1, seed=1), tb.HeavyHitters(0.05, seed=1), tb.BloomFilter(50, 0.01, scheme="partitioned", seed=2),
        Own(500, 0.01, seed=1),
    ]  # fmt: skip


METHODS = sorted({name for kind in (tb.BloomFilter, tb.ScalableFilter, tb.RecyclingFilter, tb.CountMin, tb.HeavyHitters) for name in dir(kind)
                  if not name.startswith("__") or name in ("__contains__", "__or__", "__ior__", "__and__", "__iand__", "__eq__", "__repr__", "__copy__", "__reduce__")})  # fmt: skip
METHODS = [name for name in METHODS if name not in ("open", "from_plan", "with_size", "save", "verify")]


def call(rng, filters, folder):
    """One call with anything."""
    found = rng.choice(filters)
    match rng.randrange(10):
        case 0:
            data = altered(rng, found.to_bytes())
            rng.choice([tb.BloomFilter, tb.ScalableFilter, tb.RecyclingFilter, tb.CountMin, tb.HeavyHitters]).from_bytes(data)
        case 1:
            # Cut off, or whole but with altered contents. What else is in a pickle is Python's own,
            # and no data that may be altered at will.
            data = pickle.dumps(found)
            try:
                pickle.loads(data[: rng.randrange(len(data))])
            except (EOFError, pickle.UnpicklingError):
                pass
            (again, arguments) = found.__reduce__()[:2]
            again(altered(rng, arguments[0]), *arguments[1:])
        case 2:
            kind = rng.choice([tb.BloomFilter, tb.ScalableFilter, tb.RecyclingFilter, tb.CountMin, tb.HeavyHitters, tb.plan])
            words = rng.choice([{}, {"seed": thing(rng)}, {"layout": thing(rng)}, {"confidence": thing(rng)}, {"mean": True}])
            # Not too many items: memory that is there is taken.
            kind(*(rng.choice([thing(rng), rng.randrange(1, 10**5), rng.random()]) for _ in range(rng.randrange(1, 3))), **words)
        case 3:
            path = os.path.join(folder, f"{threading.get_ident()}-{rng.randrange(4)}")
            if rng.random() < 0.5:
                found.save(path)
            else:
                with open(path, "wb") as file:
                    file.write(altered(rng, found.to_bytes()))
                rng.choice([tb.BloomFilter, tb.RecyclingFilter, tb.CountMin]).open(path)
        case 4:
            tb.key_bytes(thing(rng))
            filters[0].verify(rng.randrange(2000), seed=rng.choice([None, 1]))
        case 5:
            match rng.randrange(8):
                case 0:
                    same = Same(columns(rng))
                    at_once(lambda: found.update(same), lambda: found.update(same))
                case 1 | 2:
                    found.update(Streamed(rng))
                case _:
                    found.update(Broken(columns(rng), break_it(rng)), **rng.choice([{}, {"threads": rng.randrange(0, 4)}]))
        case 6:
            tb.laws.eval({"fn": rng.choice(["fpr", "min_bits", "occupancy"]), "bits": rng.choice([8, -1, 1e9, "x"]), "items": 3, "probes": rng.randrange(9), "variant": "standard"})
        case _:
            method = getattr(type(found), rng.choice(METHODS), None)
            if callable(method):
                method(found, *(rng.choice([thing(rng), rng.choice(filters)]) for _ in range(rng.randrange(3))))
            elif method is not None:
                rng.choice([lambda: getattr(found, method.__name__, None), lambda: setattr(found, "label", thing(rng))])()


EXPECTED = (tb.Error, TypeError, ValueError, LookupError, OverflowError, OSError, MemoryError, AttributeError, ArithmeticError, BufferError, RecursionError, NotImplementedError)


def work(seed, calls, filters, folder, failures):
    rng = random.Random(seed)
    own = shared()
    for number in range(calls):
        if number % 1000 == 0:
            faulthandler.dump_traceback_later(600, exit=True)
        try:
            call(rng, filters if rng.random() < 0.7 else own, folder)
        except EXPECTED:
            pass
        except BaseException as error:  # noqa: BLE001 (a panic of Rust is no Exception)
            failures.append(f"call {number} of seed {seed}: {type(error).__name__}: {error}")
            return


def main(calls, seed):
    filters, failures = shared(), []
    with tempfile.TemporaryDirectory() as folder:
        threads = [threading.Thread(target=work, args=(seed * 1000 + number, calls // THREADS, filters, folder, failures)) for number in range(THREADS)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    faulthandler.cancel_dump_traceback_later()
    for filter in filters:
        filter.add("still alive")
        assert filter.to_bytes() and repr(filter)
    print(*failures[:5], sep="\n", end="\n" if failures else "")
    print(f"{calls - len(failures)} passed, {len(failures)} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, int(sys.argv[2]) if len(sys.argv) > 2 else 1)

"""Bloom filters on Spark: all executors build and query them. The files of these filters can be read everywhere.

    import truebloom.spark as tbs

    seen = tbs.build(clicks, "user_id", fpr=0.01)                 # a BloomFilter, on the driver
    kept = orders.filter(tbs.contains(seen, "user_id"))           # a Column
    tbs.register(spark, "seen", seen); spark.sql("select * from orders where seen(user_id)")
    kept = tbs.prefilter(orders, small, on="user_id").frame       # rows that may be in a join

The executors need this package and nothing else. When a filter is built, each partition makes a filter of its keys, and these filters are merged in a tree. The driver merges the last level of
the tree, which has about as many filters as the square root of the number of partitions (13 for 200 partitions, 31 for 1,000, 44 for 2,000). `spark.driver.maxResultSize` (1 GiB by default)
must be large enough for the filters of this level; a greater `depth` reduces their number. To query a filter, the driver sends it once to every executor.

No filter of 2 GiB or more is sent; `build_parts` builds such filters in parts, which are never merged. Spark Connect is not supported, because it has no broadcasts.

Nulls are as in SQL: they are not inserted, and the answer for a null key is null. Therefore, `filter` drops rows with a null key.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, StructField, StructType

from truebloom import _merge
from truebloom._truebloom import BloomFilter
from truebloom.parts import PartedFilter

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["Prefiltered", "build", "build_parts", "contains", "contains_parts", "prefilter", "register"]


def _classic(thing: Any) -> None:
    """Refuses objects of Spark Connect before anything is computed."""
    if any("pyspark.sql.connect" in kind.__module__ for kind in type(thing).__mro__):
        raise NotImplementedError("Spark Connect has no broadcasts, which filters need; use a session of SparkSession.builder.master(...)")


def _column(df: DataFrame, column: str | Column) -> DataFrame:
    """Selects the column with the keys. Several columns can be combined: F.struct("a", "b") is the key ("a", "b")."""
    _classic(df)
    return df.select((F.col(column) if isinstance(column, str) else column).alias("key"))


def _counted(keys: DataFrame) -> int:
    return int(keys.agg(F.approx_count_distinct("key", _merge.COUNT_ERROR)).first()[0])


def build(
    df: DataFrame,
    column: str | Column,
    items: float | None = None,
    fpr: Any = 0.01,
    *,
    depth: int = 2,
    **options: Any,
) -> BloomFilter:
    """Builds a filter of the keys in a column of strings, binary, integers, booleans, or structs of them.

    Without `items`, the distinct keys are first counted approximately (a pass over the column). The filter is planned for 8% more keys than this count: a margin of four standard
    errors. If there are more keys than planned, a CapacityWarning is issued. `options` are passed to BloomFilter: layout, scheme, confidence, mean, seed, untrusted.

    The bits are the same as if one process had built the filter with this seed. The filter is a merged filter, so its counts of keys are bounds. `depth` is the depth of the tree in
    which the filters of the partitions are merged.
    """
    keys = _column(df, column)
    if items is None:
        items = _merge.planned_items(_counted(keys))
    recipe = _merge.recipe(items, fpr, options)

    def part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        built = BloomFilter(**recipe)
        for batch in batches:
            built.update(batch.column(0))
        if not built.is_empty:
            yield pa.RecordBatch.from_pydict({"part": pa.array([built.to_bytes()], pa.binary())})

    def either(ours: bytes | None, theirs: bytes | None) -> bytes | None:
        return theirs if ours is None else ours if theirs is None else _merge.union([ours, theirs])

    parts = keys.mapInArrow(part, "part binary").rdd.map(lambda row: bytes(row[0]))
    merged: bytes | None = parts.treeAggregate(None, either, either, depth)
    return _merge.checked(BloomFilter(**recipe) if merged is None else BloomFilter.from_bytes(merged))


def _asking(spark: SparkSession, filter: BloomFilter) -> Any:
    """Returns a function over Arrow columns that queries the filter. The filter is broadcast, and unpickled once in each process."""
    _classic(spark)
    broadcast = spark.sparkContext.broadcast(filter)

    def ask(keys: Any) -> Any:
        return broadcast.value.contains_many(keys)

    # Spark needs the types. With postponed annotations, a signature would contain only their names.
    ask.__annotations__ = {"keys": pa.Array, "return": pa.Array}
    return F.arrow_udf(ask, BooleanType())


def _session() -> SparkSession:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise RuntimeError("there is no Spark session; make one first: SparkSession.builder.getOrCreate()")
    return session


def contains(filter: BloomFilter, column: str | Column) -> Column:
    """Returns a Column, for use in `filter` and `withColumn`, that says for each key of a column whether it is in the filter.

    The answer is always True for a key that was added. For any other key, it is True with a probability equal to the filter's rate.
    """
    ask = _asking(_session(), filter)
    return ask(F.col(column) if isinstance(column, str) else column)


def register(spark: SparkSession, name: str, filter: BloomFilter) -> None:
    """Registers the filter as an SQL function: `select * from orders where name(user_id)`."""
    asking = _asking(spark, filter)
    spark.udf.register(name, asking)


@dataclass(frozen=True)
class Prefiltered:
    """The result of `prefilter`: `frame` has the rows of the big table that may have a partner in the small table.

    `expected_fpr` is the expected share of the rows without a partner that stay, computed from the filter's bits. `report()` counts the rows (a pass over the big table).
    """

    frame: DataFrame
    filter: BloomFilter
    expected_fpr: float
    _big: DataFrame
    _flag: Column

    def report(self) -> dict[str, float]:
        """Counts all rows, the dropped rows and the kept rows, and estimates how many of the kept rows have no partner (`expected_by_error`).

        The estimate solves kept = partners + fpr * (rows - partners) for the number of rows with a partner.
        """
        counted = self._big.agg(F.count("*"), F.count_if(self._flag)).first()
        rows, kept = int(counted[0]), int(counted[1])
        partners = (kept - self.expected_fpr * rows) / (1 - self.expected_fpr) if self.expected_fpr < 1 else 0.0
        partners = min(max(partners, 0.0), float(kept))
        return {"rows": rows, "dropped": rows - kept, "kept": kept, "expected_by_error": kept - partners}


def prefilter(big: DataFrame, small: DataFrame, on: str | list[str], fpr: Any = 0.01, items: float | None = None, **options: Any) -> Prefiltered:
    """Keeps the rows of `big` that may have a partner: a row of `small` with the same values in the columns `on`. Call this function before the join itself (a Bloom join).

    No row with a partner is lost. Of the other rows, a share of at most `fpr` is expected to stay. Then join `result.frame` with `small` as usual.
    """
    names = [on] if isinstance(on, str) else on
    _merge.same_types(_kinds(big, names), _kinds(small, names), names)
    key = F.col(names[0]) if len(names) == 1 else F.when(_none_null(names), F.struct(*names))
    filter = build(small, key, items, fpr, **options)
    flag = contains(filter, key)
    return Prefiltered(big.filter(flag), filter, filter.fpr().value, big, flag)


def _kinds(df: DataFrame, names: list[str]) -> list[str]:
    """The type as which each column is hashed."""
    kinds = {"tinyint": "integers", "smallint": "integers", "int": "integers", "bigint": "integers", "boolean": "integers", "string": "text", "binary": "text"}
    return [kinds.get(kind, kind) for _, kind in df.select(*names).dtypes]


def _none_null(names: list[str]) -> Column:
    condition = F.col(names[0]).isNotNull()
    for name in names[1:]:
        condition = condition & F.col(name).isNotNull()
    return condition


def build_parts(df: DataFrame, column: str | Column, items: float, fpr: Any, folder: str, *, parts: int, **options: Any) -> PartedFilter:
    """Builds a filter that is too large for a single machine. The filter has many parts, in a folder that all executors can access.

    Each part has a range of hashes, and every key belongs to the part whose range contains its hash. Each executor builds and saves the parts whose keys are shuffled to it; the driver gets
    only the numbers of these parts. The rate of the whole filter is the mean of the parts' rates (`PartedFilter.fpr`), and is proven like the rate of a single filter.
    """
    plan = PartedFilter.begin(folder, items, fpr, parts=parts, **options)

    def routed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = batch.column(0).drop_null()
            yield pa.RecordBatch.from_pydict({"part": pa.array(plan.part_of_many(keys), pa.int32()), "key": keys})

    keys = _column(df, column)
    schema = f"part int, key {keys.dtypes[0][1]}"

    def built(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        open_parts: dict[int, BloomFilter] = {}
        for batch in batches:
            for number, of_part in _by_part(batch):
                if number not in open_parts:
                    open_parts[number] = plan.empty_part(number)
                open_parts[number].update(of_part)
        for number, found in open_parts.items():
            found.save(plan.path(number))
            yield pa.RecordBatch.from_pydict({"part": pa.array([number], pa.int32())})

    # repartitionById sends each part to its own task, which holds no other filter. (A plain
    # repartition hashes the numbers, so some tasks would get several parts, and others none.)
    rows = keys.mapInArrow(routed, schema).repartitionById(parts, "part").mapInArrow(built, "part int").collect()
    return plan.finish(row.part for row in rows)


def _by_part(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.Array]]:
    """Yields the number and the keys of each part in the batch."""
    import pyarrow.compute as pc

    order = pc.sort_indices(batch.column(0))
    numbers, keys = batch.column(0).take(order), batch.column(1).take(order)
    runs = pc.run_end_encode(numbers)
    start = 0
    for number, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        yield number, keys.slice(start, end - start)
        start = end


def contains_parts(filter: PartedFilter, df: DataFrame, column: str) -> DataFrame:
    """Returns the table with an additional column `contained`. Rows are shuffled to the tasks of their parts, and each task opens the file of its part once.

    The shuffle changes the order of the rows.
    """
    _classic(df)
    number = f"_part_{uuid.uuid4().hex[:8]}"
    route = F.arrow_udf(_routing(filter), "int")
    # A new schema, because `df.schema.add` would change the schema of the caller.
    schema = StructType([*df.schema.fields, StructField("contained", BooleanType())])

    def asked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        opened: dict[int, BloomFilter | None] = {}
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            found = filter.contains_routed(rows[column], rows[number].to_numpy(), opened)
            yield from rows.drop_columns([number]).append_column("contained", found).combine_chunks().to_batches()

    routed = df.withColumn(number, route(F.col(column))).repartitionById(filter.parts, number)
    return routed.mapInArrow(asked, schema)


def _routing(filter: PartedFilter) -> Callable[[Any], Any]:
    def part(keys: Any) -> Any:
        return pa.array(filter.part_of_many(keys), pa.int32())

    part.__annotations__ = {"keys": pa.Array, "return": pa.Array}
    return part

//! This library is empty: the benchmarks are in `benches` (`cargo bench -p truebloom-bench`).

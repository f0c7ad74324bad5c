//! Nothing: the benchmarks are in `benches`. `cargo bench -p truebloom-bench`.

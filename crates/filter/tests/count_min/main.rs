//! Tests of sketches: bounds on several kinds of streams, heavy hitters, ranges, sums, files.

#[path = "../common/mod.rs"]
mod common;

mod bounds;
mod codec;
mod heavy;
mod ranges;
mod streams;
mod sums;

use truebloom::count_min::{Counter, RowHashes, Sketch};
use truebloom::{PortableHasher, Rate, Seed};
use truebloom_math::count_min::{Rows, Shape};

fn rate(text: &str) -> Rate {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn hasher(seed: u64) -> PortableHasher {
    PortableHasher::xxh3(Seed::from(u128::from(seed) << 64 | 0x5eed))
}

/// A small sketch with a width of 101 (a prime) and 4 rows. A sketch whose rows are made from two
/// hashes has two copies.
fn small<R: RowHashes, C: Counter>(seed: u64) -> Sketch<R, C> {
    let copies = if R::ROWS == Rows::TwoHash { 2 } else { 1 };
    let shape = Shape::new(R::ROWS, 101, 4, copies).expect("a shape");
    Sketch::with_shape(shape, hasher(seed)).expect("small")
}

//! Tests views of sketches, which are the kinds 6 and 7 of files.

use crate::everywhere;
use std::fmt::Debug;
use truebloom::count_min::{Counter, FullRows, HeavyHitters, PairwiseRows, RowHashes, Sketch, TwoHashRows};
use truebloom::truebloom_math::count_min::Shape;
use truebloom::{FormatError, PortableHasher, Rate, Seed};

fn sketch<R: RowHashes, C: Counter>(shape: Shape) -> Sketch<R, C> {
    let mut sketch: Sketch<R, C> = Sketch::with_shape(shape, PortableHasher::xxh3(Seed::from(9))).expect("small");
    (0..300u64).for_each(|key| sketch.add(&(key * key), key));
    sketch
}

fn check<R: RowHashes + Debug, C: Counter>(width: u64, copies: u32) {
    let sketch: Sketch<R, C> = sketch(Shape::new(R::ROWS, width, 3, copies).expect("in range"));
    let bytes = sketch.to_bytes().expect("small");
    let delta: Rate = "1%".parse().expect("a rate");
    everywhere(&bytes, |held| {
        let view = Sketch::<R, C>::view_prefix(held).expect("whole");
        assert!((0..900u64).all(|key| view.estimate(&key) == sketch.estimate(&key)));
        assert_eq!((view.total(), view.shape()), (sketch.total(), sketch.shape()));
        let counted = view.verify_bytes().expect("undamaged");
        assert_eq!((counted.error_bound(&delta), counted.is_saturated()), (sketch.error_bound(&delta), sketch.is_saturated()));
    });
    let mut damaged = bytes.clone();
    damaged[300] ^= 4;
    let view = Sketch::<R, C>::view(&damaged).expect("its header is whole");
    assert!(matches!(view.verify_bytes().map(drop), Err(FormatError::PayloadChecksum { .. })));
}

#[test]
fn a_view_estimates_as_the_sketch() {
    check::<FullRows, u64>(101, 1);
    check::<FullRows, u32>(101, 1);
    check::<PairwiseRows, u32>(77, 1);
    check::<TwoHashRows, u64>(101, 2);
    check::<TwoHashRows, u32>(103, 3);
}

/// Tests that a view does not change the width of counters.
#[test]
fn narrow_counters_are_not_viewed_as_wide_ones() {
    let narrow: Sketch<FullRows, u32> = sketch(Shape::new(FullRows::ROWS, 101, 3, 1).expect("in range"));
    let bytes = narrow.to_bytes().expect("small");
    assert!(matches!(Sketch::<FullRows, u64>::view(&bytes), Err(FormatError::Field { field: "bytes of a counter", .. })));
    assert!(Sketch::<FullRows, u64>::from_bytes(&bytes).is_ok());
}

#[test]
fn the_sketch_of_a_list_can_be_viewed() {
    let sketch: Sketch<FullRows, u64> = sketch(Shape::new(FullRows::ROWS, 101, 3, 1).expect("in range"));
    let mut list = HeavyHitters::new(sketch, 10).expect("a list");
    (0..30u64).for_each(|key| list.add(&key, 1_000 + key));
    let bytes = list.to_bytes().expect("small");
    let view = HeavyHitters::<u64>::view(&bytes).expect("whole");
    assert!((0..900u64).all(|key| view.estimate(&key) == list.sketch().estimate(&key)));
    assert!(view.verify_bytes().is_ok());
    // The checksum also covers the list.
    let mut damaged = bytes.clone();
    *damaged.last_mut().expect("a list") ^= 1;
    let view = HeavyHitters::<u64>::view(&damaged).expect("its header is whole");
    assert!(matches!(view.verify_bytes().map(drop), Err(FormatError::PayloadChecksum { .. })));
}

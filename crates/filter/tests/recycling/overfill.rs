//! Tests the method that predicts whether a key would end the active phase.

use truebloom::recycling::{BlockedRecyclingFilter, Policy, RecyclingFilter};
use truebloom::{PortableHasher, Seed};

/// Checks before each offer whether the method predicts a recycle, for a thousand keys and tens of
/// cycles. Every other key is a repeat, which never ends a phase. The prediction must be exact even
/// for keys whose probes coincide.
macro_rules! told_before {
    ($filter:expr) => {{
        let mut filter = $filter.expect("a filter");
        let mut ends = 0;
        for key in (0..1_000u64).flat_map(|i| [i, i / 2]) {
            let (told, before) = (filter.would_overfill(filter.hash(&key)), filter.stats().by_fill);
            filter.check_and_insert(&key);
            assert_eq!(filter.stats().by_fill > before, told, "key {key}");
            ends += u64::from(told);
        }
        assert!(ends > 10, "the test has no power: {ends}");
    }};
}

#[test]
fn the_end_of_a_phase_is_told_before_it_comes() {
    let hasher = PortableHasher::xxh3(Seed::from(1));
    told_before!(RecyclingFilter::<PortableHasher>::with_hasher(150, 9, Policy::one_phase(80), hasher));
    told_before!(RecyclingFilter::<PortableHasher>::with_hasher(150, 9, Policy::two_phases(80), hasher));
    told_before!(BlockedRecyclingFilter::with_hasher(1_024, 6, Policy::one_phase(0.02), hasher));
}

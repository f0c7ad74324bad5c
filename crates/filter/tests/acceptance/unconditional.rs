//! Compares every scheme with the expected rate of its law, whatever the fill is. The filters hold
//! a few items, and each is queried for one key.
//!
//! With one query per filter, the number of hits is exactly binomial, however the positions of an
//! item depend on each other; several queries of one filter would share its rate. If the law gives
//! only bounds on the rate, the hits are compared with the nearer bound. The sizes are deliberately
//! tiny. At such sizes the schemes differ most, there are moduli with many divisors and with none,
//! and the tests detect small deviations of the rate.

use crate::ALPHA;
use crate::common::SplitMix64;
use std::sync::atomic::{AtomicUsize, Ordering};
use truebloom::scheme::SchemeId;
use truebloom::{AnyFilter, Filter, KeyHash, PortableHasher, Seed};
use truebloom_math::binomial::{self, noticed_factor};

/// Bits, probes, items and filters.
const CASES: [(u64, u32, u64, u64); 5] =
    [(12, 3, 3, 300_000), (13, 3, 3, 300_000), (60, 5, 8, 200_000), (401, 4, 60, 60_000), (1_200, 6, 120, 40_000)];

/// The nearest size that the scheme supports, with items in proportion, and with fewer filters if
/// the size is much larger.
fn case(id: SchemeId, (bits, probes, items, filters): (u64, u32, u64, u64)) -> (u64, u64, u64) {
    let size = bits.next_multiple_of(id.bits_unit(probes));
    if size < 2 * bits { (size, items, filters) } else { (size, items * size / bits, 20_000) }
}

fn accept(id: SchemeId) {
    for (number, (least, probes, few, many)) in CASES.into_iter().enumerate() {
        let (bits, items, filters) = case(id, (least, probes, few, many));
        // The same size once more says nothing new.
        if CASES[..number].iter().any(|before| before.1 == probes && case(id, *before).0 == bits) {
            continue;
        }
        let mut filter = AnyFilter::with_scheme(id, bits, probes, PortableHasher::xxh3(Seed::from(1))).expect("in range");
        let fpr = filter.law().proven(items).expect("affordable").expect("a bracket or better");
        let filters = filters * crate::environment("ACCEPTANCE_SCALE", 1);
        let mut hashes = SplitMix64(crate::environment("ACCEPTANCE_SEED", 1) << 32 | u64::from(id as u16));
        let hits: u64 = (0..filters)
            .map(|_| {
                filter.clear();
                (0..items).for_each(|_| {
                    filter.insert_hash(KeyHash::from_uniform_bits(hashes.next_wide()));
                });
                u64::from(filter.contains_hash(KeyHash::from_uniform_bits(hashes.next_wide())))
            })
            .sum();
        let measured = hits as f64 / filters as f64;
        let p = binomial::two_sided(hits, filters, measured.clamp(fpr.lower, fpr.upper));
        println!(
            "{:>16} {:>5} bits, {probes} probes, {items:>3} items: {hits} of {filters} filters hit, measured {measured:.4e}, law {:.4e} to {:.4e} ({}); p {p:.0e}; notices {:.3}x",
            id.name(),
            filter.bits(),
            fpr.lower,
            fpr.upper,
            fpr.method,
            noticed_factor(filters, fpr.upper, ALPHA),
        );
        assert!(p >= ALPHA, "{id}: {measured} of {filters} filters, but its law says {fpr:?}");
    }
}

/// Tests all registered schemes, or only the one named by ACCEPTANCE_SCHEME.
#[test]
fn every_scheme_keeps_its_law() {
    let only = std::env::var("ACCEPTANCE_SCHEME").ok();
    let wanted: Vec<SchemeId> = SchemeId::ALL.into_iter().filter(|id| only.as_deref().is_none_or(|only| only == id.name())).collect();
    assert!(!wanted.is_empty(), "no scheme of this name: {only:?}");
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from).min(wanted.len()) {
            scope.spawn(|| {
                while let Some(id) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    accept(*id);
                }
            });
        }
    });
}

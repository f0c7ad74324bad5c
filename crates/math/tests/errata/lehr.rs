//! Lehr, The Bloom Filter Hashing Solution. Lehr's m is the number of items, and his N is the
//! number of bits.

use crate::common::committees::{balls, mean, raise, whole};
use crate::common::{oracle, ratio};
use num_rational::BigRational;
use num_traits::One;
use truebloom_math::Variant;

#[test]
fn power_of_the_mean_is_only_a_lower_bound() {
    let printed = |bits: u64, items: u64, probes: u64| raise(&(BigRational::one() - raise(&ratio(bits - 1, bits), items * probes)), probes);
    for bits in 1..=6u64 {
        for (items, probes) in (1..=4u64).flat_map(|items| (1..=4u64).map(move |probes| (items, probes))) {
            let throws = items * probes;
            if throws <= 6 {
                assert_eq!(mean(&balls(bits, throws)), whole(bits) * (BigRational::one() - raise(&ratio(bits - 1, bits), throws)));
            }
            let truth = oracle::rate(Variant::Standard, bits, items, probes as u32);
            let exact = probes == 1 || bits == 1;
            assert!(
                if exact { printed(bits, items, probes) == truth } else { printed(bits, items, probes) < truth },
                "N={bits} m={items} k={probes}"
            );
        }
    }
}

/// Tests Lehr's last statement, which is right: the number of set bits determines the rate.
#[test]
fn rate_at_a_known_fill_is_exact() {
    for (bits, throws, probes) in [(3u64, 4u64, 2u64), (5, 3, 3)] {
        let law = balls(bits, throws);
        let given = |ones: u64| raise(&ratio(ones, bits), probes);
        let total: BigRational = law.iter().enumerate().map(|(ones, weight)| weight * given(ones as u64)).sum();
        let hits = crate::common::committees::covered_sets(bits, &vec![1; throws as usize])
            .into_iter()
            .enumerate()
            .map(|(set, weight)| {
                let tuples = (0..bits.pow(probes as u32))
                    .filter(|&query| (0..probes as u32).all(|place| set >> (query / bits.pow(place) % bits) & 1 == 1));
                weight * ratio(tuples.count() as u64, bits.pow(probes as u32))
            })
            .sum::<BigRational>();
        assert_eq!(total, hits);
    }
}

//! Tests that brackets are right and not too wide. The brackets are computed with so few digits
//! that rounding errors matter. The true value must be inside every bracket. For some cases, it
//! would be outside if the bracket were a tenth as wide.

use super::{InBlock, Inclusion, Items, Query, When};
use crate::exact::dyadic::Dyadic;
use crate::exact::enclosure::Enclose;
use crate::exact::fixed::{self, Divisor, Product};
use crate::law::slices::Slices;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero, pow};

fn rational(x: &Dyadic) -> BigRational {
    let integer = integer(&x.words);
    let power = BigInt::one() << x.exponent.unsigned_abs();
    if x.exponent < 0 { BigRational::new(integer, power) } else { BigRational::from(integer * power) }
}

fn integer(words: &[u64]) -> BigInt {
    words.iter().rev().fold(BigInt::zero(), |sum, &word| (sum << 64) + word)
}

fn ratio(top: u64, bottom: u64) -> BigRational {
    BigRational::new(top.into(), bottom.into())
}

/// `g_j`, computed from its definition.
fn empty(law: &Inclusion, j: u64) -> BigRational {
    let (m, k) = (law.bits, u64::from(law.probes));
    let distinct = || (0..j).map(|i| ratio((m - k).saturating_sub(i), m - i)).product::<BigRational>();
    let once = match law.placement {
        Items::Independent => ratio(m - j, m),
        Items::Distinct => distinct(),
        Items::Blocked { blocks, in_block, .. } => {
            let inside = match in_block {
                InBlock::Independent => pow(ratio(m - j, m), k as usize),
                InBlock::Distinct => distinct(),
                InBlock::Split { word_bits } => pow(ratio(word_bits - 1, word_bits), j as usize),
            };
            BigRational::one() - ratio(1, blocks) * (BigRational::one() - inside)
        }
    };
    match law.placement {
        Items::Blocked { when: When::Before, .. } => {
            (0..law.items).map(|items| pow(once.clone(), items as usize)).sum::<BigRational>() / BigInt::from(law.items)
        }
        _ => pow(once, law.exponent() as usize),
    }
}

/// The coefficient `c_j`, computed by adding one draw at a time. After a draw, a set of `j`
/// positions is complete if it was complete before, or if the draw was its last missing position.
fn coefficients(law: &Inclusion) -> Vec<BigRational> {
    let k = law.probes as usize;
    let mut c = vec![BigRational::zero(); k + 1];
    c[0] = BigRational::one();
    for _ in 0..k {
        for j in (1..=k).rev() {
            // A draw adds a new position to a set of j - 1 positions with probability
            // `(m - j + 1) / m`. Distinct queries never repeat a position.
            let (stay, join) = match law.query {
                Query::Distinct => (BigRational::one(), BigRational::one()),
                Query::Independent => {
                    let m = law.bits;
                    (ratio(m.saturating_sub(j as u64), m), ratio(m.saturating_sub(j as u64 - 1), m))
                }
            };
            c[j] = &c[j] * stay + &c[j - 1] * join;
        }
    }
    c
}

fn truth(law: &Inclusion) -> BigRational {
    let signed = |(j, c): (usize, BigRational)| {
        if j as u64 > law.bits || c.is_zero() {
            BigRational::zero()
        } else {
            c * empty(law, j as u64) * BigInt::from(1 - 2 * (j as i32 % 2))
        }
    };
    coefficients(law).into_iter().enumerate().map(signed).sum()
}

/// Standard and classic filters, and the mixed sum of Burns' lower bound, at odd sizes that leave a
/// remainder in every division.
fn cases() -> Vec<Inclusion> {
    let mut cases = Vec::new();
    for (query, placement) in
        [(Query::Independent, Items::Independent), (Query::Distinct, Items::Distinct), (Query::Distinct, Items::Independent)]
    {
        for bits in [2, 3, 7, 11, 97, 1_000, 65_537] {
            for items in [1, 2, 5, 17, 60] {
                for probes in [1, 2, 3, 5, 8].into_iter().filter(|&k| u64::from(k) <= bits) {
                    cases.push(Inclusion { query, placement, bits, items, probes });
                }
            }
        }
    }
    cases.extend(blocked_cases());
    cases
}

fn blocked_cases() -> Vec<Inclusion> {
    let mut cases = Vec::new();
    for (blocks, items) in [(1, 3), (2, 1), (3, 17), (7, 60), (101, 40)] {
        for (bits, probes, word_bits) in [(8, 2, 4), (9, 3, 3), (35, 5, 7), (512, 8, 64), (5, 5, 1)] {
            let mut add = |query, in_block| {
                for when in [When::After, When::Before] {
                    let placement = Items::Blocked { blocks, in_block, when };
                    cases.push(Inclusion { query, placement, bits, items, probes });
                }
            };
            add(Query::Independent, InBlock::Independent);
            add(Query::Distinct, InBlock::Distinct);
            add(Query::Distinct, InBlock::Split { word_bits });
        }
    }
    cases
}

/// The distance of the true value from the middle of the bracket: 0 in the middle, 1 at an end.
fn used_share(lower: &Dyadic, upper: &Dyadic, truth: &BigRational) -> f64 {
    let (lower, upper) = (rational(lower), rational(upper));
    let middle = (&lower + &upper) / BigInt::from(2);
    ((truth - middle).abs() / ((upper - lower) / BigInt::from(2))).to_f64().expect("finite")
}

#[test]
fn the_budget_of_the_sum_is_kept_and_used() {
    let mut worst = 0f64;
    for law in cases() {
        let truth = truth(&law);
        // For the smallest rates, three words are far too few for a narrow bracket, so the lower
        // end is cut off at 0.
        for limbs in [2, 3] {
            let bracket = law.attempt(limbs).expect("cheap");
            let whole = !bracket.lower.is_zero();
            let share = used_share(&bracket.lower, &bracket.upper, &truth);
            assert!(share <= 1.0, "{law:?} with {limbs} words: {share}");
            if whole {
                worst = worst.max(share);
            }
        }
    }
    println!("at most {worst:.3} of the sum's budget is used");
    assert!(worst > 0.1, "a bracket a tenth as wide would do: {worst}");
}

#[test]
fn the_budget_of_the_powers_is_kept_and_used() {
    let limbs = 2;
    let mut worst = [0f64; 3];
    for law in cases() {
        let budget = law.empty_error() as f64;
        law.for_each_empty(law.probes, &mut Product::new(limbs), limbs, |j, found, _| {
            let missing = empty(&law, j) * (BigInt::one() << (64 * limbs)) - integer(found);
            let share = missing.to_f64().expect("finite") / budget;
            assert!((0.0..1.0).contains(&share), "{law:?} g_{j}: {share}");
            let of = match law.placement {
                Items::Independent => 0,
                Items::Distinct => 1,
                Items::Blocked { .. } => 2,
            };
            worst[of] = worst[of].max(share);
        });
    }
    println!("at most {:.3} (independent), {:.3} (distinct), {:.3} (blocked) of the powers' budget is used", worst[0], worst[1], worst[2]);
    assert!(worst[0] > 0.5 && worst[1] > 0.25 && worst[2] > 0.1, "the budget is too generous: {worst:?}");
}

#[test]
fn the_budget_of_the_coefficients_is_kept_and_used() {
    let limbs = 2;
    let mut worst = 0f64;
    for probes in 2..=40u32 {
        for bits in [3, 7, 50, 97, 65_537] {
            let law = Inclusion { query: Query::Independent, placement: Items::Independent, bits, items: 1, probes };
            let found = law.coefficients(limbs);
            let mut falling = BigRational::one();
            let mut missing = BigRational::zero();
            for (j, exact) in coefficients(&law).into_iter().enumerate() {
                if j > 1 {
                    falling *= ratio(bits.saturating_sub(j as u64 - 1), bits);
                }
                if falling.is_zero() {
                    break;
                }
                let share = exact / &falling * (BigInt::one() << (64 * limbs)) / (BigInt::one() << probes);
                let error = share - integer(&found[j * limbs..(j + 1) * limbs]);
                assert!(!error.is_negative(), "{law:?} c_{j}");
                missing += error;
            }
            let share = missing.to_f64().expect("finite") / f64::from((probes + 2) * (probes + 2));
            assert!(share < 1.0, "{law:?}: {share}");
            worst = worst.max(share);
        }
    }
    println!("at most {worst:.3} of the coefficients' budget is used");
    assert!(worst > 0.1, "the budget is too generous: {worst}");
}

#[test]
fn the_budget_of_the_slices_is_kept_and_used() {
    let mut worst = 0f64;
    for bits in [2, 3, 7, 11, 97, 1_000, 65_537] {
        for items in [1, 2, 5, 17, 60, 1_000] {
            for probes in [1, 2, 3, 5].into_iter().filter(|&k| u64::from(k) <= bits) {
                let slices = Slices { bits, items, probes };
                let full = |size: u64| BigRational::one() - pow(ratio(size - 1, size), items as usize);
                let truth: BigRational = slices.sizes().into_iter().map(|(size, count)| pow(full(size), count as usize)).product();
                let bracket = slices.attempt(2).expect("cheap");
                if rational(&bracket.lower) == rational(&bracket.upper) {
                    assert_eq!(rational(&bracket.lower), truth);
                    continue;
                }
                let share = used_share(&bracket.lower, &bracket.upper, &truth);
                assert!(share <= 1.0, "{slices:?}: {share}");
                worst = worst.max(share);
            }
        }
    }
    println!("at most {worst:.3} of the slices' bracket is used");
    assert!(worst > 0.5, "{worst}");
}

/// Tests that the worst case of truncation occurs, where a ratio is just below an integer number of
/// units.
#[test]
fn a_cut_costs_up_to_a_whole_unit() {
    let mut base = [0; 2];
    let worst = (3..1_000u64)
        .map(|bits| {
            fixed::set_ratio(&mut base, bits - 1, &Divisor::new(bits));
            let missing: BigRational = ratio(bits - 1, bits) * (BigInt::one() << 128) - integer(&base);
            missing.to_f64().expect("finite")
        })
        .fold(0.0, f64::max);
    assert!((0.99..1.0).contains(&worst), "{worst}");
}

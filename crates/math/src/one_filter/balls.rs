//! The upper tail of the set bits of a small filter, ball by ball.
//!
//! With x bits set of m, the next ball of a standard filter lies on a set bit with probability x/m.
//! A classic item draws distinct bits: after i of them, its next one is among the m - i that it has
//! not drawn, of which x - i are set. So, with i = 0 for the standard filter,
//!
//! ```text
//! p'_x = p_x (x - i) / (m - i) + p_(x-1) (m - x + 1) / (m - i).
//! ```
//!
//! Set bits stay set, so what has reached the tail is added up and followed no further.
//!
//! *Rounding.* All terms are positive, and a ball errs by at most four roundings of `u = 2^-53`
//! (two products side by side, their sum, the divisor and its product); adding up the tail is one
//! more a ball. What is dropped at the ends of the window is counted in the tail.

use crate::Variant;
use alloc::vec;
use alloc::vec::Vec;

/// A probability at an end of the window that is a smaller share of the one allowed is dropped.
const DROPPED: f64 = 1e-13;

/// An upper bound on the probability of at least `past` set bits: at most 1e-8 too high,
/// relatively, where it is about `allowed`, and 1 where it is certainly above.
pub(crate) fn at_least(variant: Variant, bits: u64, items: u64, probes: u32, past: u64, allowed: f64) -> f64 {
    let balls = items.saturating_mul(u64::from(probes));
    if past > balls {
        return 0.0;
    }
    let rounding = 1.0 + 6.0 * (balls as f64 + 1.0) * f64::EPSILON;
    let floor = DROPPED * allowed;
    let (m, end) = (bits as f64, past as usize);
    let ones: Vec<f64> = (0..=past).map(|x| x as f64).collect();
    // `now[x + 1]` is the probability of x set bits, so that every x has one before it.
    let (mut now, mut next) = (vec![0.0; end + 2], vec![0.0; end + 2]);
    now[1] = 1.0;
    let (mut first, mut last) = (0, 0);
    let (mut tail, mut dropped) = (0.0, 0.0);
    for ball in 0..balls {
        let drawn = if variant == Variant::Classic { (ball % u64::from(probes)) as f64 } else { 0.0 };
        let inverse = 1.0 / (m - drawn);
        last += 1;
        if last == end {
            last -= 1;
            tail += now[end] * (m - ones[end - 1]) * inverse;
            if tail > allowed * rounding {
                return 1.0;
            }
        }
        let before = now[first..=last].iter().zip(&now[first + 1..=last + 1]);
        for ((slot, x), (enters, stays)) in next[first + 1..=last + 1].iter_mut().zip(&ones[first..=last]).zip(before) {
            *slot = (stays * (x - drawn) + enters * (m + 1.0 - x)) * inverse;
        }
        // What is behind the window counts as nothing.
        core::mem::swap(&mut now, &mut next);
        while first < last && now[first + 1] < floor {
            dropped += now[first + 1];
            now[first + 1] = 0.0;
            first += 1;
        }
        while last > first && now[last + 1] < floor {
            dropped += now[last + 1];
            now[last + 1] = 0.0;
            last -= 1;
        }
        now[first] = 0.0;
        if last + 2 < now.len() {
            now[last + 2] = 0.0;
        }
    }
    ((tail + dropped) * rounding + f64::MIN_POSITIVE).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::occupancy::Occupancy;

    /// Against the law by thinning and contour integrals: never below it, and above by a hair.
    /// Tails above what is allowed are said to be.
    #[test]
    fn tails_are_those_of_the_law() {
        let mut cases = 0;
        for (bits, items, probes) in [(4u64, 2u64, 2u32), (9, 1, 9), (30, 20, 1), (38, 1, 16), (118, 10, 7), (600, 40, 11), (3_006, 50, 39)]
        {
            for variant in [Variant::Standard, Variant::Classic] {
                let law = match variant {
                    Variant::Classic => Occupancy::classic(bits, items, probes),
                    _ => Occupancy::standard(bits, items, probes),
                };
                let law = law.expect("in range");
                let (mean, deviation) = (law.mean().expect("cheap"), law.variance().expect("cheap").sqrt());
                for distance in [-2.0, 0.0, 1.0, 2.0, 3.1, 5.0] {
                    let past = ((mean + distance * deviation) as u64).clamp(1, bits);
                    let exact = law.at_least(past).expect("cheap");
                    let what = format!("{variant} m={bits} n={items} k={probes} {past}: {exact:?}");
                    for allowed in [1e-3, 0.7] {
                        let found = at_least(variant, bits, items, probes, past, allowed);
                        if exact.lower > allowed * (1.0 + 1e-9) {
                            assert!(found > allowed, "{what} {found}");
                        } else {
                            assert!(found >= exact.lower && found <= exact.upper * (1.0 + 1e-8) + 1e-9 * allowed, "{what} {found}");
                            cases += 1;
                        }
                    }
                }
            }
        }
        assert!(cases > 60, "{cases}");
    }
}

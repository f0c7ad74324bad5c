//! The upper tail of the number of set bits of a small filter, computed ball by ball. A ball is one
//! position of one item.
//!
//! Let x of the m bits be set. Then the next ball of a standard filter hits a set bit with
//! probability x/m. An item of a classic filter draws distinct bits. After i draws, the next bit is
//! one of the m - i bits that the item has not drawn, and x - i of these are set. So, with i = 0
//! for the standard filter,
//!
//! ```text
//! p'_x = p_x (x - i) / (m - i) + p_(x-1) (m - x + 1) / (m - i).
//! ```
//!
//! Set bits stay set. So once a state has reached the tail, its probability is added to the tail,
//! and the state is dropped.
//!
//! *Rounding.* All terms are positive. Each ball adds at most four roundings of `u = 2^-53` (two
//! independent products, their sum, the divisor and its product), and adding up the tail adds one
//! more. Probabilities that are dropped (see [`DROPPED`]) are counted in the tail.

use crate::Variant;
use alloc::vec;
use alloc::vec::Vec;

/// The computation drops probabilities below this share of the allowed probability, at both ends of
/// the list of probabilities.
const DROPPED: f64 = 1e-13;

/// An upper bound on the probability of at least `past` set bits. Near `allowed`, its relative
/// error is at most 1e-8. If the computed tail exceeds `allowed`, the result is 1.
pub(crate) fn at_least(variant: Variant, bits: u64, items: u64, probes: u32, past: u64, allowed: f64) -> f64 {
    let balls = items.saturating_mul(u64::from(probes));
    if past > balls {
        return 0.0;
    }
    match walk(variant, bits, (items, probes), past, (DROPPED * allowed, allowed)) {
        Some(walk) => walk.at_least(walk.tail),
        None => 1.0,
    }
}

/// The smallest number x such that, by the bound of [`at_least`], at most the share `allowed` of
/// all filters have x or more set bits.
pub(crate) fn too_rare(variant: Variant, bits: u64, items: u64, probes: u32, allowed: f64) -> u64 {
    let end = items.saturating_mul(u64::from(probes)).min(bits) + 1;
    // No filter reaches this end, so the computation always returns a result.
    let Some(walk) = walk(variant, bits, (items, probes), end, (DROPPED * allowed, f64::INFINITY)) else { return end };
    let mut tail = walk.tail;
    for ones in (0..end).rev() {
        tail += walk.law[ones as usize + 1];
        if walk.at_least(tail) > allowed {
            return ones + 1;
        }
    }
    0
}

/// The law of the number of set bits, restricted to numbers below the tail.
struct Walk {
    /// The probability of x set bits is `law[x + 1]`, so that every x has a predecessor.
    law: Vec<f64>,
    /// The probability that the number of set bits has reached the tail.
    tail: f64,
    /// The total probability that was dropped.
    dropped: f64,
    rounding: f64,
}

impl Walk {
    /// A tail, rounded up.
    fn at_least(&self, tail: f64) -> f64 {
        ((tail + self.dropped) * self.rounding + f64::MIN_POSITIVE).min(1.0)
    }
}

/// Throws the balls one after another, up to `past` set bits. The list of probabilities has a
/// window of entries that are not 0. At both ends of this window, probabilities below `floor` are
/// dropped. Returns `None` as soon as the tail is above `allowed`.
fn walk(variant: Variant, bits: u64, (items, probes): (u64, u32), past: u64, (floor, allowed): (f64, f64)) -> Option<Walk> {
    let balls = items.saturating_mul(u64::from(probes));
    let rounding = 1.0 + 6.0 * (balls as f64 + 1.0) * f64::EPSILON;
    let (m, end) = (bits as f64, past as usize);
    let ones: Vec<f64> = (0..=past).map(|x| x as f64).collect();
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
                return None;
            }
        }
        let before = now[first..=last].iter().zip(&now[first + 1..=last + 1]);
        for ((slot, x), (enters, stays)) in next[first + 1..=last + 1].iter_mut().zip(&ones[first..=last]).zip(before) {
            *slot = (stays * (x - drawn) + enters * (m + 1.0 - x)) * inverse;
        }
        // Probabilities outside the window count as 0.
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
    // Entries outside the window are left over from earlier balls.
    now[..=first].fill(0.0);
    now[last + 2..].fill(0.0);
    Some(Walk { law: now, tail, dropped, rounding })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::occupancy::Occupancy;

    /// Compares the tail with the exact distribution, computed by thinning and contour integrals.
    /// The tail is never below the exact value, and exceeds it only very slightly. For tails above
    /// `allowed`, the result is also above `allowed`.
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
                        // The quantile must agree with these tails.
                        let rare = too_rare(variant, bits, items, probes, allowed);
                        let is_rare = |ones: u64| at_least(variant, bits, items, probes, ones, allowed) <= allowed;
                        assert!(rare > 0 && is_rare(rare) && !is_rare(rare - 1), "{what} {rare}");
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

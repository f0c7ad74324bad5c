//! The query's positions that an item hits. Hash pairs are counted by the set of positions that
//! they hit.
//!
//! Let `q_0, q_1, ..` be the distinct positions of a query. A hash pair is a pair `(a, b)` of
//! values of an item's h1 and h2. Each position of the query is hit by the same number of pairs. So
//! schemes differ only in the pairs that hit two or more positions. Suppose that probes j and j' of
//! an item, with the offsets `f_j` and `f_j'`, hit the positions `q_i` and `q_i'`. Then
//! `(j' - j) b = (q_i' - q_i) - (f_j' - f_j)`. So hash pairs that hit two positions can be
//! enumerated however large m is. Queries with the same counts form a class.

use super::bracket::Hits;
use super::{Double, Offsets, Step};
use crate::exact::modular::{Solver, add, gcd, multiply, reduce, solutions, subtract};
use alloc::vec;
use alloc::vec::Vec;

/// Sets of a query's positions, as masks, each with the number of hash pairs that hit exactly that
/// set.
pub(crate) type HitSets = Vec<(u64, u64)>;

/// A class of queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// The number of queries in the class that have a fixed h1.
    pub(crate) weight: u64,
    /// The number of distinct positions of the query.
    pub(crate) positions: u32,
    /// The hash pairs that hit at least two of these positions.
    pub(crate) multiple: HitSets,
}

/// The largest order of h2 that counts as short. For larger orders, the lattice of hits has rank
/// one (see [`long_orders`]).
fn short_order(probes: u32) -> u64 {
    2 * u64::from(probes) * u64::from(probes)
}

/// `f_0 .. f_(k-1)` modulo m.
pub(super) fn offsets(law: &Double) -> Vec<u64> {
    (0..law.probes).map(|i| reduce(law.offsets.at(i), law.bits)).collect()
}

/// The values `b` whose items have fewer than k distinct positions, each with the number of probes
/// that repeat an earlier position of the item. The computation takes about `k^2` steps, and more
/// if many `b` solve one equation.
pub(super) fn repeating(law: &Double) -> Vec<(u64, usize)> {
    let (m, k, f) = (law.bits, u64::from(law.probes), offsets(law));
    let mut repeating = Vec::new();
    for j in 0..k {
        for later in j + 1..k {
            let same = solutions((later - j) % m, subtract(f[j as usize], f[later as usize], m), m);
            repeating.extend(same.into_iter().map(|b| (b, later)));
        }
    }
    repeating.sort_unstable();
    repeating.dedup();
    repeating.chunk_by(|x, y| x.0 == y.0).map(|probes| (probes[0].0, probes.len())).collect()
}

/// The number of different positions of an item with step `b`.
#[cfg(test)]
pub(super) fn different_positions(law: &Double, b: u64) -> usize {
    let (m, f) = (law.bits, offsets(law));
    let mut all: Vec<u64> = (0u64..).zip(f).map(|(j, offset)| add(multiply(j % m, b, m), offset, m)).collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

/// The number of hash pairs that hit one given position. This number is the sum, over all `b`, of
/// the number of distinct positions of an item, because for each of these positions, exactly one
/// `a` moves it to the given position.
pub(super) fn hits_of_one(law: &Double) -> u128 {
    let k = u64::from(law.probes);
    let fewer = repeating(law).into_iter().filter(|&(b, _)| law.step == Step::Any || b > 0);
    let lost: u64 = fewer.map(|(_, fewer)| fewer as u64).sum();
    u128::from(k) * u128::from(law.pairs().second) - u128::from(lost)
}

/// The different positions of a query with `h1 = 0`, in order of their first appearance.
fn query_positions(law: &Double, step: u64, f: &[u64]) -> Vec<u64> {
    let m = law.bits;
    let mut found = Vec::new();
    for (j, &offset) in (0u64..).zip(f) {
        let position = add(multiply(j % m, step, m), offset, m);
        if !found.contains(&position) {
            found.push(position);
        }
    }
    found
}

/// The class of one query, computed by enumerating every pair that hits two of its positions. The
/// computation takes about `k^4` steps. Without offsets, the pair `(h1, h2)` hits the same
/// positions as `(h1 + (k-1) h2, -h2)`. So without offsets, only steps h2 up to m/2 are enumerated,
/// and each counts twice.
pub(super) fn listed(law: &Double, step: u64, weight: u64, f: &[u64]) -> Class {
    let m = law.bits;
    let reversible = law.offsets == Offsets::Linear;
    let positions = query_positions(law, step, f);
    // Two solvers for each distance between two probes: one forwards, one backwards.
    let solvers: Vec<[Solver; 2]> =
        (0..f.len() as u64).map(|apart| [apart % m, subtract(0, apart % m, m)].map(|a| Solver::new(a, m))).collect();
    let mut hits: Vec<(u64, u64, u64)> = Vec::new();
    for (i, &near) in positions.iter().enumerate() {
        for (other, &far) in positions.iter().enumerate().skip(i + 1) {
            let apart = subtract(far, near, m);
            for (j, &at_near) in (0u64..).zip(f) {
                for (later, &at_far) in (0u64..).zip(f).filter(|&(later, _)| later != j) {
                    let solver = solvers[later.abs_diff(j) as usize][usize::from(later < j)];
                    for b in solver.solutions(subtract(apart, subtract(at_far, at_near, m), m)) {
                        let listed = !reversible || 2 * b <= m;
                        if listed && (b > 0 || law.step == Step::Any) {
                            let start = subtract(near, add(multiply(j % m, b, m), at_near, m), m);
                            hits.push((start, b, 1 << i | 1 << other));
                        }
                    }
                }
            }
        }
    }
    hits.sort_unstable();
    let times = |b: u64| if reversible && 2 * b != m { 2 } else { 1 };
    let mut sets: Vec<(u64, u64)> = hits
        .chunk_by(|x, y| (x.0, x.1) == (y.0, y.1))
        .map(|pair| (pair.iter().fold(0, |set, hit| set | hit.2), times(pair[0].1)))
        .collect();
    sets.sort_unstable();
    let multiple = sets.chunk_by(|x, y| x.0 == y.0).map(|same| (same[0].0, same.iter().map(|set| set.1).sum())).collect();
    Class { weight, positions: positions.len() as u32, multiple }
}

/// Items that share a progression of positions with the query: e steps of the query equal f steps
/// of the item, where e is the field `query` and f is the field `item`. `steps` is the number of
/// values `b` for which this holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overlap {
    pub(super) query: u32,
    pub(super) item: u32,
    pub(super) steps: u64,
}

/// Returns the classes of queries of plain double hashing whose step has an order above
/// [`short_order`]. Each class is described by its overlaps.
///
/// A query with step d and an item with step b share positions along `f b = e d`, |e|, |f| < k. All
/// pairs (e, f) with `f b = e d` form a lattice. The index of the lattice in Z^2 is the size of the
/// group generated by b and d, and so at least the order of d. Two linearly independent vectors
/// with |e|, |f| < k would give an index of at most `2 k^2`. So if the order is larger, all these
/// vectors are multiples of one primitive (e, f). The equation `f b = e d` (mod m) has
/// `g = gcd(f, m)` solutions b if g divides `e d`, and no solutions otherwise. Subtracting the
/// solutions that have a shorter primitive vector gives the number of b whose primitive vector is
/// (e, f). This number depends on d only through `gcd(d, lcm of all g)`.
pub(super) fn long_orders(law: &Double) -> Vec<(u64, Vec<Overlap>)> {
    let (m, k) = (law.bits, u64::from(law.probes));
    // The least common multiple of gcd(1, m), .., gcd(k-1, m): a divisor of m.
    let common = (1..k).map(|f| gcd(f, m)).fold(1, |lcm, g| lcm / gcd(lcm, g) * g);
    let mut weights: Vec<(u64, u64)> =
        divisors(common, k).into_iter().map(|d| (d, m / common * crate::exact::modular::totient(common / d))).collect();
    for order in crate::exact::modular::divisors_up_to(m, short_order(law.probes)) {
        let class = gcd(m / order, common);
        if let Some(found) = weights.iter_mut().find(|(d, _)| *d == class) {
            found.1 -= crate::exact::modular::totient(order);
        }
    }
    let mut classes: Vec<(u64, Vec<Overlap>)> = Vec::new();
    for (d, weight) in weights.into_iter().filter(|&(_, weight)| weight > 0) {
        let overlaps = overlaps(m, law.probes, d);
        match classes.iter_mut().find(|(_, known)| *known == overlaps) {
            Some(class) => class.0 += weight,
            None => classes.push((weight, overlaps)),
        }
    }
    classes
}

/// All divisors of a number whose prime factors are below `k`.
fn divisors(n: u64, k: u64) -> Vec<u64> {
    let (mut all, mut rest) = (vec![1], n);
    for p in 2..k {
        let (known, mut power) = (all.len(), 1);
        while rest.is_multiple_of(p) {
            rest /= p;
            power *= p;
            for i in 0..known {
                all.push(all[i] * power);
            }
        }
    }
    all
}

pub(super) fn overlaps(m: u64, probes: u32, d: u64) -> Vec<Overlap> {
    let k = probes as usize;
    let mut steps = vec![0u64; k * k];
    let mut found = Vec::new();
    let with_m: Vec<u64> = (0..probes.into()).map(|f| gcd(f, m)).collect();
    for e in 1..k {
        for (f, &g) in with_m.iter().enumerate().skip(1) {
            let solutions = if multiply(e as u64 % g, d % g, g) == 0 { g } else { 0 };
            // The number of solutions whose primitive vector is shorter.
            let shared = gcd(e as u64, f as u64) as usize;
            let shorter: u64 = (2..=shared).filter(|q| shared.is_multiple_of(*q)).map(|q| steps[e / q * k + f / q]).sum();
            steps[e * k + f] = solutions - shorter;
            if solutions > shorter {
                found.push(Overlap { query: e as u32, item: f as u32, steps: solutions - shorter });
            }
        }
    }
    found
}

/// Returns the class with these overlaps, as sets of positions. Every overlap counts twice: once
/// for f b = e d, and once for f b = -e d, where the items have the same positions in reverse
/// order.
pub(super) fn from_overlaps(probes: u32, weight: u64, overlaps: &[Overlap]) -> Class {
    let mut sets = Vec::new();
    for overlap in overlaps {
        let (e, f) = (overlap.query, overlap.item);
        for i in 0..probes {
            for j in 0..probes {
                let length = ((probes - 1 - i) / e).min((probes - 1 - j) / f) + 1;
                if (i < e || j < f) && length > 1 {
                    sets.push(((0..length).map(|t| 1u64 << (i + t * e)).sum::<u64>(), 2 * overlap.steps));
                }
            }
        }
    }
    sets.sort_unstable();
    let multiple = sets.chunk_by(|x, y| x.0 == y.0).map(|same| (same[0].0, same.iter().map(|set| set.1).sum())).collect();
    Class { weight, positions: probes, multiple }
}

/// The orders of steps that [`long_orders`] does not include.
pub(super) fn short_orders(law: &Double) -> impl Iterator<Item = u64> {
    let first = if law.step == Step::Any { 1 } else { 2 };
    crate::exact::modular::divisors_up_to(law.bits, short_order(law.probes)).filter(move |&order| order >= first)
}

/// The class of queries whose step has this order, which is one of [`short_orders`].
pub(super) fn of_order(law: &Double, order: u64) -> Class {
    let f = vec![0; law.probes as usize];
    listed(law, law.bits / order % law.bits, crate::exact::modular::totient(order), &f)
}

impl Hits {
    /// The hits that result from the sets of a class. Each position is hit by `one` pairs. Pairs
    /// that also hit other positions are subtracted from `single`.
    pub(super) fn of_class(class: &Class, one: u128) -> Hits {
        let positions = class.positions as usize;
        let mut hits = Hits { single: vec![one; positions], several: vec![0; positions + 1] };
        for &(set, count) in &class.multiple {
            hits.several[set.count_ones() as usize] += count;
            (0..positions).filter(|i| set >> i & 1 == 1).for_each(|i| hits.single[i] -= u128::from(count));
        }
        hits
    }

    /// The hits that result from overlaps. If `c_s` counts all runs of s hits, including those
    /// within longer runs, then `c_s - 2 c_(s+1) + c_(s+2)` runs of s hits are not within longer
    /// runs.
    pub(super) fn of_overlaps(probes: u32, one: u128, overlaps: &[Overlap]) -> Hits {
        let k = u64::from(probes);
        let mut hits = Hits { single: vec![one; k as usize], several: vec![0; k as usize + 1] };
        for overlap in overlaps {
            let (e, f, pairs) = (u64::from(overlap.query), u64::from(overlap.item), 2 * overlap.steps);
            let stretches = |s: u64| k.saturating_sub((s - 1) * e) * k.saturating_sub((s - 1) * f);
            for s in (2..=k).take_while(|&s| stretches(s) > 0) {
                hits.several[s as usize] += pairs * (stretches(s) + stretches(s + 2) - 2 * stretches(s + 1));
            }
            // Subtracts the items that hit position i with some probe j, and another position with
            // probe j + f or j - f.
            for i in 0..k {
                let (after, before) = (i + e < k, i >= e);
                let both = if after && before { k.saturating_sub(2 * f) } else { 0 };
                hits.single[i as usize] -= u128::from(pairs * ((u64::from(after) + u64::from(before)) * (k - f) - both));
            }
        }
        hits
    }
}

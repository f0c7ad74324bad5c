//! Recycling filters as Markov chains, in exact fractions: chains over the number of set bits, and
//! chains over the bits themselves. This module shares no formula with the crate.

use super::choose;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

/// A one-phase filter as a Markov chain with one step per item.
pub struct Chain {
    pub bits: u64,
    pub probes: u64,
    pub sigma: u64,
    pub colliding: bool,
    /// The expected number of visits to each state per cycle.
    pub visits: Vec<BigRational>,
}

/// The number of equally likely choices of one item that set `new` of the empty bits, and the
/// number of all choices: all tuples, or all sets.
fn ways(bits: u64, probes: u64, colliding: bool, ones: u64, new: u64) -> (BigInt, BigInt) {
    if !colliding {
        let rest = if new > probes { BigInt::zero() } else { choose(ones, probes - new) };
        return (choose(bits - ones, new) * rest, choose(bits, probes));
    }
    // Tuples whose values among the empty bits are exactly `new` given ones: inclusion and
    // exclusion.
    let onto = (0..=new).fold(BigInt::zero(), |sum, missing| {
        let term = choose(new, missing) * BigInt::from(ones + new - missing).pow(probes as u32);
        if missing % 2 == 0 { sum + term } else { sum - term }
    });
    (choose(bits - ones, new) * onto, BigInt::from(bits).pow(probes as u32))
}

impl Chain {
    pub fn new(bits: u64, probes: u64, sigma: u64, colliding: bool, retaining: bool) -> Chain {
        let mut chain = Chain { bits, probes, sigma, colliding, visits: Vec::new() };
        let none = vec![BigRational::one()];
        chain.visits = chain.visits_from(&if retaining { chain.restart() } else { none });
        chain
    }

    pub fn step(&self, ones: u64, after: u64) -> BigRational {
        if after < ones || after > self.bits {
            return BigRational::zero();
        }
        let (ways, all) = ways(self.bits, self.probes, self.colliding, ones, after - ones);
        BigRational::new(ways, all)
    }

    pub fn rho(&self, ones: u64) -> BigRational {
        self.step(ones, ones)
    }

    fn visits_from(&self, start: &[BigRational]) -> Vec<BigRational> {
        let mut visits: Vec<BigRational> = Vec::new();
        for ones in 0..=self.sigma {
            let begun = start.get(ones as usize).cloned().unwrap_or_else(BigRational::zero);
            let arrived: BigRational = visits.iter().enumerate().map(|(from, visits)| visits * self.step(from as u64, ones)).sum();
            visits.push((begun + arrived) / (BigRational::one() - self.rho(ones)));
        }
        visits
    }

    /// The law of the number of bits of the retained item. It is the fixed point of a transition
    /// matrix with one row per starting state, computed by elimination.
    pub fn restart(&self) -> Vec<BigRational> {
        if !self.colliding {
            return (0..=self.probes).map(|ones| if ones == self.probes { BigRational::one() } else { BigRational::zero() }).collect();
        }
        let most = self.probes.min(self.bits) as usize;
        let rows: Vec<Vec<BigRational>> =
            (0..=most).map(|start| if start == 0 { vec![BigRational::zero(); most + 1] } else { self.kept(start) }).collect();
        // pi (I - P) = 0 with the last equation replaced by sum pi = 1.
        let mut equations: Vec<Vec<BigRational>> = (1..=most)
            .map(|to| (1..=most).map(|from| if from == to { BigRational::one() } else { BigRational::zero() } - &rows[from][to]).collect())
            .collect();
        equations[most - 1] = vec![BigRational::one(); most];
        let mut right = vec![BigRational::zero(); most];
        right[most - 1] = BigRational::one();
        let mut law = solve(equations, right);
        law.insert(0, BigRational::zero());
        law
    }

    /// The law of the number of distinct positions of the item that overflows the filter, for a
    /// cycle that starts with `start` set bits.
    fn kept(&self, start: usize) -> Vec<BigRational> {
        let mut begin = vec![BigRational::zero(); start + 1];
        begin[start] = BigRational::one();
        let visits = self.visits_from(&begin);
        let most = self.probes.min(self.bits);
        (0..=most).map(|distinct| visits.iter().enumerate().map(|(ones, visits)| visits * self.back(ones as u64, distinct)).sum()).collect()
    }

    /// The probability that an item with colliding probes finds `ones` set bits, overflows the
    /// filter, and has `distinct` distinct positions. These positions remain set if the item is
    /// retained.
    pub fn back(&self, ones: u64, distinct: u64) -> BigRational {
        let (drawn, all) = ways(self.bits, self.probes, true, 0, distinct);
        let over: BigInt = (self.sigma - ones + 1..=distinct).map(|new| choose(self.bits - ones, new) * choose(ones, distinct - new)).sum();
        BigRational::new(over, choose(self.bits, distinct)) * BigRational::new(drawn, all)
    }

    /// The rate if cycles begin in a state with the law `start`.
    pub fn rate_from(&self, start: &[BigRational]) -> BigRational {
        let visits = self.visits_from(start);
        let items: BigRational = visits.iter().sum();
        visits.iter().enumerate().map(|(ones, visits)| visits * self.rho(ones as u64)).sum::<BigRational>() / items
    }

    pub fn items(&self) -> BigRational {
        self.visits.iter().sum()
    }

    pub fn rate(&self) -> BigRational {
        let passed: BigRational = self.visits.iter().enumerate().map(|(ones, visits)| visits * self.rho(ones as u64)).sum();
        passed / self.items()
    }
}

fn solve(mut equations: Vec<Vec<BigRational>>, mut right: Vec<BigRational>) -> Vec<BigRational> {
    let n = right.len();
    for column in 0..n {
        let pivot = (column..n).find(|&row| !equations[row][column].is_zero()).expect("a regular system");
        equations.swap(column, pivot);
        right.swap(column, pivot);
        for row in 0..n {
            if row != column && !equations[row][column].is_zero() {
                let factor = &equations[row][column] / &equations[column][column];
                let taken: Vec<_> = equations[column].iter().map(|entry| &factor * entry).collect();
                equations[row].iter_mut().zip(taken).for_each(|(entry, taken)| *entry -= taken);
                let taken = &factor * &right[column];
                right[row] -= taken;
            }
        }
    }
    (0..n).map(|i| &right[i] / &equations[i][i]).collect()
}

/// The long-run rate of two phases by the chain over (active bits, frozen bits), to about 1e-13 by
/// repeated steps.
///
/// If both filters share one hash, an item is one set of positions; otherwise, it is a pair of
/// independent sets.
pub fn joint_rate(bits: u64, probes: u32, sigma: u64, colliding: bool, included: bool, shared: bool) -> f64 {
    let masks: Vec<usize> = match colliding {
        true => {
            (0..bits.pow(probes)).map(|tuple| (0..probes).fold(0, |mask, place| mask | 1 << (tuple / bits.pow(place) % bits))).collect()
        }
        false => (0..1usize << bits).filter(|mask| mask.count_ones() == probes).collect(),
    };
    let states = 1usize << bits;
    let mut of_mask = vec![0.0; states];
    masks.iter().for_each(|&mask| of_mask[mask] += 1.0 / masks.len() as f64);
    let masks: Vec<(usize, f64)> = of_mask.into_iter().enumerate().filter(|(_, weight)| *weight > 0.0).collect();
    let mut law = vec![0.0; states * states];
    law[0] = 1.0;
    for _ in 0..20_000 {
        // With probability one half, a step does nothing, so that the chain has no period.
        let mut next: Vec<f64> = law.iter().map(|weight| weight / 2.0).collect();
        for (state, &weight) in law.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let (active, frozen) = (state / states, state % states);
            for &(mask, chance) in &masks {
                let after = active | mask;
                let to = match u64::from(after.count_ones()) > sigma {
                    true if included => after,
                    true => active,
                    false => after * states + frozen,
                };
                next[to] += weight * chance / 2.0;
            }
        }
        let change: f64 = law.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum();
        law = next;
        if change < 1e-15 {
            break;
        }
    }
    let passes = |filter: usize, mask: usize| mask & !filter == 0;
    law.iter()
        .enumerate()
        .map(|(state, weight)| {
            let (active, frozen) = (state / states, state % states);
            let known: f64 = match shared {
                true => masks.iter().filter(|(mask, _)| passes(active, *mask) || passes(frozen, *mask)).map(|(_, chance)| chance).sum(),
                false => {
                    let one = |filter| masks.iter().filter(|(mask, _)| passes(filter, *mask)).map(|(_, chance)| chance).sum::<f64>();
                    1.0 - (1.0 - one(active)) * (1.0 - one(frozen))
                }
            };
            weight * known
        })
        .sum()
}

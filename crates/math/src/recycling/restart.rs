//! The state at the beginning of a cycle.

use super::Design;
use super::number::Positive;
use super::walk::{Walk, distinct_law};
use alloc::vec;
use alloc::vec::Vec;

/// Returns the distribution of the number of set bits at the beginning of a cycle.
///
/// This number is 0 unless the item that ended the previous cycle is *retained*: inserted into the
/// emptied filter. With distinct probes, a retained item sets k bits. With colliding probes and
/// renewed seeds, a retained item gets new positions. So the number of set bits is the number of
/// distinct positions of a random item, as in equation (10) of Dozier, Salamatian and Rubenstein.
/// With colliding probes and a fixed seed, a retained item keeps its positions. Its positions are
/// more likely to be distinct than those of a random item, because the item made the filter
/// overflow (see D4 in docs/ERRATA.md). In this case, the numbers of distinct positions of
/// successive retained items form a Markov chain. For each number of distinct positions at the
/// start, a recursion ([`Walk`]) gives a row of the transition matrix of this chain. Entry r of the
/// row is `sum over i of visits(i) P(r distinct) P(r distinct positions set more than sigma - i
/// empty bits)`.
pub(crate) fn restart_law<T: Positive>(design: &Design) -> Vec<T> {
    let (bits, probes, sigma, mode) = (design.bits, design.probes, design.sigma, design.mode);
    if !mode.retaining {
        return vec![T::ONE];
    }
    let certain = |ones: u64| {
        let mut law = vec![T::ZERO; ones as usize + 1];
        law[ones as usize] = T::ONE;
        law
    };
    if !mode.colliding {
        return certain(probes.into());
    }
    if !mode.keeps_overflow() {
        return distinct_law(probes, bits);
    }
    let most = u64::from(probes).min(bits);
    let first = sigma + 1 - u64::from(probes);
    let drawn = distinct_law::<T>(probes, bits);
    let overflow: Vec<Vec<T>> = (first..=sigma).map(|ones| overflow_chances(bits, most, sigma, ones)).collect();
    let row = |start: u64| {
        let (mut walk, start) = (Walk::<T>::new(bits, probes, false), certain(start));
        let mut row = vec![T::ZERO; most as usize];
        for ones in 0..=sigma {
            let visits = walk.step(start.get(ones as usize).copied().unwrap_or(T::ZERO)).visits;
            if ones >= first {
                for (r, (sum, chance)) in row.iter_mut().zip(&overflow[(ones - first) as usize]).enumerate() {
                    *sum = sum.plus(visits.times(*chance).times(drawn[r + 1]));
                }
            }
        }
        row
    };
    let mut law = vec![T::ZERO];
    law.extend(stationary((1..=most).map(row).collect()));
    law
}

/// Returns, for r = 1..=most, the probability that r distinct positions set more than
/// `sigma - ones` empty bits. Positions are added one by one, which takes time O(most^2).
fn overflow_chances<T: Positive>(bits: u64, most: u64, sigma: u64, ones: u64) -> Vec<T> {
    let room = (sigma - ones) as usize;
    // `law[i]` is the probability of i new bits so far. The last entry is the probability of more
    // than `room` new bits.
    let mut law = vec![T::ZERO; room + 2];
    law[0] = T::ONE;
    let mut chances = Vec::new();
    for h in 0..most {
        let share = T::ONE.over(T::whole(bits - h));
        for new in (0..=room + 1).rev() {
            let new_bits = new as u64;
            let arrived = match new {
                0 => T::ZERO,
                _ => law[new - 1].times(T::whole((bits - ones).saturating_sub(new_bits - 1))).times(share),
            };
            let stay = match new {
                _ if new == room + 1 => T::ONE,
                _ => T::whole((ones + new_bits).saturating_sub(h)).times(share),
            };
            law[new] = law[new].times(stay).plus(arrived);
        }
        chances.push(law[room + 1]);
    }
    chances
}

/// Returns the stationary distribution of a small Markov chain, computed by elimination without
/// subtraction (Grassmann, Taksar and Heyman 1985). Relative errors stay small, because each
/// probability of the distribution is a ratio of sums of products of transition probabilities (the
/// Markov chain tree theorem).
fn stationary<T: Positive>(mut rows: Vec<Vec<T>>) -> Vec<T> {
    let sum = |numbers: &[T]| numbers.iter().fold(T::ZERO, |sum, &x| sum.plus(x));
    for last in (1..rows.len()).rev() {
        let (above, pivot) = rows.split_at_mut(last);
        let away = sum(&pivot[0][..last]);
        for row in above {
            let there = row[last].over(away);
            row[last] = there;
            row[..last].iter_mut().zip(&pivot[0]).for_each(|(entry, &back)| *entry = entry.plus(there.times(back)));
        }
    }
    let mut law = vec![T::ONE];
    for state in 1..rows.len() {
        let weight = law.iter().zip(&rows).fold(T::ZERO, |weight, (&share, row)| weight.plus(share.times(row[state])));
        law.push(weight);
    }
    let total = sum(&law);
    law.into_iter().map(|share| share.over(total)).collect()
}

//! Samples drawn from the law of the number of set bits.

use super::Occupancy;
use super::thinning::too_costly;
use crate::Result;
use alloc::vec;

/// An upper limit on the number of draws for one sample. This many draws take about a second.
const MAX_DRAWS: f64 = 1e7;

impl Occupancy {
    /// Draws a number of set bits at random, exactly from this distribution. The method simulates
    /// which bits are hit. `words` must return uniform and independent 64-bit words.
    ///
    /// Each throw (an independent probe) uses one random number. A committee (a set of distinct
    /// bits) takes one draw for each of its bits. For a committee of more than half of all bits,
    /// the bits outside the committee are drawn, one draw for each. The simulation uses a few bytes
    /// of memory per bit of the filter.
    ///
    /// ```
    /// use truebloom_math::occupancy::Occupancy;
    /// let mut state = 1u64;
    /// let mut words = || {
    ///     state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    ///     let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ///     let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ///     z ^ (z >> 31)
    /// };
    /// let ones = Occupancy::classic(100, 10, 4)?.sample(&mut words)?;
    /// assert!((4..=40).contains(&ones));
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails with [`Error::LawTooCostly`](crate::Error::LawTooCostly) if the simulation would take
    /// more than about a second. Any one of these reaches this limit: about 10^7 throws
    /// (independent probes), about 2.5 million draws for committees, or about 10^8 bits.
    /// Intersections reach the limit earlier, and so do committees that contain more than half of
    /// the bits.
    pub fn sample(&self, words: &mut impl FnMut() -> u64) -> Result<u64> {
        let all = self.departments.iter().flatten();
        // A small committee's bits are remembered. For a large committee, the bits that it leaves
        // out are marked in a list of all bits.
        let each = |size: u64| match size {
            1 => 1.0,
            _ if size <= self.bits / 2 => 4.0 * size as f64,
            _ => 4.0 * (self.bits - size) as f64 + 0.1 * self.bits as f64 + 1.0,
        };
        let draws: f64 = all.map(|c| c.count as f64 * each(c.size)).sum();
        if draws + 0.05 * self.bits as f64 * (self.departments.len() as f64 + 1.0) > MAX_DRAWS {
            return Err(too_costly(self.bits));
        }
        let bits = self.bits as usize;
        let mut in_all = vec![true; bits];
        for committees in &self.departments {
            let mut hit = vec![false; bits];
            for group in committees {
                for _ in 0..group.count {
                    if group.size <= self.bits / 2 {
                        mark(&mut hit, group.size, words);
                    } else {
                        // The bits that the committee leaves out.
                        let mut out = vec![false; bits];
                        mark(&mut out, self.bits - group.size, words);
                        hit.iter_mut().zip(out).for_each(|(hit, out)| *hit |= !out);
                    }
                }
            }
            in_all.iter_mut().zip(hit).for_each(|(all, hit)| *all &= hit);
        }
        Ok(in_all.into_iter().map(u64::from).sum())
    }
}

/// Marks `size` distinct positions, chosen by Floyd's method (Bentley and Floyd 1987). The choice
/// is exactly uniform.
fn mark(marked: &mut [bool], size: u64, words: &mut impl FnMut() -> u64) {
    let bits = marked.len() as u64;
    if size == 1 {
        marked[below(bits, words) as usize] = true;
        return;
    }
    let mut chosen = alloc::collections::BTreeSet::new();
    for last in bits - size..bits {
        let position = below(last + 1, words);
        let position = if chosen.insert(position) { position } else { last };
        chosen.insert(position);
        marked[position as usize] = true;
    }
}

/// A uniform number below `range` (Lemire 2019). The number is exactly uniform, unless the loop
/// reaches its limit, which practically never happens with random words.
fn below(range: u64, words: &mut impl FnMut() -> u64) -> u64 {
    let threshold = range.wrapping_neg() % range;
    let mut product = 0;
    for _ in 0..64 {
        product = u128::from(words()) * u128::from(range);
        if product as u64 >= threshold {
            break;
        }
    }
    (product >> 64) as u64
}

//! What the counters of one sketch say about its own errors.
//!
//! Hashes of the ideal family put an item into the rows independently of everything that the other
//! items left there. So the chance that the *others* leave at least v in all its counters is, for
//! independent rows, the product over the rows of the share of counters of at least v: exactly,
//! given the others' counters. Only the counters with the item itself can be seen, but those are no
//! smaller, so their shares are no smaller either, and the least v that they make unlikely is no
//! smaller: what is proven for the unseen sketch is proven with the seen one. With two hashes per
//! copy the rows of a copy are not independent, but any two of them are: the product of the two
//! smallest shares of each copy takes the place of the product over all rows. (This includes
//! conservative update: raising all counters by what the item added is an upper bound on what it
//! changed, since an update commutes with adding a constant and keeps the order of sketches.) By
//! Markov the share is at most N / (w v), so with independent rows this is never weaker than the
//! bound from N alone, and much tighter where a few items hold most of N. With two hashes it may be
//! weaker: the bound from N alone (Theorem 9.1) uses all rows. To take the smaller of the two, give
//! each a part of the probability beforehand.

use super::{LN_SLACK, Rows, Shape, ln_target};
use crate::exact::work;
use crate::{Rate, Result, error::out_of_range};
use alloc::format;

impl Shape {
    /// At least the logarithm of the probability that an item of which no hash depends (it was
    /// chosen without knowledge of them) gets at least v from the others in all its rows, where
    /// `at_least[j]` is the number of counters of row j that are at least v. For hashes of the
    /// ideal family.
    ///
    /// Independent rows: the product of the shares. Two hashes: any two rows of a copy are
    /// independent, so the product of the two smallest shares of each copy.
    ///
    /// # Errors
    /// Unless there is one number per row, none above the width.
    pub fn ln_tail(&self, at_least: &[u64]) -> Result<f64> {
        if at_least.len() as u64 != self.all_rows() {
            return out_of_range("rows", at_least.len(), self.all_rows());
        }
        if let Some(found) = at_least.iter().find(|count| **count > self.width) {
            return out_of_range("counters", found, format!("at most the width {}", self.width));
        }
        let ln_share = |&count: &u64| libm::log(count as f64) - libm::log(self.width as f64);
        let ln = match self.rows {
            Rows::Independent => at_least.iter().map(ln_share).sum(),
            Rows::TwoHash => at_least.chunks(self.depth as usize).map(|copy| two_smallest(copy.iter().map(ln_share))).sum::<f64>(),
        };
        Ok((ln + ln.abs().min(1e300) * LN_SLACK * 1e-3).min(0.0))
    }

    /// Whether [`ln_tail`](Shape::ln_tail) proves a probability of at most `delta`.
    ///
    /// # Errors
    /// As for [`ln_tail`](Self::ln_tail).
    pub fn tail_is_below(&self, at_least: &[u64], delta: &Rate) -> Result<bool> {
        let _work = work::begin();
        Ok(self.ln_tail(at_least)? <= ln_target(delta))
    }
}

/// The sum of the two smallest numbers of at most 0; of one, if there is one.
fn two_smallest(numbers: impl Iterator<Item = f64>) -> f64 {
    let (least, second) = numbers.fold(
        (0.0, 0.0),
        |(least, second): (f64, f64), number| {
            if number < least { (number, least) } else { (least, second.min(number)) }
        },
    );
    least + second
}

#[cfg(test)]
mod tests {
    use super::two_smallest;

    #[test]
    fn two_of_none_one_or_more() {
        for (numbers, expected) in
            [(&[][..], 0.0), (&[-3.0], -3.0), (&[-3.0, -1.0, -2.0], -5.0), (&[-1.0, -0.5, -4.0], -5.0), (&[0.0, 0.0], 0.0)]
        {
            assert_eq!(two_smallest(numbers.iter().copied()), expected, "{numbers:?}");
        }
    }
}

//! Bounds on the errors of one sketch, computed from its counters.
//!
//! Hashes of the ideal family choose an item's counters independently of the amounts that other
//! items added to them. Consider a sketch with independent rows, and leave out the item's own
//! count. Given the counters of each row, the probability that the item's counter in this row is at
//! least v is the share of the row's counters that are at least v. So the probability that the
//! *other* items added at least v to all counters of the item is the product of these shares over
//! all rows. The counters that a sketch stores include the item's own count, which can only
//! increase the shares. So the bound computed from the stored counters is also valid. With two
//! hashes per copy, any two rows of a copy are independent, but three rows can depend on each
//! other. So for each copy, the product of its two smallest shares replaces the product over all
//! its rows.
//!
//! The bound also holds for conservative update, which raises a counter only as far as necessary.
//! With conservative update, too, the updates for an item raise the final value of each counter by
//! at most the item's own count. This follows from two properties of an update. First, it commutes
//! with adding a constant to all counters. Second, if every counter of one sketch is at most that
//! of another sketch, the same is true after the update.
//!
//! By Markov's inequality, the share of a row's counters that are at least v is at most N / (w v),
//! where N is the sum of all counts in the stream and w is the width. So with independent rows,
//! this bound is never weaker than the bound from N alone (`Shape::failure_bound`). It is much
//! tighter if a few items make up most of N. With two hashes, this bound can be weaker, because the
//! bound from N alone (Theorem 9.1) uses all rows. To use the smaller of the two bounds, divide the
//! allowed probability of failure between them in advance.

use super::{LN_SLACK, Rows, Shape, ln_target};
use crate::exact::work;
use crate::{Rate, Result, error::out_of_range};
use alloc::format;

impl Shape {
    /// Computes an upper bound on the probability that the estimate of a given item is too high by
    /// v or more, and returns the natural logarithm of this bound. The estimate has such an error
    /// if other items added at least v to each of the item's counters. The item must be chosen
    /// without knowing the hashes, and the hash functions must be of the [ideal
    /// family](super::Family::Ideal).
    ///
    /// `at_least[j]` is the number of counters of row j that are at least v. The function needs
    /// only these numbers, not v itself.
    ///
    /// For each row, take the fraction of its counters that are at least v. For independent rows,
    /// the bound is the product of these fractions. For two-hash rows, any two rows of a copy are
    /// independent, but three rows can depend on each other. The bound therefore multiplies only
    /// the two smallest fractions of each copy.
    ///
    /// # Errors
    /// Fails if the length of `at_least` is not the number of rows, or if a number in it is above
    /// the width.
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

    /// Returns true if the bound of [`ln_tail`](Shape::ln_tail) is at most `delta`. The probability
    /// that the estimate of the given item is too high by v or more is then at most `delta`.
    /// `at_least[j]` is the number of counters of row j that are at least v.
    ///
    /// # Errors
    /// Returns the same errors as [`ln_tail`](Self::ln_tail).
    pub fn tail_is_below(&self, at_least: &[u64], delta: &Rate) -> Result<bool> {
        let _work = work::begin();
        Ok(self.ln_tail(at_least)? <= ln_target(delta))
    }
}

/// The sum of the two smallest numbers in a list of numbers that are at most 0. If there is only
/// one number, the result is that number.
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

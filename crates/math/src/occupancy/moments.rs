//! Moments of orders up to 1,000, computed in integer arithmetic with counted rounding errors.

use super::{Committees, Occupancy};
use crate::error::out_of_range;
use crate::exact::enclosure::{Enclose, Enclosure};
use crate::exact::fixed::{self, Divisor, Product};
use crate::exact::work;
use crate::law::inclusion::{MAX_DIGITS, MAX_WORK};
use crate::{Error, Result};
use alloc::vec::Vec;
use alloc::{format, vec};

/// The highest order of a moment.
const MAX_ORDER: u32 = 1_000;

/// A variance that needs this many digits is below the range of `f64`.
const FAR_DIGITS: u64 = 8_000;

impl Occupancy {
    /// Returns the expected number of set bits, with a relative error below 1e-15. For an
    /// [intersection](Occupancy::intersection) of d departments, the relative error is below
    /// `1e-15 * d`. See equation (44) of Burns, and equations (7) and (13) of Grandi. If the
    /// committees (the sets of distinct bits that items hit) have few different sizes, this takes
    /// microseconds for any number of bits and items.
    ///
    /// # Errors
    /// Fails if the moments would take too much work, for example with very many different
    /// committee sizes.
    pub fn mean(&self) -> Result<f64> {
        let _work = work::begin();
        Ok(self.bits as f64 * self.all_hit(1)?)
    }

    /// Returns the variance of the number of set bits, with a relative error below 1e-15. Let m be
    /// the number of bits, and `h_j` the probability that j given bits are all set. The variance is
    /// `m h_1 + m (m-1) h_2 - m^2 h_1^2`. See equations (8) and (14) of Grandi; equations (43) and
    /// (50) of Burns are misprinted. If the committees (the sets of distinct bits that items hit)
    /// have few different sizes, this takes microseconds for any number of bits and items. The
    /// result is 0 if the variance is below the range of `f64`.
    ///
    /// # Errors
    /// Fails if the moments would take too much work, for example with very many different
    /// committee sizes.
    pub fn variance(&self) -> Result<f64> {
        let _work = work::begin();
        let (least, most) = self.support();
        if least == most {
            return Ok(0.0);
        }
        let m = self.bits as f64;
        // Let U be the number of empty bits, and g_1 the probability that a given bit is empty. The
        // variance is at most E[U^2] <= m^2 g_1 <= m^2 e^(-throws / m). With m at most 2^62 and
        // more than 900 m throws, that is below e^(-745).
        if let [committees] = self.departments.as_slice() {
            let throws: f64 = committees.iter().map(|c| c.count as f64 * c.size as f64).sum();
            if throws > 900.0 * m {
                return Ok(0.0);
            }
        }
        match (Spread { law: self }).fpr() {
            Ok(share) => Ok(m * (m * share.value)),
            // This error means that the variance is below the range of `f64`. The error for too
            // many committee sizes, in contrast, reports fewer digits.
            Err(Error::TooCostly { digits, .. }) if digits >= FAR_DIGITS => Ok(0.0),
            Err(error) => Err(error),
        }
    }

    /// Returns the moment `E[X^r]` of the number X of set bits. The order r is from 1 to 1,000. The
    /// moment is the sum, over j from 1 to r, of `S(r, j)` times the factorial moment of order j.
    /// Here, `S(r, j)` is a Stirling number of the second kind. The relative error is below
    /// `1e-15 * (r + d + 1)` for an [intersection](Occupancy::intersection) of d departments. For
    /// all other laws, d is 1. See equations (10) and (17) of Burns. The work grows with the fourth
    /// power of r.
    ///
    /// # Errors
    /// Fails if `order` is out of range, if the moment is too large for an `f64`, or if computing
    /// it would take too long.
    pub fn raw_moment(&self, order: u32) -> Result<f64> {
        let _work = work::begin();
        check_order(order)?;
        // Computes S(r, j) by S(r+1, j) = j S(r, j) + S(r, j-1).
        let mut stirling = vec![0.0; order as usize + 1];
        stirling[0] = 1.0;
        for _ in 0..order {
            for j in (1..stirling.len()).rev() {
                stirling[j] = j as f64 * stirling[j] + stirling[j - 1];
            }
            stirling[0] = 0.0;
        }
        let mut sum = 0.0;
        for j in 1..=order {
            if u64::from(j) > self.support().1 {
                break;
            }
            sum += stirling[j as usize] * self.factorial_moment(j)?;
        }
        finite(sum, order)
    }

    /// Returns the factorial moment `E[X .. (X-r+1)]` of the number X of set bits. The order
    /// r is from 1 to 1,000. The moment is `m (m-1) .. (m-r+1)` times the probability that r given
    /// bits are all set. Here, m is the number of bits. For an
    /// [intersection](Occupancy::intersection) of d departments, the relative error is below
    /// `1e-15 * (r + d + 1)`. For all other laws, d is 1. See equations (9), (16), (37) and (41) of
    /// Burns.
    ///
    /// # Errors
    /// Fails if `order` is out of range, if the moment is too large for an `f64`, or if computing
    /// it would take too long.
    pub fn factorial_moment(&self, order: u32) -> Result<f64> {
        let _work = work::begin();
        check_order(order)?;
        let hit = self.all_hit(order)?;
        if hit == 0.0 {
            return Ok(0.0);
        }
        // Starts with the smallest factor, so that the product overflows only if the moment does.
        finite((0..u64::from(order)).fold(hit, |product, i| product * self.bits.saturating_sub(i) as f64), order)
    }

    /// Returns the moment `E[C(X, r)]` of the number X of set bits. The order r is from 1 to 1,000,
    /// and `C(X, r)` is a binomial coefficient. This moment is the factorial moment of order r,
    /// divided by `r!`. For an [intersection](Occupancy::intersection) of d departments, the
    /// relative error is below `2e-15 * (r + d + 1)`. For all other laws, d is 1. See equations
    /// (33) and (36) of Burns.
    ///
    /// # Errors
    /// Fails if `order` is out of range, if the moment is too large for an `f64`, or if computing
    /// it would take too long.
    pub fn binomial_moment(&self, order: u32) -> Result<f64> {
        let _work = work::begin();
        check_order(order)?;
        let hit = self.all_hit(order)?;
        if hit == 0.0 {
            return Ok(0.0);
        }
        let factor = |i: u64| self.bits.saturating_sub(i) as f64 / (i + 1) as f64;
        finite((0..u64::from(order)).fold(hit, |product, i| product * factor(i)), order)
    }

    /// The probability that `order` given bits are all set.
    fn all_hit(&self, order: u32) -> Result<f64> {
        if u64::from(order) > self.support().1 {
            return Ok(0.0);
        }
        let mut product = 1.0;
        for committees in &self.departments {
            let hit = AllHit { bits: self.bits, committees, order };
            if !hit.is_certain() {
                product *= hit.fpr()?.value;
            }
        }
        Ok(product)
    }
}

fn check_order(order: u32) -> Result<()> {
    if order == 0 || order > MAX_ORDER {
        return out_of_range("order", order, format!("from 1 to {MAX_ORDER}"));
    }
    Ok(())
}

fn finite(moment: f64, order: u32) -> Result<f64> {
    if moment.is_finite() {
        return Ok(moment);
    }
    out_of_range("order", order, "small enough that the moment is below 1.8e308")
}

/// The probability that r given bits are all hit in one department:
/// `h_r = sum over j of (-1)^j C(r, j) g_j`, where `g_j` is the probability that j given bits all
/// stay empty.
struct AllHit<'a> {
    bits: u64,
    committees: &'a [Committees],
    order: u32,
}

impl AllHit<'_> {
    /// Whether one committee includes all bits. If so, all bits are hit.
    fn is_certain(&self) -> bool {
        self.committees.iter().any(|c| c.size == self.bits)
    }
}

/// The probabilities `g_1 .. g_last`. The probability `g_j` that j given bits all stay empty is
/// `prod_i (C(m-j, k_i) / C(m, k_i))^(c_i)`. Each computed probability is at most [`empty_error`]
/// units in the last place too low. This bound also holds for the probabilities that are rounded
/// to 0.
fn empties(bits: u64, committees: &[Committees], last: u32, limbs: usize) -> Vec<Vec<u64>> {
    let mut product = Product::new(limbs);
    let mut all: Vec<Vec<u64>> = Vec::new();
    let mut power = vec![0; limbs];
    for (group, committees) in committees.iter().enumerate() {
        let mut base = vec![0; limbs];
        for j in 1..=u64::from(last) {
            let at = j as usize - 1;
            // C(m-j, k) / C(m-j+1, k) = (m-j+1-k) / (m-j+1)
            let left = bits.saturating_sub(j - 1);
            match left.checked_sub(committees.size).filter(|rest| *rest > 0) {
                None => power.fill(0),
                Some(rest) => {
                    let divisor = Divisor::new(left);
                    if j == 1 {
                        fixed::set_ratio(&mut base, rest, &divisor)
                    } else {
                        fixed::scale(&mut base, rest, &divisor)
                    }
                    product.power(&mut power, &base, committees.count);
                }
            }
            if group == 0 { all.push(power.clone()) } else { product.multiply(&mut all[at], &power) }
        }
    }
    all
}

/// An upper bound on the errors of the `g_j`, in units in the last place. The base of a power is
/// too low by at most one unit for each of its at most `last` ratios. Its power with the exponent
/// c, a number of committees, is then too low by at most `(last + 1) c`. The error of a product of
/// two numbers below 1 is at most the sum of both errors, plus one.
fn empty_error(committees: &[Committees], last: u32) -> u128 {
    committees.iter().map(|c| (u128::from(last) + 1).saturating_mul(c.count).saturating_add(1)).fold(0, u128::saturating_add)
}

/// Checks that one attempt does not take too many word operations.
fn check_cost(committees: &[Committees], order: u32, bits: f64) -> Result<()> {
    let limbs = bits / 64.0;
    let steps: f64 = committees.iter().map(|c| 2.0 * f64::from(128 - c.count.leading_zeros())).sum();
    let work = f64::from(order) * (steps * limbs * limbs + 10.0 * limbs);
    if bits < MAX_DIGITS && work < MAX_WORK {
        return work::spend("the moments of the number of set bits", work + 20.0 * f64::from(order) * steps);
    }
    Err(Error::TooCostly { probes: order, digits: bits.min(1e18) as u64 })
}

impl Enclose for AllHit<'_> {
    /// Computes the sum divided by `2^r`. The coefficients `C(r, j) / 2^r` come from halving rows
    /// of Pascal's triangle. Their errors together stay below `(r + 2)^2` units (see the
    /// coefficients of [`inclusion`](crate::law::inclusion)). Each term adds the error of `g_j`,
    /// and one unit for the product, because no coefficient exceeds 1.
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let order = self.order as usize;
        let empties = empties(self.bits, self.committees, self.order, limbs);
        let mut row = vec![vec![0; limbs]; order + 1];
        row[0][limbs - 1] = 1 << 63;
        row[1][limbs - 1] = 1 << 63;
        for step in 1..order {
            for j in (0..=step + 1).rev() {
                let (before, from_j) = row.split_at_mut(j);
                let carry = before.last().is_some_and(|before| fixed::add(&mut from_j[0], before));
                fixed::halve(&mut from_j[0], carry);
            }
        }
        let mut product = Product::new(limbs);
        let mut sums = [vec![0; limbs + 1], vec![0; limbs + 1]];
        fixed::add(&mut sums[0], &row[0]);
        for (i, empty) in empties.iter().enumerate() {
            let mut term = row[i + 1].clone();
            product.multiply(&mut term, empty);
            fixed::add(&mut sums[(i + 1) % 2], &term);
        }
        let [mut sum, negative] = sums;
        if fixed::subtract(&mut sum, &negative) {
            sum.fill(0);
        }
        let r = u128::from(self.order);
        let error = (r + 2) * (r + 2) + r * (empty_error(self.committees, self.order).saturating_add(1));
        Ok(Enclosure::around(sum, error, error, i64::from(self.order) - 64 * limbs as i64))
    }

    fn bits_needed(&self) -> f64 {
        let r = f64::from(self.order);
        let throws: f64 = self.committees.iter().map(|c| c.count as f64 * c.size as f64).sum();
        let share = -libm::expm1(-throws / self.bits as f64);
        r * (1.0 - libm::log2(share)) + libm::log2(empty_error(self.committees, self.order) as f64) + 2.0 * libm::log2(r + 2.0)
    }

    fn denominator_bits(&self) -> f64 {
        f64::INFINITY
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        check_cost(self.committees, self.order, bits)
    }
}

/// The variance divided by m^2: `h_1 / m + (1 - 1/m) h_2 - h_1^2`.
struct Spread<'a> {
    law: &'a Occupancy,
}

impl Enclose for Spread<'_> {
    /// Let `e` be the error of `g_1` and `g_2` in a department. Then `h_1 = 1 - g_1` is wrong by at
    /// most `e + 1`, and `h_2 = 1 - 2 g_1 + g_2` by at most `2 e + 1`. A product over c departments
    /// is wrong by at most the sum of its factors' errors, plus one for each factor. A square is
    /// wrong by at most twice the error of its base.
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let law = self.law;
        let mut product = Product::new(limbs);
        let mut error = 0u128;
        let mut hits: Option<[Vec<u64>; 2]> = None;
        for committees in &law.departments {
            let mut empties = empties(law.bits, committees, 2, limbs);
            // Without a committee every bit stays empty, so X is constant.
            let (Some(second), Some(mut first)) = (empties.pop(), empties.pop()) else { continue };
            let mut both = first.clone();
            // The complement of x is 2^B - 1 - x, one unit too low. The difference (1 - g_1) -
            // (g_1 - g_2) can be negative only by rounding.
            first.iter_mut().for_each(|word| *word = !*word);
            let mut difference = both.clone();
            if fixed::subtract(&mut difference, &second) {
                difference.fill(0);
            }
            both.copy_from_slice(&first);
            if fixed::subtract(&mut both, &difference) {
                both.fill(0);
            }
            error = error.saturating_add(empty_error(committees, 2).saturating_mul(3).saturating_add(3));
            hits = Some(match hits {
                None => [first, both],
                Some([mut one, mut two]) => {
                    product.multiply(&mut one, &first);
                    product.multiply(&mut two, &both);
                    [one, two]
                }
            });
        }
        let [first, mut second] = hits.unwrap_or_else(|| [vec![0; limbs], vec![0; limbs]]);
        let whole = Divisor::new(law.bits);
        let mut square = first.clone();
        product.square(&mut square);
        fixed::scale(&mut second, law.bits - 1, &whole);
        let mut sum = first;
        fixed::scale(&mut sum, 1, &whole);
        sum.push(0);
        fixed::add(&mut sum, &second);
        if fixed::subtract(&mut sum, &square) {
            sum.fill(0);
        }
        let error = error.saturating_mul(4).saturating_add(4);
        Ok(Enclosure::around(sum, error, error, -64 * limbs as i64))
    }

    fn bits_needed(&self) -> f64 {
        let throws: f64 = self.law.departments.iter().map(|list| empty_error(list, 2) as f64).sum();
        3.0 * libm::log2(self.law.bits as f64) + libm::log2(throws + 1.0)
    }

    fn denominator_bits(&self) -> f64 {
        f64::INFINITY
    }

    /// Checks the cost, and fails if [`FAR_DIGITS`] or more digits are needed. This many digits are
    /// needed only for a very full filter, whose variance is below the range of `f64`.
    fn check_cost(&self, bits: f64) -> Result<()> {
        if bits < FAR_DIGITS as f64 {
            return self.law.departments.iter().try_for_each(|committees| check_cost(committees, 2, bits));
        }
        Err(Error::TooCostly { probes: 2, digits: bits as u64 })
    }
}

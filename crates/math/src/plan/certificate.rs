//! Certificates, which let anyone check a plan for a standard filter without this library. The file
//! docs/CERTIFICATE.md describes the format and contains the proofs.
//!
//! A certificate consists of integers, each with a bound on its error. A checker recomputes each of
//! these numbers independently (for example, `crates/math/tests/reference/check_certificate.py`
//! does so in plain Python).

mod exclusion;
mod fill_tail;

use alloc::vec::Vec;
pub use exclusion::{Excluded, Smaller};
pub use fill_tail::{OneFilter, TailBound};

use crate::error::check_confidence;
use crate::error::out_of_range;
use crate::exact::enclosure::{Enclose, Enclosure, HashFloor};
use crate::exact::work;
use crate::law::inclusion::{Inclusion, Items, Query};
use crate::{Error, Rate, Result, Variant};
use core::cmp::Ordering;
use core::fmt;

/// A claim about a standard filter.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The number of bits, m.
    pub bits: u64,
    /// The number of distinct items, n, which is at least 1.
    pub items: u64,
    /// The number of probes, k.
    pub probes: u32,
    /// The claimed rate, p. The claim says that the expected rate plus `items / 2^hash_bits` is at
    /// most p. The second term is for keys with equal hashes.
    pub rate: Rate,
    /// The width of a key's hash in bits. Two different keys can have the same hash. Such keys add
    /// at most `items / 2^hash_bits` to the rate.
    pub hash_bits: u32,
    /// Whether the claim also says that no smaller filter is enough.
    pub smallest: Smallest,
    /// A claimed lower bound on the probability that a single filter with a random seed meets the
    /// rate p. `None` if the claim says nothing about single filters.
    pub confidence: Option<f64>,
}

/// The claim, if any, that no smaller filter is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smallest {
    /// No claim.
    NotClaimed,
    /// Every smaller standard filter with this number of probes has too high a rate: its expected
    /// rate plus `items / 2^hash_bits` is above the claimed rate. The second term is for keys with
    /// equal hashes.
    ForTheseProbes,
    /// Every smaller standard filter, with any number of probes, has too high a rate.
    ForAnyProbes,
}

/// A claim with its evidence.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Certificate {
    /// The claim.
    pub claim: Claim,
    /// The evidence that the filter of the claimed size has a low enough expected rate.
    pub mean: Mean,
    /// The evidence that a filter with one bit less has too high a rate. It is `None` if the claim
    /// says nothing about smaller filters, or if the filter has only one bit.
    pub smaller: Option<Smaller>,
    /// The evidence for the claimed confidence. It is `None` if no confidence is claimed.
    pub one_filter: Option<OneFilter>,
}

/// The evidence that an expected rate is low enough.
#[derive(Clone, Debug)]
pub enum Mean {
    /// The evidence is an alternating sum for the expected rate. The sum is precise enough to prove
    /// that the expected rate plus `items / 2^hash_bits` is at most the claimed rate. The second
    /// term is for keys with equal hashes.
    Terms(Sum),
    /// The evidence is a comparison of exact fractions, which are small enough for a checker to
    /// compare. The expected rate, plus `items / 2^hash_bits` for keys with equal hashes, is equal
    /// or extremely close to the claimed rate. A rounded sum would therefore not show which of the
    /// two is larger.
    Exact,
}

/// An alternating sum for the expected rate f. It follows from the inclusion-exclusion principle,
/// applied to the positions of a query.
///
/// ```text
/// f / 2^k = sum over j = 0..k of (-1)^j c_j g_j / 2^k
/// ```
///
/// Here, k is the number of probes, and `g_j` is the probability that j given bits are all 0. A
/// query's k positions can repeat. `c_j` is the average number of ways to choose j different bits
/// among the bits at these positions. Each term is stored as an integer multiple of `2^-precision`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sum {
    /// The unit of the terms is `2^-precision`.
    pub precision: u64,
    /// The absolute values of the terms `c_j g_j / 2^k` of this sum, for j = 0, 1, .., in units of
    /// `2^-precision`. Each term is rounded down, by at most `error` units. Terms that are missing
    /// at the end of the list are 0.
    pub terms: Vec<Whole>,
    /// The largest error of a term, in units of `2^-precision`.
    pub error: u128,
    /// The signed sum of the terms, or 0 if that is negative.
    total: Whole,
}

/// A non-negative integer of any size.
#[derive(Clone, PartialEq, Eq)]
pub struct Whole(Vec<u64>);

impl fmt::Display for Whole {
    /// Writes the number as `0x` and hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.0.iter().rev().skip_while(|word| **word == 0);
        write!(f, "{:#x}", words.next().unwrap_or(&0))?;
        words.try_for_each(|word| write!(f, "{word:016x}"))
    }
}

impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Certificate {
    /// Creates the certificate for a claim. This usually takes about as long as computing a few
    /// rates. For a filter with only a few items, it takes a few milliseconds, because the rates
    /// with many different numbers of probes are then computed one by one.
    ///
    /// Sometimes, the tail bounds that fit in a certificate prove only a confidence slightly below
    /// the requested one. In this case, `claim.confidence` in the certificate is the confidence
    /// that these bounds prove.
    ///
    /// # Errors
    /// Fails if a parameter is out of range. Fails with [`Error::NotCertified`] if the claim is
    /// false, or if no certificate of reasonable size proves it.
    pub fn new(claim: Claim) -> Result<Certificate> {
        let _work = work::begin();
        Variant::Standard.check(claim.bits, claim.probes)?;
        if claim.items == 0 {
            return out_of_range("items", 0, "at least 1");
        }
        if !(1..=128).contains(&claim.hash_bits) {
            return out_of_range("hash_bits", claim.hash_bits, "from 1 to 128");
        }
        let mean = claim.mean()?;
        let smaller = exclusion::smaller(&claim)?;
        let one_filter = match claim.confidence {
            Some(confidence) => {
                check_confidence(confidence)?;
                Some(fill_tail::one_filter(&claim, confidence)?)
            }
            None => None,
        };
        let confidence = one_filter.as_ref().map(|tail| tail.confidence);
        Ok(Certificate { claim: Claim { confidence, ..claim }, mean, smaller, one_filter })
    }
}

impl Claim {
    fn floor(&self) -> HashFloor {
        HashFloor { items: self.items, hash_bits: self.hash_bits }
    }

    fn mean(&self) -> Result<Mean> {
        let law = standard(self.bits, self.items, self.probes);
        match decide(&law, self)? {
            (Some(Ordering::Less | Ordering::Equal), sum) => Ok(Mean::Terms(sum)),
            (None, _) if law.at_most(&self.rate, Some(self.floor()))? => Ok(Mean::Exact),
            _ => Err(Error::NotCertified { claim: "that the expected rate is at most the requested rate" }),
        }
    }
}

fn standard(bits: u64, items: u64, probes: u32) -> Inclusion {
    Inclusion { query: Query::Independent, placement: Items::Independent, bits, items, probes }
}

/// The number of binary digits of precision beyond those that cancel in the sum. With this many
/// spare digits, most decisions need only one attempt.
const SPARE: f64 = 64.0;

/// The largest number of binary digits that is tried. Beyond this, exact fractions decide.
const MOST_DIGITS: f64 = 20_000.0;

/// Computes the sum with enough precision to decide whether the rate, plus the bound on equal
/// hashes, is at most the requested rate. The decision is `None` if no precision is enough.
fn decide(law: &Inclusion, claim: &Claim) -> Result<(Option<Ordering>, Sum)> {
    let mut digits = law.bits_needed() + SPARE;
    loop {
        law.check_cost(digits)?;
        let limbs = (libm::ceil(digits / 64.0) as usize).max(2);
        let (sum, mut enclosure) = terms(law, limbs)?;
        enclosure.add_floor(claim.floor());
        let order = enclosure.compare_rate(&claim.rate);
        if order.is_some() || digits > MOST_DIGITS {
            return Ok((order, sum));
        }
        digits *= 2.0;
    }
}

/// Computes the terms, and the bracket that they prove.
fn terms(law: &Inclusion, limbs: usize) -> Result<(Sum, Enclosure)> {
    let mut terms = Vec::new();
    let total = law.sum(limbs, |term| terms.push(Whole(term.to_vec())));
    let error = law.term_error();
    let all = error * u128::from(law.probes + 1);
    let enclosure = Enclosure::around(total.clone(), all, all, i64::from(law.probes) - 64 * limbs as i64);
    Ok((Sum { precision: 64 * limbs as u64, terms, error, total: Whole(total) }, enclosure))
}

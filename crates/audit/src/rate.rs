//! The rate of a library's arithmetic, computed by a formula (a law) if one applies.

use crate::arithmetic::chunk_bits;
use crate::{Arithmetic, Profile, Size};
use truebloom_math::occupancy::Occupancy;
use truebloom_math::{Error, Fpr, Method, Rate, Result, Variant};

/// Returns the expected rate of a library's filter, computed from a law of its arithmetic; `None`
/// if no law applies and only a simulation gives an answer.
///
/// * Slices by chunks of a digest: each position of a slice has one of two probabilities. So the
///   rate of a slice is a sum of two terms, and the slices are independent. Only the hash is
///   idealised; the rate is evaluated in `f64` with a bound on the rounding errors
///   ([`Method::Validated`]).
/// * Split blocks: the number of items in a block is binomial, which gives
///   `sum_i (-1)^i C(8, i) (1 - (1 - (31/32)^i) / blocks)^items`, computed as a sum of positive
///   terms over the number of items per block. The 8 positions in a block come from 32 bits by
///   multiplications and are assumed to be independent. This is an approximation, and marked as
///   one.
/// * Independent positions: the exact law of the standard filter.
/// * One word per probe, and generators that expand one word: `k` independent positions
///   ([`ideal`]). This is an approximation, and marked as one.
/// * Progressions that are reduced modulo 2^64 and then modulo the bits have no law here. The law
///   of double hashing modulo the bits does *not* apply, because the wrap at 2^64 breaks
///   progressions. At 28,800 bits, 20 probes and 1,000 items, that law would give six times the
///   rate.
/// * Powers of DCSO's multiplier have no law here. The multiplier is -1469 modulo 2^64. It is so
///   small that, given one position, only about a thousand values are possible for the next. At 958
///   bits the rate is 8% higher than with independent positions; above some 10,000 bits, there is
///   no visible difference.
///
/// Every rate includes the probability that a key has the same hash as an item
/// ([`Arithmetic::hash_floor`]). Such a key passes, and other keys pass according to the law. The
/// law for chunks of a digest already includes this probability.
///
/// Fails if the numbers are out of range, or if the law would take too long to compute.
pub fn rate(profile: &Profile, size: Size, items: u64) -> Result<Option<Fpr>> {
    if size.probes == 0 {
        return Ok(Some(Fpr::ONE));
    }
    Ok(match profile.arithmetic {
        Arithmetic::SlicesByChunks => Some(slices(size, items)),
        Arithmetic::SplitBlock => Some(with_floor(split_block(size, items), profile.arithmetic.hash_floor(size, items))),
        Arithmetic::Words32 | Arithmetic::Rotation | Arithmetic::Congruential => {
            let mut fpr = ideal(size, items)?;
            fpr.method = Method::Approximation("independent positions");
            Some(with_floor(fpr, profile.arithmetic.hash_floor(size, items)))
        }
        Arithmetic::Independent => Some(with_floor(ideal(size, items)?, profile.arithmetic.hash_floor(size, items))),
        Arithmetic::Powers
        | Arithmetic::ProgressionOf63Bits
        | Arithmetic::ProgressionOf64Bits
        | Arithmetic::SignedProgression
        | Arithmetic::ProgressionModuloPrime
        | Arithmetic::FourHashes => None,
    })
}

/// Returns the share of a library's filters whose own rate is at most `asked`. The result is a
/// lower bound on the probability over seeds or keys. It comes from the distribution of the number
/// of set bits for independent positions, and includes the probability of equal hashes. If that
/// distribution can be summed (within half a second), the bound is within 1e-9 of the share;
/// otherwise it comes from bounds on the tails.
///
/// The average does not give this share: if the average is the requested rate, about half of the
/// filters exceed it. `None` if positions are not independent, because then the set bits do not
/// determine a filter's rate.
///
/// Fails if the numbers are out of range, or if the law would take too long to compute.
pub fn share(profile: &Profile, size: Size, items: u64, asked: &Rate) -> Result<Option<f64>> {
    match profile.arithmetic {
        Arithmetic::Words32 | Arithmetic::Rotation | Arithmetic::Congruential | Arithmetic::Independent => {}
        _ => return Ok(None),
    }
    let (floor, rate) = (profile.arithmetic.hash_floor(size, items), asked.to_f64());
    // Without probes, every key passes.
    if size.probes == 0 || floor >= rate {
        return Ok(Some(0.0));
    }
    // The difference has a rounding error of an ulp, so it is used only if the floor matters.
    let left = if floor < 1e-15 * rate { *asked } else { Rate::try_from((rate - floor).next_down())? };
    let law = Variant::Standard.law(size.bits, size.probes)?;
    let keeps = |ones: u64| Ok::<bool, Error>(law.fpr_at_fill(&[ones])?.is_some_and(|rate| rate.upper <= left.to_f64()));
    // The rate of a filter rises with its set bits. This finds the largest number of set bits whose
    // rate is at most the requested rate.
    let (mut most, mut too_many) = (0, size.bits);
    while too_many - most > 1 {
        let middle = most + (too_many - most) / 2;
        if keeps(middle)? { most = middle } else { too_many = middle }
    }
    let fill = Occupancy::standard(size.bits, items, size.probes)?;
    Ok(Some(fill.cdf(most)?.lower))
}

/// Returns the exact rate of the same number of independent positions in the same number of bits.
/// This is the rate that a library's sizes would give with a perfect scheme.
pub fn ideal(size: Size, items: u64) -> Result<Fpr> {
    if size.probes == 0 {
        return Ok(Fpr::ONE);
    }
    Variant::Standard.fpr(size.bits, items, size.probes)
}

/// The rate `floor + (1 - floor) rate`.
fn with_floor(fpr: Fpr, floor: f64) -> Fpr {
    // If the floor is far below the last digit of the rate, it is not added, so that the bracket
    // stays narrow.
    if floor < 1e-18 * fpr.lower {
        return fpr;
    }
    let plus = |rate: f64| floor + (1.0 - floor) * rate;
    let (lower, upper) = (plus(fpr.lower) * (1.0 - ROUNDING), (plus(fpr.upper) * (1.0 + ROUNDING)).min(1.0));
    let value = plus(fpr.value);
    let mut total = fpr;
    (total.value, total.lower, total.upper) = (value, lower, upper);
    (total.ln, total.ln_lower, total.ln_upper) = (libm::log(value), libm::log(lower), libm::log(upper));
    total
}

/// The rate of slices that are selected by chunks. For a slice of s bits and a chunk of c bits,
/// taken modulo s, `2^c mod s` of the bits have the probability `ceil(2^c / s) / 2^c`, and the
/// others `floor(2^c / s) / 2^c`.
fn slices(size: Size, items: u64) -> Fpr {
    let slice = size.bits / u64::from(size.probes);
    let chunk = chunk_bits(slice);
    let words = 1u128 << chunk;
    let (share, more) = (words / u128::from(slice), words % u128::from(slice));
    // The probability that a probe examines a bit of this kind, times the probability that an item
    // has set it.
    let part = |bits: u128, share: u128| {
        let chance = share as f64 / words as f64;
        bits as f64 * chance * -libm::expm1(items as f64 * libm::log1p(-chance))
    };
    let one = part(more, share + 1) + part(u128::from(slice) - more, share);
    validated(f64::from(size.probes) * libm::log(one), Method::Validated)
}

fn split_block(size: Size, items: u64) -> Fpr {
    let blocks = (size.bits / 256) as f64;
    let mean = items as f64 / blocks;
    // Binomial weights are added outward from the mean, until they are negligible.
    let passes = |held: f64| libm::pow(-libm::expm1(held * libm::log(31.0 / 32.0)), 8.0);
    let (mut rate, spread) = (0.0, 40.0 + 12.0 * mean.sqrt());
    let (first, last) = ((mean - spread).max(0.0).floor() as u64, ((mean + spread) as u64).min(items));
    for held in first..=last {
        rate += truebloom_math::binomial::probability(held, items, 1.0 / blocks) * passes(held as f64);
    }
    validated(libm::log(rate), Method::Approximation("independent words of a block"))
}

/// A margin for up to about a thousand roundings, each with a relative error of 2^-52.
const ROUNDING: f64 = 1e-11;

fn validated(ln: f64, method: Method) -> Fpr {
    Fpr::from_ln(ln - ROUNDING, (ln + ROUNDING).min(0.0), method)
}

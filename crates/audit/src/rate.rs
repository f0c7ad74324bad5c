//! The rate of a library's arithmetic, computed by a formula if there is one.

use crate::arithmetic::chunk_bits;
use crate::{Arithmetic, Profile, Size};
use truebloom_math::occupancy::Occupancy;
use truebloom_math::{Error, Fpr, Method, Rate, Result, Variant};

/// Returns the expected rate of a library's filter, by a formula for the positions that the library
/// computes. Returns `None` if there is no such formula; [`simulate`](fn@crate::simulate) then
/// estimates the rate.
///
/// * One slice for each probe, with positions from chunks of a digest
///   ([`Arithmetic::SlicesByChunks`]): each position of a slice has one of two probabilities, so
///   the rate of a slice is a sum of two terms. The slices are independent. The only assumption is
///   an ideal hash function. The rate is evaluated in `f64`, with a bound on the rounding errors
///   ([`Method::Validated`]).
/// * Split blocks ([`Arithmetic::SplitBlock`]): the number of items in a block has a binomial
///   distribution. The rate is therefore
///   `sum_i (-1)^i C(8, i) (1 - (1 - (31/32)^i) / blocks)^items`, where `blocks` is the number of
///   blocks and `C` is the binomial coefficient. The function computes the rate as a sum of
///   positive terms instead: one term for each number of items in a block. The 8 positions in a
///   block come from 32 bits, but the formula treats these positions as independent. The result is
///   therefore marked as an approximation.
/// * Independent positions: the rate is computed by the exact formula for the standard filter.
/// * A separate word for each probe, or a generator that computes all positions from one word: the
///   formula treats the positions as independent ([`ideal`]). The result is therefore marked as an
///   approximation.
/// * Progressions `h1 + i h2` that are reduced modulo 2^64 and then modulo the number of bits:
///   there is no formula. The known formula for double hashing requires that the progression is
///   reduced only modulo the number of bits. This formula does *not* apply here, because the
///   reduction modulo 2^64 breaks the progression. For 28,800 bits, 20 probes and 1,000 items, the
///   formula for double hashing would give six times the real rate.
/// * Hashes that are repeatedly multiplied by DCSO's multiplier: there is no formula. The
///   multiplier is -1469 modulo 2^64. Its absolute value is so small that, after a given position,
///   only about a thousand positions are possible for the next probe. With 958 bits, the rate is 8%
///   higher than with independent positions. Above about 10,000 bits, the difference is not
///   visible.
///
/// Every rate includes the probability that a key has the same hash as an item
/// ([`Arithmetic::hash_floor`]), because such a key always passes.
///
/// Fails if the numbers are out of range, or if the computation would take too long.
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

/// Returns a lower bound on the share of a library's filters whose own rate is at most `asked`. The
/// share is taken over filters with different seeds or different keys. The bound is computed from
/// the distribution of the number of set bits for independent positions, and includes the effect of
/// equal hashes. If the distribution can be summed within half a second, the bound is within 1e-9
/// of the share. Otherwise, the bound is computed from bounds on the tails of the distribution.
///
/// The average rate does not determine this share. If the average rate of all filters is equal to
/// the requested rate, the rates of about half of the filters are above the requested rate. Returns
/// `None` if positions are not independent, because then the set bits do not determine a filter's
/// rate.
///
/// Fails if the numbers are out of range, or if the computation would take too long.
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

/// Returns the exact rate of a filter of this size with independent positions. A library's filter
/// of this size would have this rate if its positions were independent.
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

//! The numbers of bits and probes, with each library's own order of rounding. Floating point is
//! used on purpose, because the libraries use it.

use crate::{Size, out_of_range};
use std::f64::consts::LN_2;
use truebloom_math::{Plan, Rate, Result, Target};

const LN_2_SQUARED: f64 = LN_2 * LN_2;

/// A size from a floating-point number of bits. Casts saturate, so the check after them finds
/// numbers that are too large.
fn size(bits: f64, probes: f64) -> Result<Size> {
    Ok(Size { bits: bits as u64, probes: probes as u32 })
}

fn round_up(bits: f64, unit: u64) -> f64 {
    (bits as u64).div_ceil(unit).saturating_mul(unit) as f64
}

/// Guava truncates the number of bits, and computes the number of probes from it with rounding.
/// Guava then uses all bits of the words that hold these bits.
pub(super) fn guava(items: f64, rate: f64) -> Result<Size> {
    let bits = (-items * libm::log(rate) / LN_2_SQUARED).trunc();
    // Java rounds halves up.
    let probes = (bits / items * LN_2 + 0.5).floor().max(1.0);
    size(round_up(bits.max(1.0), 64), probes)
}

/// RedisBloom without scaling truncates the number of bits, and then rounds it up to whole words.
/// RedisBloom rounds the number of probes up. The constants have 15 digits, as in RedisBloom.
#[expect(clippy::approx_constant, reason = "the library's own digits")]
pub(super) fn redisbloom(items: f64, rate: f64) -> Result<Size> {
    const DENOMINATOR: f64 = 0.480453013918201;
    let per_item = -(libm::log(rate) / DENOMINATOR);
    let bits = (items * per_item).trunc().max(1.0);
    size(round_up(bits, 64), (0.693147180559945 * per_item).ceil())
}

/// truebloom uses its own plan, with the default guarantee.
pub(super) fn truebloom(items: f64, rate: f64) -> Result<Size> {
    let plan = Plan::new(&Target::new().items(items as u64).rate(Rate::try_from(rate)?))?;
    Ok(Size { bits: plan.bits, probes: plan.probes })
}

/// RedisBloom with scaling sizes the first filter of its chain for half the rate.
pub(super) fn redisbloom_scaling(items: f64, rate: f64) -> Result<Size> {
    redisbloom(items, rate * 0.5)
}

/// bits-and-blooms, DCSO and poppy use the textbook formulas. These libraries round the number of
/// bits in different ways.
pub(super) fn bits_and_blooms(items: f64, rate: f64) -> Result<Size> {
    let bits = (-items * libm::log(rate) / libm::pow(LN_2, 2.0)).ceil();
    size(bits.max(1.0), (LN_2 * bits / items).ceil().max(1.0))
}

/// DCSO and poppy take the ceiling of the negative number, which rounds the number of bits down.
pub(super) fn dcso(items: f64, rate: f64) -> Result<Size> {
    let bits = (items * libm::log(rate) / libm::pow(LN_2, 2.0)).ceil().abs();
    size(bits.max(1.0), (LN_2 * bits / items).ceil())
}

/// pybloom-live uses one slice per probe.
pub(super) fn pybloom_live(items: f64, rate: f64) -> Result<Size> {
    // Python computes the logarithm to base 2 as a quotient of two logarithms, which is not always
    // exact for powers of two.
    let slices = (libm::log(1.0 / rate) / libm::log(2.0)).ceil();
    let bits = ((items * libm::log(rate).abs()) / (slices * libm::pow(LN_2, 2.0))).ceil();
    size(slices * bits, slices)
}

/// rbloom truncates bits and probes, and then rounds the bits up to whole bytes.
pub(super) fn rbloom(items: f64, rate: f64) -> Result<Size> {
    let bits = -items * libm::log(rate) / libm::pow(LN_2, 2.0);
    size(round_up(bits.trunc().max(1.0), 8), ((bits / items) * LN_2).trunc())
}

/// bloomfilter uses whole bytes, and rounds the probes.
pub(super) fn bloomfilter(items: f64, rate: f64) -> Result<Size> {
    let bits = 8.0 * (items * libm::log(rate) / (-8.0 * LN_2_SQUARED)).ceil();
    size(bits, (bits / items * LN_2).round().max(1.0))
}

/// fastbloom rounds the size up to whole bytes, and then to whole words. fastbloom computes the
/// number of probes from the number of words, and rounds it.
pub(super) fn fastbloom(items: f64, rate: f64) -> Result<Size> {
    let bytes = (items * libm::log(rate) / (-8.0 * LN_2_SQUARED)).ceil();
    let bits = round_up((8.0 * bytes).max(64.0), 64);
    size(bits, (LN_2 * bits / items).round().max(1.0))
}

/// BIP37 uses whole bytes, at most 36,000, and at most 50 probes. The bits per item are truncated
/// before they are multiplied by ln 2.
pub(super) fn bip37(items: f64, rate: f64) -> Result<Size> {
    let bits = (-1.0 / LN_2_SQUARED * items * libm::log(rate)).trunc().min(288_000.0);
    let bytes = (bits / 8.0).trunc();
    if bytes < 1.0 {
        return out_of_range(
            "rate",
            rate,
            "low enough for a filter of at least one byte: this library would make a filter without bits, which every key passes",
        );
    }
    size(8.0 * bytes, ((8.0 * bytes / items).trunc() * LN_2).trunc().min(50.0))
}

/// Parquet in arrow-rs uses blocks of 256 bits, whose number is a power of two, and 8 probes. A
/// filter has at most 128 MiB.
pub(super) fn parquet(items: f64, rate: f64) -> Result<Size> {
    let bits = (-8.0 * items / libm::log(1.0 - libm::pow(rate, 1.0 / 8.0))).trunc();
    let bytes = (bits as u64 / 8).clamp(32, 128 << 20).next_power_of_two();
    Ok(Size { bits: 8 * bytes, probes: 8 })
}

/// Cassandra has a table of `(1 - exp(-k/b))^k`, to three digits. Cassandra takes the smallest
/// whole number of bits per item, up to 20, for which the table has a low enough rate. Then
/// Cassandra takes the smallest number of probes that reaches the rate.
pub(super) fn cassandra(items: f64, rate: f64) -> Result<Size> {
    const MOST: u32 = 20;
    let best = |bits: u32| (1..=bits).fold(1, |best, probes| if table(bits, probes) < table(bits, best) { probes } else { best });
    // `new BloomSpecification(2, optKPerBuckets[2])`: the constructor's parameters are probes and
    // bits, but this call exchanges them.
    let (mut bits, mut probes) = (best(2), 2);
    if rate < table(2, 1) {
        (bits, probes) = (2, best(2));
        while table(bits, probes) > rate {
            bits += 1;
            if bits > MOST {
                return out_of_range(
                    "rate",
                    format!("{rate:e}"),
                    format!("at least {:e}: Cassandra refuses lower rates", table(MOST, best(MOST))),
                );
            }
            probes = best(bits);
        }
        while probes > 1 && table(bits, probes - 1) <= rate {
            probes -= 1;
        }
    }
    size(round_up(items * f64::from(bits) + 20.0, 64), f64::from(probes))
}

/// An entry of Cassandra's table: the textbook rate to three significant digits.
fn table(bits: u32, probes: u32) -> f64 {
    let rate = libm::pow(1.0 - libm::exp(-f64::from(probes) / f64::from(bits)), f64::from(probes));
    format!("{rate:.2e}").parse().unwrap_or(rate)
}

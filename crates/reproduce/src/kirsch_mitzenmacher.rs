//! Kirsch and Mitzenmacher, *Building a Better Bloom Filter*, sections 3 to 8: constants and
//! bounds. (Section 9 and the experiments of figures 1 and 2 are in separate files.)

use crate::kirsch_mitzenmacher_trials::{SCHEMES, rate_of};
use crate::{Claim, listed, shown};
use truebloom_math::convergence::{
    LARGE_PRIME, limit_rate, negligible_up_to, partition_constant, slices_constant, theorem_6_1_printed, theorem_6_2_lower_printed,
    theorem_6_2_upper, theorem_6_3_lower_printed,
};
use truebloom_math::law::{Double, Offsets, PartitionDouble, Step};
use truebloom_math::{Law, Result, SchemeId};

/// Numbers of bits per item, each with a good number of probes: `floor` or `ceil` of c ln 2.
pub(super) const LOADS: [(u32, u32); 4] = [(4, 3), (8, 6), (12, 8), (16, 11)];

/// The numbers of items at which the schemes' rates are compared in a claim.
const SIZES_TRIED: [u64; 4] = [100, 250, 1_000, 2_500];

const MILLION: u64 = 1_000_000;

/// The scaled difference `n (rate - limit)` at a million items.
fn scaled_difference(law: &dyn Law) -> Result<f64> {
    let load = law.bits() as f64 / MILLION as f64;
    Ok((law.fpr(MILLION)?.value - limit_rate(load, law.probes())) * MILLION as f64)
}

fn slices(slice_bits: u64, probes: u32) -> Result<f64> {
    scaled_difference(&PartitionDouble::new(slice_bits, probes)?)
}

fn double(bits: u64, probes: u32, step: Step, offsets: Offsets) -> Result<Double> {
    Double::new(bits, probes, step, offsets)
}

pub(super) fn claims() -> Result<Vec<Claim>> {
    let mut claims = section_6()?;
    claims.extend(section_7_and_others()?);
    claims.extend(section_8()?);
    claims.extend(crate::kirsch_mitzenmacher_sketch::claims()?);
    Ok(claims)
}

fn section_6() -> Result<Vec<Claim>> {
    let one_probe = scaled_difference(&double(4_000_000, 1, Step::Any, Offsets::Linear)?)?;
    let found = slices(1_333_333, 6)?;
    let composite = (PartitionDouble::new(2_000_000, 6)?.fpr(1_500_000)?.value - limit_rate(8.0, 6)) * 1_500_000.0;
    let prime = double(8_000_009, 6, Step::Any, Offsets::Linear)?;
    let (with_zero, printed) = (scaled_difference(&prime)?, theorem_6_1_printed(8.0, 6));
    let lower = slices(50_000_000, 2)?;
    let lower_double = scaled_difference(&double(1_000_003, 1, Step::Any, Offsets::Linear)?)?;
    let constants = |&(c, k): &(u32, u32)| {
        let array = |step, offsets| double(LARGE_PRIME, k, step, offsets)?.constant(f64::from(c));
        let all = [array(Step::Any, Offsets::Linear)?, array(Step::Any, Offsets::Square)?, array(Step::Any, Offsets::Cube)?];
        let slices = partition_constant(f64::from(c), k);
        Ok::<_, truebloom_math::Error>(all.into_iter().chain([slices]).all(|constant| constant < theorem_6_2_upper(f64::from(c), k)))
    };
    let upper = LOADS.iter().map(constants).collect::<Result<Vec<_>>>()?.into_iter().all(|below| below);
    Ok(vec![
        Claim::statement(
            ["theorem-6-1-one-probe", "theorem 6.1", "the limit of n (Pr - f) as n grows, for one probe; c = 4, computed at n = 10^6"],
            "0",
            one_probe.abs() < 1e-3,
            shown(one_probe),
        )
        .unless("the limit is y/(2 c^2) = 0.0243375", (one_probe - 0.024_337_5).abs() < 1e-6, "K1"),
        Claim::statement(
            ["theorem-6-1", "theorem 6.1", "n (Pr - f) for the partition scheme with a prime number of bits per slice; c = 8, k = 6, n = 10^6"],
            "0.485168",
            (found - printed).abs() < 0.01,
            shown(found),
        )
        .unless("0.37185", (found - partition_constant(8.0, 6)).abs() < 1e-3, "K1"),
        Claim::statement(
            [
                "theorem-6-1-composite",
                "theorem 6.1",
                "n (Pr - f) for the partition scheme with slices of 4n/3 bits (4n/3 is never a prime number); c = 8, k = 6, n = 1,500,000",
            ],
            "0.485168",
            (composite - printed).abs() < 0.01,
            shown(composite),
        )
        .unless("0.525455; the number of bits of a slice, 2,000,000, is divisible by 2, 4 and 5, so two items can share some of their positions without sharing all of them", (composite - slices_constant(8.0, 6, 2_000_000)).abs() < 1e-3, "K18"),
        Claim::statement(
            ["theorem-6-1-double", "theorem 6.1", "n (Pr - f) for double hashing; c = 8, k = 6, n = 10^6"],
            "0.055355",
            (with_zero - 0.055_355).abs() < 0.01,
            shown(with_zero),
        )
        .unless("0.109557; the paper's formula has no term for queries with h2 = 0, whose probes all coincide", (with_zero - 0.109_557).abs() < 1e-4, "K2"),
        Claim::statement(
            ["theorem-6-2-lower", "theorem 6.2", "a lower bound on n (Pr - f) for the partition scheme; c = 100, k = 2, slices of 50n bits"],
            "3.4e-4",
            lower >= theorem_6_2_lower_printed(100.0, 2),
            format!("n (Pr - f) itself is {}", shown(lower)),
        )
        .see("K3"),
        Claim::statement(
            ["theorem-6-3-lower", "theorem 6.3", "a lower bound on n (Pr - f) for double hashing; c = 1, k = 1"],
            "0.316",
            lower_double >= theorem_6_3_lower_printed(1.0, 1),
            format!("n (Pr - f) itself is {}", shown(lower_double)),
        )
        .see("K4"),
        Claim::statement(
            ["theorem-6-2-upper", "theorems 6.2 and 6.3", "in every scheme with two hashes, n (Pr - f) tends to a limit below k^5/(2 c^2) as n grows; c = 4, 8, 12, 16"],
            "holds",
            upper,
            format!(
                "{}; at c = 8, k^5/(2 c^2) is {} times the limit of the partition scheme",
                if upper { "the claim held for every c" } else { "the claim failed for some c" },
                shown((theorem_6_2_upper(8.0, 6) / partition_constant(8.0, 6)).round())
            ),
        ),
    ])
}

fn section_7_and_others() -> Result<Vec<Claim>> {
    let excess = |c: f64| 3.0 * libm::log2(c) - c;
    let top = 3.0 / std::f64::consts::LN_2;
    // If 3 log2 c exceeds c by that much, the rule holds with equality.
    let share = libm::pow(std::f64::consts::LN_2, 5.0) * libm::exp2(top + 3.0 * libm::log2(top) - 1.0) / MILLION as f64;
    let rule = negligible_up_to(MILLION, share);
    let tiny = PartitionDouble::new(2, 3)?.fpr(2)?.value;
    let delta = truebloom_math::convergence::conditions(&double(41, 6, Step::Any, Offsets::Linear)?, 1).single;
    let ends = LOADS.map(|(c, k)| [theorem_6_2_lower_printed(c.into(), k), theorem_6_3_lower_printed(c.into(), k)]);
    let list = |which: usize| listed(ends.iter().map(|ends| shown(ends[which])));
    // Checks the schemes of 6.2 and 6.3 with proven rates: the coefficient is nearly the same at
    // ten times the items, and is not 0.
    let settles = |law: &dyn Fn(u64) -> Result<Box<dyn Law>>| {
        let at = |items: u64| {
            let law = law(items)?;
            Ok::<_, truebloom_math::Error>(
                (law.fpr(items)?.value - limit_rate(law.bits() as f64 / items as f64, law.probes())) * items as f64,
            )
        };
        let (small, large) = (at(100_000)?, at(MILLION)?);
        Ok::<_, truebloom_math::Error>(large > 0.01 && (small / large - 1.0).abs() < 0.02)
    };
    let mut differ = true;
    for (c, k) in LOADS {
        let bits = |items: u64| u64::from(c) * items + 1;
        differ &= settles(&|items| Ok(Box::new(double(bits(items), k, Step::Any, Offsets::Linear)?)))?;
        differ &= settles(&|items| Ok(Box::new(PartitionDouble::new(next_prime(bits(items) / u64::from(k)), k)?)))?;
    }
    Ok(vec![
        Claim::statement(
            ["section-3", "section 3", "the rate of the partition scheme with 2 bits per slice; k = 3, n = 2"],
            "7/16",
            (tiny - 0.4375).abs() < 1e-9,
            shown(tiny),
        )
        .unless("9/16; the paper's formula is right only if a slice has at least k bits", (tiny - 0.5625).abs() < 1e-12, "K9"),
        Claim::statement(
            [
                "negligible",
                "section 6",
                "for every c > 0, 3 ln c < c + 1; here, ln must mean log2, because the result is used as an exponent of 2",
            ],
            "3 ln c < c + 1",
            excess(3.0) < 1.0,
            format!("3 log2 c exceeds c by up to {}", shown(excess(top))),
        )
        .unless("3 log2 c <= c + 2.0131", (excess(top) - 2.013_1).abs() < 1e-4 && (rule - top).abs() < 1e-4, "K8"),
        Claim::statement(
            ["delta", "section 7", "Delta for double hashing: the probability that an item sets a given bit, minus k/m; m = 41, k = 6"],
            "0",
            delta == 0.0,
            shown(delta),
        )
        .unless("-5/41^2", (delta + 5.0 / 1681.0).abs() < 1e-12, "K7"),
        Claim::statement(
            [
                "order",
                "section 7",
                "Pr - f is of order exactly 1/n, because the lower bounds on n (Pr - f) in theorems 6.2 and 6.3 are above 0; c = 4, 8, 12, 16",
            ],
            "holds",
            ends.iter().flatten().all(|end| *end > 0.0),
            format!("at c = 4, 8, 12 and 16, the lower bounds are {} in theorem 6.2, and {} in theorem 6.3", list(0), list(1)),
        )
        .unless("the order is indeed 1/n, but these lower bounds do not prove it; the reason is that n (Pr - f) tends to a limit above 0", differ, "K5"),
    ])
}

/// The smallest prime that is at least this number.
fn next_prime(from: u64) -> u64 {
    (from..).find(|&candidate| truebloom_math::is_prime(candidate)).unwrap_or(from)
}

fn section_8() -> Result<Vec<Claim>> {
    let rate = limit_rate(8.0, 6);
    let best = |c: f64| (1..=20).min_by(|&a, &b| limit_rate(c, a).total_cmp(&limit_rate(c, b))).unwrap_or(1);
    let small = |scheme: SchemeId, items| Ok::<_, truebloom_math::Error>(rate_of(scheme, 16, 11, items)?.value);
    let (sliced, array, standard) =
        (small(SchemeId::PartitionDouble, 100)?, small(SchemeId::Double, 100)?, small(SchemeId::Standard, 100)?);
    // An upper bound on how far the rates of the schemes differ, from the bounds on each rate.
    let spread = |load: u32, probes: u32, items: u64| {
        let rates = SCHEMES.iter().map(|&scheme| rate_of(scheme, load, probes, items)).collect::<Result<Vec<_>>>()?;
        let (low, high) = rates.iter().fold((f64::INFINITY, 0f64), |(low, high), rate| (low.min(rate.lower), high.max(rate.upper)));
        Ok::<_, truebloom_math::Error>(high / low - 1.0)
    };
    let small_loads = SIZES_TRIED.iter().map(|&items| spread(4, 3, items)).collect::<Result<Vec<f64>>>()?;
    let large_load = spread(16, 11, SIZES_TRIED[0])?;
    let percents = |values: &[f64]| listed(values.iter().map(|value| format!("{}%", shown(100.0 * value))));
    let mean = |slice_bits| Ok::<_, truebloom_math::Error>(464.0 * PartitionDouble::new(slice_bits, 6)?.fpr(5_000)?.value);
    let (composite, prime) = (mean(6_667)?, mean(6_673)?);
    Ok(vec![
        Claim::number("best-probes", "section 8", "the best probe count, which is the k with the lowest f; c = 8", "6", f64::from(best(8.0))),
        Claim::number("limit", "section 8", "f, the rate of large filters; c = 8, k = 6", "0.021577", rate),
        Claim::number("queries", "section 8", "the number of queries in a trial of the experiments; c = 8", "464", (10.0 / rate).ceil()),
        Claim::statement(
            [
                "figure-1-small",
                "figure 1",
                "for small c, the schemes hardly differ: at c = 4 and n = 100 to 2,500, their rates are within 2.5% of each other; at c = 16 and n = 100, they differ at least 20 times as much",
            ],
            "holds",
            small_loads.iter().all(|apart| *apart < 0.025)
                && small_loads.windows(2).all(|pair| pair[1] < pair[0])
                && large_load > 20.0 * small_loads[0],
            format!(
                "at c = 4, the rates differ by at most {} at n = 100, 250, 1,000 and 2,500; at c = 16 and n = 100, the rates differ by at most {}",
                percents(&small_loads),
                percents(&[large_load])
            ),
        ),
        Claim::statement(
            [
                "figure-1-partition",
                "figure 1",
                "at c = 16, the partition scheme is useless for small n: at n = 100, its rate is more than twice the rate of double hashing",
            ],
            "holds",
            sliced > 2.0 * array,
            format!(
                "at n = 100, the rate is {} with the partition scheme, {} with double hashing, and {} with independent probes (the standard scheme)",
                shown(sliced),
                shown(array),
                shown(standard)
            ),
        ),
        Claim::statement(
            [
                "figure-2-mean",
                "figure 2",
                "with the partition scheme, the mean number of false positives in a trial of 464 queries is within 0.05 of 10.0118 (464 times f); c = 8, k = 6, n = 5,000",
            ],
            "holds",
            (composite - 10.0118).abs() < 0.05 && (prime - 10.0118).abs() < 0.05,
            format!("the mean is {} with slices of 6,667 bits, and {} with slices of 6,673 bits", shown(composite), shown(prime)),
        )
        .see("K11"),
    ])
}

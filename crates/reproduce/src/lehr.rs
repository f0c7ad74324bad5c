//! Lehr, *The Bloom Filter Hashing Solution*. Lehr writes m for items and N for bits; here they are
//! n and m.

use crate::{Claim, Figure, listed, shown, standard};
use truebloom_math::occupancy::Occupancy;
use truebloom_math::{Approximation, Law, Plan, Rate, Result, Target, Variant, law};

/// The sizes at which his formulas are checked: bits, items, probes.
const SIZES: [(u64, u64, u32); 6] = [(1, 3, 2), (10, 4, 1), (64, 4, 10), (128, 16, 5), (1000, 100, 7), (1 << 20, 100_000, 7)];

/// The rates of the design table.
const FAMILIES: [&str; 5] = ["0.1", "0.01", "0.001", "1e-4", "1e-6"];

/// The number of items of the design tables. With so many items, the rates depend only on the bits
/// per item.
const ITEMS: u64 = 1000;

pub(super) fn claims() -> Result<Vec<Claim>> {
    let mut claims = expectation()?;
    claims.extend(rate()?);
    claims.push(families()?);
    Ok(claims)
}

/// The largest relative difference of two numbers over all sizes.
fn apart(pair: impl Fn(u64, u64, u32) -> Result<(f64, f64)>) -> Result<f64> {
    SIZES.iter().try_fold(0.0f64, |worst, &(bits, items, probes)| {
        let (value, truth) = pair(bits, items, probes)?;
        Ok(worst.max((value / truth - 1.0).abs()))
    })
}

fn mean(bits: u64, throws: u64) -> Result<f64> {
    Occupancy::standard(bits, throws, 1)?.mean()
}

/// The claims of section 1.
fn expectation() -> Result<Vec<Claim>> {
    let ratio = |bits: u64| (bits - 1) as f64 / bits as f64;
    let mut sequence = 0.0f64;
    let (mut value, mut sum) = (0.0, 0.0);
    let mut power = 1.0;
    for throws in 1..=1000 {
        value = ratio(1000) * value + 1.0;
        sum += power;
        power *= ratio(1000);
        let truth = mean(1000, throws)?;
        sequence = sequence.max((value / truth - 1.0).abs()).max((sum / truth - 1.0).abs());
    }
    let nk = |items: u64, probes: u32| items * u64::from(probes);
    let closed = apart(|bits, items, probes| {
        Ok((-(bits as f64) * libm::expm1(nk(items, probes) as f64 * libm::log1p(-1.0 / bits as f64)), mean(bits, nk(items, probes))?))
    })?;
    // The error of the exponential, times N, for N = 1000 to 10^9 at the same load.
    let misses: Vec<f64> = [3, 6, 9]
        .into_iter()
        .map(|digits| {
            let bits = 10u64.pow(digits);
            Ok((-(bits as f64) * libm::expm1(-0.7) / mean(bits, bits / 10 * 7)? - 1.0).abs())
        })
        .collect::<Result<_>>()?;
    Ok(vec![
        Claim::number("first-throw", "section 1", "the mean number of set bits after one throw", "1", mean(1000, 1)?),
        Claim::statement(
            ["sequence", "section 1", "E_(i+1) = C E_i + 1, and therefore E_i = 1 + C + ... + C^(i-1); N = 1,000, i up to 1,000"],
            "holds",
            sequence < 1e-12,
            agreement(sequence),
        ),
        Claim::statement(
            [
                "expectation",
                "section 1",
                "the mean number of set bits, E, is exactly N (1 - C^(km)), where C = 1 - 1/N; checked for six filters, up to N = 2^20",
            ],
            "holds",
            closed < 1e-12,
            agreement(closed),
        ),
        Claim::statement(
            [
                "expectation-exponential",
                "section 1",
                "for large N, the mean number of set bits, E, is close to N (1 - e^(-km/N)); km/N = 0.7, N = 10^3, 10^6, 10^9",
            ],
            "holds",
            misses.windows(2).all(|pair| pair[1] < pair[0] / 500.0),
            format!("the relative errors are {}", listed(misses.iter().map(|&miss| format!("{miss:.0e}")))),
        ),
    ])
}

fn agreement(apart: f64) -> &'static str {
    if apart < 1e-12 { "the formula gives the exact mean, within 1e-12" } else { "the formula does not give the exact mean" }
}

/// The claims of section 2 up to the table.
fn rate() -> Result<Vec<Claim>> {
    let power = |bits, items, probes| Approximation::SeveranceLohman.value(bits, items, probes);
    let exact = apart(|bits, items, probes| Ok((power(bits, items, probes)?, standard(bits, items, probes)?)))?;
    let mut bound = true;
    for (bits, items, probes) in SIZES {
        let truth = Variant::Standard.fpr(bits, items, probes)?;
        let value = power(bits, items, probes)?;
        let alike = probes == 1 || bits == 1;
        bound &= if alike { (value / truth.value - 1.0).abs() < 1e-12 } else { value < truth.lower };
    }
    let known = apart(|bits, items, probes| {
        if bits > 1000 {
            return Ok((1.0, 1.0));
        }
        let filter = law::Standard::new(bits, probes)?;
        let window = Occupancy::standard(bits, items, probes)?.pmf()?;
        let mut sum = 0.0;
        for (ones, probability) in (0..).zip(window) {
            sum += probability * filter.fpr_at_fill(&[ones])?.map_or(f64::NAN, |rate| rate.value);
        }
        Ok((sum, standard(bits, items, probes)?))
    })?;
    let misses: Vec<f64> = [3, 5, 7]
        .into_iter()
        .map(|digits| {
            let bits = 10u64.pow(digits);
            Ok((Approximation::Knuth.value(bits, bits / 10, 7)? / power(bits, bits / 10, 7)? - 1.0).abs())
        })
        .collect::<Result<_>>()?;
    Ok(vec![
        Claim::statement(
            ["rate", "section 2", "the rate is exactly (1 - C^(km))^k; checked for six filters"],
            "holds",
            exact < 1e-12,
            format!("the formula is up to {}% below the rate f_S", shown(100.0 * exact)),
        )
        .unless("the formula is a lower bound on the rate f_S; it is exact for k = 1 or N = 1", bound, "L1"),
        Claim::statement(
            [
                "rate-exponential",
                "section 2",
                "for large N, the formula (1 - C^(km))^k is close to (1 - e^(-km/N))^k; N/m = 10, k = 7, N = 10^3, 10^5, 10^7",
            ],
            "holds",
            misses.windows(2).all(|pair| pair[1] < pair[0] / 50.0),
            format!("the relative errors are {}", listed(misses.iter().map(|&miss| format!("{miss:.0e}")))),
        ),
        Claim::statement(
            [
                "rate-known-fill",
                "section 2",
                "if x bits are set, the rate is exactly (x/N)^k; checked by its mean over all possible x, which must be the mean rate f_S; N up to 1,000",
            ],
            "holds",
            known < 1e-11,
            if known < 1e-11 { "the mean of (x/N)^k is the rate f_S, within 1e-11" } else { "the mean of (x/N)^k is not the rate f_S" },
        )
        .see("L2"),
    ])
}

/// The smallest size for a rate with this number of probes.
fn bits(rate: Rate, probes: u32) -> Result<Plan> {
    Plan::new(&Target::new().items(ITEMS).rate(rate).probes(probes).mean())
}

fn families() -> Result<Claim> {
    let mut single = true;
    let mut best = Vec::new();
    for family in FAMILIES {
        let rate: Rate = family.parse()?;
        let sizes = (1..=32).map(|probes| Ok(bits(rate, probes)?.bits)).collect::<Result<Vec<u64>>>()?;
        let least = sizes.iter().min().copied().unwrap_or(0);
        single &= sizes.iter().filter(|&&size| size == least).count() == 1;
        single &= sizes.windows(3).all(|next| next[1] <= next[0] || next[2] >= next[1]);
        best.push(sizes.iter().position(|&size| size == least).map_or(0, |row| row + 1).to_string());
    }
    let text = "for each rate, exactly one k needs the fewest bits; checked for rates of 10%, 1%, 0.1%, 1e-4 and 1e-6, with m = 1,000 and k up to 32";
    Ok(Claim::statement(["families", "section 2", text], "holds", single, format!("for these rates, this k is {}", listed(best))))
}

pub(super) fn figures() -> Result<Vec<Figure>> {
    let sequence = (0..=3000u64)
        .step_by(50)
        .map(|throws| Ok(vec![throws as f64, mean(1000, throws)?, -1000.0 * libm::expm1(-(throws as f64) / 1000.0)]));
    let rates = (1..=24).map(|probes| {
        let sizes = [4, 6, 8, 10, 12, 16, 20, 24].map(|each: u64| standard(each * ITEMS, ITEMS, probes));
        std::iter::once(Ok(probes.into())).chain(sizes).collect()
    });
    let families = (1..=32).map(|probes| {
        let sizes = FAMILIES.map(|family| Ok(bits(family.parse()?, probes)?.bits as f64 / ITEMS as f64));
        std::iter::once(Ok(probes.into())).chain(sizes).collect()
    });
    Ok(vec![
        Figure::new(
            "lehr-sequence",
            "mean number of set bits after each number of throws (single probes); 1,000 bits",
            &["throws", "exact", "exponential"],
            sequence.collect(),
        )?,
        Figure::new(
            "lehr-table",
            "false-positive rate for each number of probes, by number of bits per item; 1,000 items",
            &["probes", "4", "6", "8", "10", "12", "16", "20", "24"],
            rates.collect(),
        )?,
        Figure::new(
            "lehr-families",
            "bits per item that a false-positive rate needs with each number of probes; 1,000 items",
            &["probes", "10%", "1%", "0.1%", "1e-4", "1e-6"],
            families.collect(),
        )?,
    ])
}

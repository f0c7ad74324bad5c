//! Section 4: how efficient filters are, where the efficiency peaks, and how far they compress.

use super::{BITS_TRIED, Tally, best};
use crate::charts::grouped;
use crate::{Claim, classic, listed, shown};
use std::f64::consts::LN_2;
use truebloom_math::occupancy::Occupancy;
use truebloom_math::{
    Approximation, Result, Variant, best_probes_approximation, binomial, crossover, efficiency, half_full_items, max_efficiency,
    peak_efficiency, peak_items_approximation, standard_limit, valley_efficiency,
};

/// The claims of section 4.
pub(super) fn claims() -> Result<Vec<Claim>> {
    let mut claims = efficiencies()?;
    claims.extend(standard_peaks()?);
    claims.extend(classic_peaks()?);
    claims.extend(valleys_and_compression()?);
    Ok(claims)
}

/// The claims of section 4.1 before its subsections.
fn efficiencies() -> Result<Vec<Claim>> {
    let bits = 100;
    let (m, limit) = (bits as f64, standard_limit(bits)?.1);
    let of_mean = |probes: u32, items: f64| {
        let k = f64::from(probes);
        Ok(-items * k * libm::log(-libm::expm1(items * k * libm::log1p(-1.0 / m))) / LN_2 / m)
    };
    // With so many bits, it hardly matters that the number of items at a peak is whole.
    let large = 1_000_000_000u64;
    let of_textbook = |probes: u32, items: f64| {
        let items = libm::round(items);
        Ok(-items * libm::log(Approximation::Knuth.value(large, items as u64, probes)?) / LN_2 / large as f64)
    };
    let peak = |of: &dyn Fn(u32, f64) -> Result<f64>, items: &dyn Fn(u32) -> Result<f64>, value: f64| -> Result<Tally> {
        let mut tally = Tally::default();
        for probes in 1..=100 {
            let items = items(probes)?;
            let [less, here, more] = [of(probes, 0.99 * items)?, of(probes, items)?, of(probes, 1.01 * items)?];
            tally.add((here - value).abs() < 1e-12 && less < here && more < here, || format!("k = {probes}"));
        }
        Ok(tally)
    };
    let mean = peak(&of_mean, &|probes| half_full_items(bits, probes), limit)?;
    let textbook = peak(&of_textbook, &|probes| Ok(large as f64 / f64::from(probes) * LN_2), LN_2)?;
    // Half of the bits are set where n ln(m/(m-1)) is ln 2.
    let logarithm = LN_2 / half_full_items(bits, 1)?;
    Ok(vec![
        Claim::statement(
            [
                "peak-of-m",
                "section 4.1",
                "if the efficiency is computed from the approximation M, its peak is the same for every k, at n = ln 2 / (k ln(m/(m-1))); m = 100, k = 1 to 100",
            ],
            "holds",
            mean.holds(),
            mean.found(),
        ),
        Claim::statement(
            [
                "peak-of-e",
                "section 4.1",
                "if the efficiency is computed from the approximation E, its peak is ln 2 for every k; m = 10^9, k = 1 to 100",
            ],
            "holds",
            textbook.holds(),
            textbook.found(),
        ),
        Claim::statement(
            ["small-logarithm", "section 4.1", "ln(m/(m-1)) is close to m; m = 100"],
            "holds",
            (logarithm / m - 1.0).abs() < 0.02,
            format!("ln(m/(m-1)) is {}", shown(logarithm)),
        )
        .unless("ln(m/(m-1)) is close to 1/m", (1.0 / m..1.0 / (m - 1.0)).contains(&logarithm), "B20"),
    ])
}

/// The claims of section 4.1.1 and figure 9.
fn standard_peaks() -> Result<Vec<Claim>> {
    // f_S(m, n/k, k)^(1/k) = E[(X/m)^k]^(1/k), X the set bits of n single balls.
    let mut less = Tally::default();
    for (bits, balls) in [(2u64, 2), (3, 2), (7, 5), (16, 11), (40, 28), (100, 69), (100, 200), (1000, 700)] {
        let law = Occupancy::standard(bits, balls, 1)?;
        let efficiency = |probes: u32| {
            let norm = libm::log(law.raw_moment(probes)?) / f64::from(probes) - libm::log(bits as f64);
            Ok::<_, truebloom_math::Error>(-norm * balls as f64)
        };
        for probes in 1..20 {
            less.add(efficiency(probes)? > efficiency(probes + 1)?, || format!("m = {bits}, n = {balls}, k = {probes}"));
        }
    }
    let mut falling = Tally::default();
    for bits in 2..=20 {
        for probes in 1..=bits as u32 / 2 {
            let [here, next] = [probes, probes + 1].map(|probes| peak_efficiency(Variant::Standard, bits, probes));
            falling.add(here?.value > next?.value, || format!("m = {bits}, k = {probes}"));
        }
    }
    let most = max_efficiency(Variant::Standard, 100)?;
    let (items, limit) = standard_limit(100)?;
    let rate = -libm::expm1(items * libm::log1p(-0.01));
    Ok(vec![
        Claim::statement(
            [
                "theorem-26",
                "theorem 26",
                "if the product nk is fixed, the efficiency of the standard filter falls with every further probe; checked for 8 pairs of m and nk, and k = 1 to 20",
            ],
            "holds",
            less.holds(),
            less.found(),
        )
        .see("B21"),
        Claim::statement(
            [
                "standard-peaks-fall",
                "sections 1.3 and 4.1",
                "the peak efficiency of the standard filter falls with every further probe; checked for all m up to 20 and all k up to m/2",
            ],
            "holds",
            falling.holds(),
            format!("for whole numbers n, {}", falling.found()),
        )
        .unless("the claim is true if n can be any positive number; this follows from theorem 26", less.holds(), "B22"),
        Claim::number(
            "figure-9-efficiency",
            "figure 9",
            "the greatest efficiency of the standard filter over all n and k; m = 100",
            "0.69",
            most.value,
        ),
        Claim::number(
            "figure-9-items",
            "figure 9",
            "the item count n at the greatest efficiency of the standard filter; m = 100",
            "69",
            most.items as f64,
        ),
        Claim::number(
            "figure-9-probes",
            "figure 9",
            "the probe count k at the greatest efficiency of the standard filter; m = 100",
            "1",
            most.probes as f64,
        ),
        Claim::statement(
            [
                "corollary-27",
                "corollary 27",
                "formula (74), 1/(m log2(m/(m-1))), is the greatest efficiency of the standard filter; m = 100",
            ],
            "holds",
            most.value <= limit && limit - most.value < 1e-6,
            format!(
                "formula (74) gives {}, at n = {}; the greatest efficiency at a whole n is {}, at n = {}",
                shown(limit),
                shown(items),
                shown(most.value),
                most.items
            ),
        ),
        Claim::statement(
            ["corollary-27-rate", "corollary 27", "the rate of the standard filter at its greatest efficiency; m = 100"],
            "0.5",
            (rate - 0.5).abs() < 1e-12,
            shown(rate),
        ),
        Claim::number(
            "corollary-30-standard",
            "corollary 30",
            "the limit of the standard filter's greatest efficiency as m grows; computed at m = 10^9",
            "0.6931",
            standard_limit(1_000_000_000)?.1,
        ),
    ])
}

/// The claims of section 4.1.2 and figure 10.
fn classic_peaks() -> Result<Vec<Claim>> {
    let [mut rising, mut greatest, mut rounded, mut same, mut growing] = [(); 5].map(|()| Tally::default());
    let mut before = [0.0; 2];
    for bits in 2..=BITS_TRIED {
        let half = (bits / 2) as u32;
        let peaks = (1..=half).map(|probes| peak_efficiency(Variant::Classic, bits, probes)).collect::<Result<Vec<_>>>()?;
        for pair in peaks.windows(2) {
            rising.add(pair[0].value < pair[1].value, || format!("m = {bits}, k = {}", pair[0].probes));
        }
        let single = peak_efficiency(Variant::Standard, bits, 1)?;
        same.add(peaks[0].value == single.value && single.value < LN_2, || format!("m = {bits}"));
        let most = max_efficiency(Variant::Classic, bits)?;
        let now = [standard_limit(bits)?.1, most.value];
        growing.add(before[0] < now[0] && before[1] < now[1], || format!("m = {bits}"));
        before = now;
        // log2 C(m, m/2) / m.
        let central = 1.0 + libm::log2(binomial::probability(bits / 2, bits, 0.5)) / bits as f64;
        let reached = most.items == 1 && most.probes == bits / 2 && (most.value - central).abs() < 1e-12;
        greatest.add(reached && bits % 2 == 0, || format!("m = {bits}"));
        if bits != 3 {
            rounded.add(reached, || format!("m = {bits}"));
        }
    }
    let mut items_near = Tally::default();
    let mut probes_near = Tally::default();
    let near = |value: f64, best: u64| (value - best as f64).abs() <= (0.02 * value).max(1.0);
    for (bits, other) in [100, 1000].into_iter().flat_map(|bits| (1..=20).map(move |other| (bits, other))) {
        let (value, peak) = (peak_items_approximation(bits, other)?, peak_efficiency(Variant::Classic, bits, other)?.items);
        items_near.add(near(value, peak), || format!("m = {bits}, k = {other}"));
        let items = u64::from(other);
        if items > 1 {
            let (value, best) = (best_probes_approximation(bits, items)?, best(Variant::Classic, bits, items)?);
            probes_near.add(near(value, best.into()), || format!("m = {bits}, n = {items}"));
        }
    }
    let largest = max_efficiency(Variant::Classic, 1 << 40)?.value;
    let alone = (best_probes_approximation(100, 1)?, best(Variant::Classic, 100, 1)?);
    let probes_printed = probes_near.holds() && near(alone.0, alone.1.into());
    let most = max_efficiency(Variant::Classic, 100)?;
    Ok(vec![
        Claim::statement(
            [
                "conjecture-28-rises",
                "conjecture 28",
                "the peak efficiency of the classic filter rises with every further probe up to k = m/2; checked for all m up to 40",
            ],
            "holds",
            rising.holds(),
            rising.found(),
        )
        .see("B27"),
        Claim::statement(
            [
                "conjecture-28-maximum",
                "conjecture 28",
                "formula (75), log2(C(m, m/2)) / m, is the greatest efficiency of the classic filter, which is reached only at n = 1 and k = m/2; checked for all m up to 40",
            ],
            "holds",
            greatest.holds(),
            greatest.found(),
        )
        .unless("for odd m other than 3, the claim is true if m/2 is rounded; rounding up and rounding down both give a k that reaches the greatest efficiency", rounded.holds(), "B27"),
        Claim::statement(
            ["one-probe-alike", "section 4.1.2", "for k = 1, both filters have the same peak efficiency, which is below ln 2; checked for all m up to 40"],
            "holds",
            same.holds(),
            same.found(),
        ),
        Claim::statement(
            ["remark-29-items", "remark 29", "formula (76), (m/k - 1) ln 2, gives the item count at which the classic filter is most efficient, within one item or 2%; m = 100 and 1,000, k = 1 to 20"],
            "holds",
            items_near.holds(),
            items_near.found(),
        ),
        Claim::statement(
            ["remark-29-probes", "remark 29", "formula (77), m ln 2 / (n + ln 2), gives the best probe count of the classic filter, within one probe or 2%; m = 100 and 1,000, n = 1 to 20"],
            "holds",
            probes_printed,
            format!("at n = 1 and m = 100, the formula gives {} probes, but {} probes are best; for two or more items, {}", shown(alone.0), alone.1, probes_near.found()),
        )
        .unless("the claim is true for two or more items", probes_near.holds(), "B33"),
        Claim::number("figure-10-efficiency", "figure 10", "the greatest efficiency of the classic filter over all n and k; m = 100", "0.96", most.value),
        Claim::number(
            "figure-10-items",
            "figure 10",
            "the item count n at the greatest efficiency of the classic filter; m = 100",
            "1",
            most.items as f64,
        ),
        Claim::number(
            "figure-10-probes",
            "figure 10",
            "the probe count k at the greatest efficiency of the classic filter; m = 100",
            "50",
            most.probes as f64,
        ),
        Claim::statement(
            ["corollary-30-grows", "corollary 30", "the greatest efficiency of each filter rises with every further bit; checked for m = 2 to 40"],
            "holds",
            growing.holds(),
            growing.found(),
        ),
        Claim::statement(
            [
                "corollary-30-classic",
                "corollary 30",
                "the limit of the classic filter's greatest efficiency as m grows; formula (75) at m = 2^40 must agree with it within 1e-9",
            ],
            "1",
            (1.0 - 1e-9..=1.0).contains(&largest),
            shown(largest),
        ),
    ])
}

/// The efficiency of a standard filter with its best number of probes.
fn best_efficiency(bits: u64, items: u64) -> Result<f64> {
    efficiency(Variant::Standard, bits, items, best(Variant::Standard, bits, items)?)
}

/// The claims of sections 4.2 and 4.3.
fn valleys_and_compression() -> Result<Vec<Claim>> {
    let mut equal = Tally::default();
    for probes in 1..=1000 {
        let x = crossover(probes)?;
        // The logarithms of both sides of (78), and that of the rate in its proof.
        let side = |probes: u32| f64::from(probes) * libm::log(-libm::expm1(-f64::from(probes) * x));
        let (left, right) = (side(probes), side(probes + 1));
        let valley = -valley_efficiency(probes)? / x * LN_2;
        equal.add((left / right - 1.0).abs() < 1e-12 && (left / valley - 1.0).abs() < 1e-12, || format!("k = {probes}"));
    }
    let golden = libm::exp(crossover(1)?);
    // log2 C(16, k), divided by the whole bits that are needed to number the filters.
    let mut sets = Tally::default();
    let mut shares = Vec::new();
    for (probes, ways) in [(1, 16u32), (2, 120), (4, 1820), (8, 12870)] {
        sets.add((classic(16, 1, probes)? * f64::from(ways) - 1.0).abs() < 1e-12, || format!("k = {probes}"));
        let whole = f64::from(ways.next_power_of_two().trailing_zeros());
        shares.push(-Variant::Classic.fpr(16, 1, probes)?.ln / LN_2 / whole);
    }
    let in_whole_bits = sets.holds() && (shares[3] - 0.975_123).abs() < 1e-6 && shares.iter().all(|share| *share <= 1.0 + 1e-12);
    const ITEMS: [u64; 5] = [1, 48, 69, 100, 300];
    let peaks = ITEMS.map(|items| best_efficiency(100, items));
    let peaks = peaks.into_iter().collect::<Result<Vec<f64>>>()?;
    // The efficiency is lower at both ends than at m items, and lower between two peaks than at a
    // peak.
    let (least, valley) = (peaks[0] < peaks[3] && peaks[4] < peaks[3], peaks[1] < peaks[2] && (crossover(1)? * 100.0 - 48.0).abs() < 1.0);
    let filters = 1.0 / classic(16, 1, 8)?;
    Ok(vec![
        Claim::statement(
            ["theorem-31", "theorem 31", "the approximation E is the same for k and for k + 1 probes if n/m = ln z, where z^(k+1) = z + 1 (formula (79)); checked for k = 1 to 1,000"],
            "holds",
            equal.holds(),
            format!("{}; for k = 1, z is {}", equal.found(), shown(golden)),
        ),
        Claim::statement(
            ["filters-of-one-item", "section 4.3", "the number of different classic filters with one item is the binomial coefficient C(k, k); m = 16, k = 8"],
            "holds",
            crate::agrees(filters, "1"),
            format!("there are {} such filters", grouped(filters)),
        )
        .unless("there are C(m, k) such filters", crate::agrees(filters, "12870"), "B23"),
        Claim::statement(
            ["compressed", "section 4.3", "if a classic filter with one item is stored as its number in a list of all such filters, the efficiency is 1; m = 16, k = 1, 2, 4, 8"],
            "holds",
            shares.iter().all(|share| (share - 1.0).abs() < 1e-12),
            format!("the efficiencies are {}, because the stored number is rounded up to whole bits", listed(shares.iter().map(|share| shown(*share)))),
        )
        .unless("at a rate of 1/C(m, k), the efficiency is log2(C(m, k)) / ceil(log2(C(m, k)))", in_whole_bits, "B35"),
        Claim::statement(
            ["valley-lowest", "section 4.2", "the efficiency of the standard filter at the best k is lowest for n near m; m = 100, n = 1, 48, 69, 100, 300"],
            "holds",
            peaks.iter().all(|peak| *peak >= peaks[3]),
            format!("the efficiency is {}", listed(ITEMS.iter().zip(&peaks).map(|(items, peak)| format!("{} at n = {items}", shown(*peak))))),
        )
        .unless(
            "the efficiency is lowest for very few and for very many items; between two neighbouring peaks, it is lowest where two probe counts are equally good",
            least && valley,
            "B34",
        ),
    ])
}

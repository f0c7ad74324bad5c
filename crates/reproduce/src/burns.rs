//! Burns, *On Occupancy Moments and Bloom Filter Efficiency*: sections 3.2 to 5 and figures 6
//! to 10. Figures 1 to 5 are drawings without data.

mod efficiency;

use crate::charts::grouped;
use crate::{Claim, Figure, classic, listed, percent_above, shown, standard};
use std::f64::consts::LN_2;
use truebloom_math::occupancy::Occupancy;
use truebloom_math::{Approximation, Rate, Result, Variant, bounds, efficiency, max_items, min_bits, optimal_probes};

/// Statements about all filters are tested up to this number of bits.
const BITS_TRIED: u64 = 40;

pub(super) fn claims() -> Result<Vec<Claim>> {
    let mut claims = bounds_and_figures()?;
    claims.extend(minimisation()?);
    claims.extend(conjecture_24()?);
    claims.extend(efficiency::claims()?);
    claims.extend(discussion()?);
    Ok(claims)
}

/// The estimate `(m/n) ln 2` of the best number of probes.
fn estimate(bits: u64, items: u64) -> f64 {
    bits as f64 / items as f64 * LN_2
}

fn best(variant: Variant, bits: u64, items: u64) -> Result<u32> {
    Ok(optimal_probes(variant, bits, items)?.probes)
}

/// The five values of figure 7 at one probe count: U, f_S, M, f_C, L.
fn bounds_at(bits: u64, items: u64, probes: u32) -> Result<[f64; 5]> {
    let approximation = |which: Approximation| which.value(bits, items, probes);
    Ok([
        approximation(Approximation::Bloom)?,
        standard(bits, items, probes)?,
        approximation(Approximation::SeveranceLohman)?,
        classic(bits, items, probes)?,
        approximation(Approximation::Lower)?,
    ])
}

/// The claims of sections 3.2 and 3.3.
fn bounds_and_figures() -> Result<Vec<Claim>> {
    let (bits, items) = (1000, 20);
    let (mut jensen, mut enclosed, mut ordered) = (true, true, Vec::new());
    for probes in 25..=50 {
        let [u, s, m, c, l] = bounds_at(bits, items, probes)?;
        jensen &= Approximation::Knuth.value(bits, items, probes)? <= m && m <= s;
        let exact = bounds::rates(bits, items, probes)?;
        let rates = [Variant::Standard.fpr(bits, items, probes)?, Variant::Classic.fpr(bits, items, probes)?];
        enclosed &= rates.iter().all(|rate| exact.lower.upper <= rate.lower && rate.upper <= exact.upper.lower);
        ordered.push((probes, u > s && s > m && m > c && c > l));
    }
    let last = ordered.iter().take_while(|(_, ordered)| *ordered).last().map_or(0, |&(probes, _)| probes);
    let rates = (1..=40).map(|probes| Ok((standard(100, 20, probes)?, classic(100, 20, probes)?))).collect::<Result<Vec<_>>>()?;
    let one_valley = |rates: Vec<f64>| rates.windows(3).all(|next| next[1] <= next[0] || next[2] >= next[1]);
    let [standards, classics]: [Vec<f64>; 2] = [rates.iter().map(|rate| rate.0).collect(), rates.iter().map(|rate| rate.1).collect()];
    let ends = [standards[39], classics[39]];
    // Table 1 at 100 bits, 20 items, 3 probes: the means, and the results of its rows "balls n,
    // batches k" if they are read literally.
    let means = [Occupancy::classic(100, 20, 3)?.mean()?, Occupancy::standard(100, 20, 3)?.mean()?];
    let printed = [1.0 - libm::pow(0.97, 20.0), 1.0 - libm::pow(0.99, 60.0)].map(|share| 100.0 * share);
    let swapped = Occupancy::classic(100, 3, 20)?.mean()?;
    Ok(vec![
        Claim::statement(
            [
                "table-1-means",
                "Table 1",
                "the mean number of set bits is m - m(1-k/m)^n in the classic filter, and m - m(1-1/m)^(nk) in the standard filter; m = 100, n = 20, k = 3",
            ],
            "m - m(1-k/m)^n and m - m(1-1/m)^(nk)",
            means.iter().zip(printed).all(|(ours, printed)| (ours / printed - 1.0).abs() < 1e-12),
            format!("the exact means are {} (classic) and {} (standard)", shown(means[0]), shown(means[1])),
        ),
        Claim::statement(
            [
                "table-1-batches",
                "Table 1",
                "the probes of the classic filter (balls) form k batches of n balls, and the balls of one batch set distinct bits; checked by the mean number of set bits; m = 100, n = 20, k = 3",
            ],
            "holds",
            (swapped / means[0] - 1.0).abs() < 1e-9,
            format!("k batches of n balls set {} bits on average, but the formula for the mean in Table 1 gives {}", shown(swapped), shown(means[0])),
        )
        .unless(
            "the probes form n batches of k balls: one batch for each item",
            (printed[0] / means[0] - 1.0).abs() < 1e-12 && (swapped / means[0] - 1.0).abs() > 0.05,
            "B8",
        ),
        Claim::statement(
            ["e-below-m-below-s", "section 3.2.1", "E <= M <= f_S; m = 1,000, n = 20, k = 25 to 50"],
            "holds",
            jensen,
            held(jensen),
        ),
        Claim::statement(
            ["corollary-23", "corollary 23", "the rates f_S and f_C are between the lower bound L and the upper bound U; m = 1,000, n = 20, k = 25 to 50"],
            "holds",
            enclosed,
            format!("{}; checked with proven bounds on f_S and f_C", held(enclosed)),
        ),
        Claim::statement(
            ["figure-6-valley", "figure 6", "as k grows from 1 to 40, the rates f_S (standard) and f_C (classic) first fall and then rise towards 1; m = 100, n = 20"],
            "holds",
            one_valley(standards) && one_valley(classics) && ends.iter().all(|&end| end > 0.98),
            format!("at k = 40, f_S = {} and f_C = {}", shown(ends[0]), shown(ends[1])),
        ),
        Claim::statement(
            ["figure-7-order", "figure 7", "at k = 25 (left edge of the figure), the order from the top is U (upper bound), f_S (standard), M (approximation), f_C (classic), L (lower bound); m = 1,000, n = 20"],
            "U > f_S > M > f_C > L",
            ordered[0].1,
            format!("the curves have this order from k = 25 to {last}"),
        ),
        Claim::number(
            "figure-7-best-classic",
            "figure 7",
            "the best probe count of the classic filter; m = 1,000, n = 20",
            "33",
            best(Variant::Classic, bits, items)?.into(),
        ),
        Claim::number(
            "figure-7-best-standard",
            "figure 7",
            "the best probe count of the standard filter; m = 1,000, n = 20",
            "34",
            best(Variant::Standard, bits, items)?.into(),
        ),
        Claim::number(
            "figure-7-estimate",
            "figure 7",
            "the estimate (m/n) ln 2 of the best probe count; m = 1,000, n = 20",
            "34.7",
            estimate(bits, items),
        ),
    ])
}

fn held(holds: bool) -> &'static str {
    if holds { "the inequalities held for every k" } else { "the inequalities failed for some k" }
}

/// The claims of section 3.4, including its example.
fn minimisation() -> Result<Vec<Claim>> {
    let (bits, items) = (64, 4);
    let rate: Rate = "1e-3".parse()?;
    let (most, least) = (max_items(Variant::Standard, 1000, &rate)?, min_bits(Variant::Standard, 50, &rate)?);
    let (most, least) = (most.map_or(0, |best| best.items), least.map_or(0, |best| best.bits));
    // Lower and upper bounds on the lowest rate at a size.
    let least_rate = |bits, items| Ok::<_, truebloom_math::Error>(optimal_probes(Variant::Standard, bits, items)?.fpr);
    let limit = rate.to_f64();
    let (strict_items, strict_bits) = (least_rate(1000, most + 1)?.lower > limit, least_rate(least - 1, 50)?.lower > limit);
    let estimated = estimate(bits, items);
    let unsigned = libm::pow(1.0 - libm::exp(4.0 * 11.0 / 64.0), 11.0);
    let signed = libm::pow(1.0 - libm::exp(-4.0 * estimated / 64.0), estimated);
    let power = libm::exp2(-estimated);
    let far: Vec<f64> = [1, 4, 16]
        .into_iter()
        .map(|items| Ok(estimate(1024, items) - f64::from(best(Variant::Classic, 1024, items)?)))
        .collect::<Result<_>>()?;
    Ok(vec![
        Claim::statement(
            [
                "most-items",
                "section 3.4",
                "n_max is the largest n at which some k gives a rate of at most p; the paper says that every k gives a rate above p if n >= n_max; standard filter, m = 1,000, p = 0.1%",
            ],
            "n >= n_max",
            least_rate(1000, most)?.lower > limit,
            format!("n_max is {most}: there, the best k gives a rate of at most p, but at n = {}, every k gives a rate above p", most + 1),
        )
        .unless("n > n_max", strict_items, "B19"),
        Claim::statement(
            [
                "least-bits",
                "section 3.4",
                "m_min is the smallest m at which some k gives a rate of at most p; the paper says that every k gives a rate above p if m <= m_min; standard filter, n = 50, p = 0.1%",
            ],
            "m <= m_min",
            least_rate(least, 50)?.lower > limit,
            format!("m_min is {least}: there, the best k gives a rate of at most p, but at m = {}, every k gives a rate above p", least - 1),
        )
        .unless("m < m_min", strict_bits, "B19"),
        Claim::statement(
            [
                "best-rate-sign",
                "section 3.4",
                "at the estimate of the best probe count, k = (m/n) ln 2, the approximation E is (1 - e^(nk/m))^k; m = 64, n = 4",
            ],
            "e^(nk/m)",
            (0.0..=1.0).contains(&unsigned),
            format!("with e^(nk/m), E would be {} at k = 11", shown(unsigned)),
        )
        .unless("e^(-nk/m)", (signed / power - 1.0).abs() < 1e-12, "B18"),
        Claim::statement(
            [
                "estimates-differ",
                "section 3.4",
                "the fewer the items, the farther the estimate (m/n) ln 2 is from the best probe count of the classic filter; m = 1,024, n = 1, 4, 16",
            ],
            "holds",
            far.windows(2).all(|pair| pair[0] > pair[1]),
            format!("with 1, 4 and 16 items, the estimate is too high by {}", listed(far.iter().map(|&far| shown(far)))),
        ),
        Claim::number(
            "example-estimate-probes",
            "section 3.4",
            "the estimate (m/n) ln 2 of the best probe count; m = 64, n = 4",
            "11.09",
            estimated,
        ),
        Claim::number(
            "example-estimate-rate",
            "section 3.4",
            "the approximation E at the estimate of the best probe count, k = (m/n) ln 2; m = 64, n = 4",
            "4.59e-4",
            power,
        ),
        Claim::number(
            "example-rate-standard",
            "section 3.4",
            "the lowest rate of the standard filter over all k; m = 64, n = 4",
            "6.15e-4",
            least_rate(bits, items)?.value,
        ),
        Claim::number(
            "example-best-standard",
            "section 3.4",
            "the best probe count of the standard filter; m = 64, n = 4",
            "10",
            best(Variant::Standard, bits, items)?.into(),
        ),
        Claim::number(
            "example-rate-classic",
            "section 3.4",
            "the lowest rate of the classic filter over all k; m = 64, n = 4",
            "4.55e-4",
            optimal_probes(Variant::Classic, bits, items)?.fpr.value,
        ),
        Claim::number(
            "example-best-classic",
            "section 3.4",
            "the best probe count of the classic filter; m = 64, n = 4",
            "9",
            best(Variant::Classic, bits, items)?.into(),
        ),
        Claim::number(
            "example-rate-standard-11",
            "section 3.4",
            "the rate of the standard filter with 11 probes; m = 64, n = 4",
            "6.25e-4",
            standard(bits, items, 11)?,
        ),
        Claim::number(
            "example-rate-classic-11",
            "section 3.4",
            "the rate of the classic filter with 11 probes; m = 64, n = 4",
            "4.85e-4",
            classic(bits, items, 11)?,
        ),
    ])
}

/// The number of cases that were tried, the number that failed, and the first failure.
#[derive(Default)]
struct Tally {
    tried: u32,
    failed: u32,
    first: Option<String>,
}

impl Tally {
    fn add(&mut self, holds: bool, case: impl FnOnce() -> String) {
        self.tried += 1;
        if !holds {
            self.failed += 1;
            self.first.get_or_insert_with(case);
        }
    }

    fn holds(&self) -> bool {
        self.failed == 0
    }

    fn found(&self) -> String {
        match &self.first {
            None => format!("the claim held in all {} cases", grouped(self.tried.into())),
            Some(first) => {
                format!("the claim failed in {} of {} cases, the first at {first}", grouped(self.failed.into()), grouped(self.tried.into()))
            }
        }
    }
}

fn conjecture_24() -> Result<Vec<Claim>> {
    let [mut lower, mut middle, mut upper, mut full] = [(); 4].map(|()| Tally::default());
    let sizes = (1..=BITS_TRIED).flat_map(|bits| (1..=2 * bits).map(move |items| (bits, items)));
    for (bits, items) in sizes.chain([(1000, 100)]) {
        let (classic, standard) = (optimal_probes(Variant::Classic, bits, items)?, optimal_probes(Variant::Standard, bits, items)?);
        let case = || format!("m = {bits}, n = {items}: k_C = {}, k_S = {}", classic.probes, standard.probes);
        if estimate(bits, items) < 1.0 {
            full.add(classic.probes == 1 && standard.probes == 1, case);
            continue;
        }
        // If several numbers of probes are best, the conjecture may choose any of them.
        let last = classic.ties.last().copied().unwrap_or(classic.probes);
        lower.add(bits <= 2 * items * u64::from(last), case);
        middle.add(classic.probes <= standard.ties.last().copied().unwrap_or(standard.probes), case);
        upper.add(f64::from(standard.probes) <= estimate(bits, items), case);
    }
    let claim = |id, text, printed, tally: &Tally| Claim::statement([id, "conjecture 24", text], printed, tally.holds(), tally.found());
    Ok(vec![
        claim(
            "conjecture-24-lower",
            "if m/n >= 1/ln 2, the best probe count of the classic filter, k_C, is at least m/(2n); checked for all m up to 40, and for m = 1,000 with n = 100",
            "m/(2n) <= k_C",
            &lower,
        )
        .see("B26"),
        claim(
            "conjecture-24-middle",
            "if m/n >= 1/ln 2, the best probe count of the classic filter (k_C) is at most that of the standard filter (k_S); checked for all m up to 40, and for m = 1,000 with n = 100",
            "k_C <= k_S",
            &middle,
        )
        .see("B26"),
        claim(
            "conjecture-24-upper",
            "if m/n >= 1/ln 2, the best probe count of the standard filter, k_S, is at most (m/n) ln 2; checked for all m up to 40, and for m = 1,000 with n = 100",
            "k_S <= (m/n) ln 2",
            &upper,
        )
        .see("B26"),
        claim(
            "conjecture-24-full",
            "if m/n < 1/ln 2, the best probe count of both filters is 1 (k_C = k_S = 1); checked for all m up to 40 and all n up to 2m",
            "k_C = k_S = 1",
            &full,
        ),
    ])
}

/// The claims of section 5.
fn discussion() -> Result<Vec<Claim>> {
    let (bits, items, estimated) = (1024, 5, 142);
    let lost = |variant: Variant, best: u32| {
        let [least, rate] = [best, estimated].map(|probes| variant.fpr(bits, items, probes).map(|rate| rate.value));
        let [most, efficient] = [best, estimated].map(|probes| efficiency(variant, bits, items, probes));
        let least = least?;
        Ok::<_, truebloom_math::Error>((least, percent_above(rate?, least), -percent_above(efficient?, most?)))
    };
    let (standard, classic) = (best(Variant::Standard, bits, items)?, best(Variant::Classic, bits, items)?);
    let (s, c) = (lost(Variant::Standard, standard)?, lost(Variant::Classic, classic)?);
    let order = |rate: f64| libm::round(libm::log10(rate));
    let mut fill = Vec::new();
    for (bits, items) in [(64, 4), (100, 20), (1000, 20), (1024, 5)] {
        let (s, c) = (best(Variant::Standard, bits, items)?, best(Variant::Classic, bits, items)?);
        let laws = [Occupancy::standard(bits, items, s)?, Occupancy::classic(bits, items, c)?];
        for law in laws {
            fill.push(law.mean()? / bits as f64);
        }
    }
    let (emptiest, fullest) = fill.iter().fold((1.0f64, 0.0f64), |(low, high), &fill| (low.min(fill), high.max(fill)));
    let off = approach(&figure_8()?);
    let gaps = listed(off.iter().map(|gap| shown(*gap)));
    Ok(vec![
        Claim::number(
            "five-items-best-standard",
            "section 5",
            "the best probe count of the standard filter; m = 1,024, n = 5",
            "133",
            standard.into(),
        ),
        Claim::number(
            "five-items-best-classic",
            "section 5",
            "the best probe count of the classic filter; m = 1,024, n = 5",
            "124",
            classic.into(),
        ),
        Claim::number(
            "five-items-estimate",
            "section 5",
            "the estimate (m/n) ln 2 of the best probe count; m = 1,024, n = 5",
            "142",
            estimate(bits, items),
        ),
        Claim::number(
            "five-items-rate-standard",
            "section 5",
            "how far the standard filter's rate at k = 142 is above its lowest rate, relative to the latter; m = 1,024, n = 5",
            "15.7%",
            s.1,
        ),
        Claim::number(
            "five-items-efficiency-standard",
            "section 5",
            "how much less efficient the standard filter is at k = 142 than at its best probe count, in relative terms; m = 1,024, n = 5",
            "0.2%",
            s.2,
        )
        .see("B24"),
        Claim::number(
            "five-items-rate-classic",
            "section 5",
            "how far the classic filter's rate at k = 142 is above its lowest rate, relative to the latter; m = 1,024, n = 5",
            "106.9%",
            c.1,
        ),
        Claim::number(
            "five-items-efficiency-classic",
            "section 5",
            "how much less efficient the classic filter is at k = 142 than at its best probe count, in relative terms; m = 1,024, n = 5",
            "0.7%",
            c.2,
        )
        .see("B24"),
        Claim::statement(
            ["five-items-order", "section 5", "the orders of magnitude of the lowest rates of the standard filter (f_S) and the classic filter (f_C); m = 1,024, n = 5"],
            "1e-43",
            order(s.0) == -43.0 && order(c.0) == -43.0,
            format!("the lowest f_S is {}, and the lowest f_C is {}", shown(s.0), shown(c.0)),
        )
        .unless("only the lowest rate of the classic filter, f_C, has the order of magnitude 1e-43", order(c.0) == -43.0, "B24"),
        Claim::statement(
            [
                "convergence",
                "section 5",
                "figure 6 shows how the best probe count approaches the estimate (m/n) ln 2 as n grows; m = 1,024, n = 2, 4, 8, 16",
            ],
            "holds",
            is_approach(&approach(&figure_6()?)),
            format!(
                "in figure 8, the best probe count of the standard filter is below the estimate by {gaps}; figure 6 shows only one item count"
            ),
        )
        .unless("figure 8 shows this, not figure 6", is_approach(&off), "B25"),
        Claim::statement(
            [
                "half-full",
                "section 5",
                "at the best probe count, slightly less than half of the bits are set on average; checked for (m, n) = (64, 4), (100, 20), (1,000, 20) and (1,024, 5)",
            ],
            "holds",
            fullest < 0.5 && emptiest > 0.4,
            format!("the mean share of set bits is {} to {}", shown(emptiest), shown(fullest)),
        ),
    ])
}

/// The estimate minus the standard filter's best number of probes, from a figure's data at n = 2,
/// 4, 8 and 16. The list is empty if the figure does not give both numbers for each n.
fn approach(figure: &Figure) -> Vec<f64> {
    let column = |name: &str| figure.columns.iter().position(|column| column == name);
    let (Some(items), Some(estimate), Some(best)) = (column("items"), column("estimate"), column("standard")) else { return Vec::new() };
    let rows = figure.rows.iter().filter(|row| [2.0, 4.0, 8.0, 16.0].contains(&row[items]));
    rows.map(|row| row[estimate] - row[best]).collect()
}

/// Whether each gap is smaller than the previous one, and the last gap is at most two probes (of
/// about 44).
fn is_approach(gaps: &[f64]) -> bool {
    gaps.len() == 4 && gaps.windows(2).all(|pair| pair[0] > pair[1]) && gaps.last().is_some_and(|gap| (0.0..2.0).contains(gap))
}

pub(super) fn figures() -> Result<Vec<Figure>> {
    Ok(vec![table_1()?, figure_6()?, figure_7()?, figure_8()?, efficiency_figure(Variant::Standard)?, efficiency_figure(Variant::Classic)?])
}

/// The distributions whose formulas are in table 1, at the size of figure 6 and with three probes.
fn table_1() -> Result<Figure> {
    let (classic, standard) = (Occupancy::classic(100, 20, 3)?.pmf()?, Occupancy::standard(100, 20, 3)?.pmf()?);
    let rows = classic.iter().zip(&standard).enumerate().map(|(ones, (classic, standard))| Ok(vec![ones as f64, *classic, *standard]));
    Figure::new(
        "burns-table-1",
        "distribution of the number of set bits; 100 bits, 20 items, 3 probes",
        &["ones", "classic", "standard"],
        rows.collect(),
    )
}

fn figure_6() -> Result<Figure> {
    let row = |probes: u32| Ok(vec![probes.into(), classic(100, 20, probes)?, standard(100, 20, probes)?]);
    Figure::new(
        "burns-6",
        "false-positive rate for each number of probes; 100 bits, 20 items",
        &["probes", "classic", "standard"],
        (1..=40).map(row).collect(),
    )
}

fn figure_7() -> Result<Figure> {
    let row = |probes: u32| Ok([vec![probes.into()], bounds_at(1000, 20, probes)?.to_vec()].concat());
    let columns = ["probes", "upper", "standard", "middle", "classic", "lower"];
    Figure::new(
        "burns-7",
        "false-positive rates and their bounds for each number of probes; 1,000 bits, 20 items",
        &columns,
        (25..=50).map(row).collect(),
    )
}

fn figure_8() -> Result<Figure> {
    let row = |items| {
        let [standard, classic] = [Variant::Standard, Variant::Classic].map(|variant| best(variant, 1024, items));
        Ok(vec![items as f64, estimate(1024, items), standard?.into(), classic?.into()])
    };
    let columns = ["items", "estimate", "standard", "classic"];
    Figure::new("burns-8", "best number of probes for each number of items; 1,024 bits", &columns, (2..=17).map(row).collect())
}

/// Figures 9 and 10.
fn efficiency_figure(variant: Variant) -> Result<Figure> {
    let (name, text) = match variant {
        Variant::Classic => ("burns-10", "efficiency for each number of items; classic filter of 100 bits"),
        _ => ("burns-9", "efficiency for each number of items; standard filter of 100 bits"),
    };
    // For figure 10, also the curve whose peak the paper's text discusses.
    let probes = || (1..=20).chain((variant == Variant::Classic).then_some(50));
    let columns: Vec<String> = std::iter::once("items".to_owned()).chain(probes().map(|probes| format!("k{probes}"))).collect();
    let row = |items: u64| {
        let values = probes().map(|probes| efficiency(variant, 100, items, probes));
        std::iter::once(Ok(items as f64)).chain(values).collect()
    };
    Ok(Figure { name, text, columns, rows: (1..=100).map(row).collect::<Result<_>>()?, words: Vec::new() })
}

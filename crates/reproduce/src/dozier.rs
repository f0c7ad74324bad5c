//! Dozier, Salamatian and Rubenstein, *Modeling Average False Positive Rates of Recycling Bloom
//! Filters*, section V: figures 3 to 7, with simulations of filters beside the models.
//!
//! The paper states neither the number of probes k nor the values in its figures. So each figure is
//! recomputed for several k, and the paper's "around 30%" becomes a function of the rate. Simulated
//! filters receive only new items, because false positives are defined only for new items, and
//! repeats of remembered items change nothing.

use crate::cells::{Cell, Known, are_shares};
use crate::fixed_messages::{Epochs, Experiment};
use crate::{Claim, Effort, Figure, Maker, Trial};
use truebloom_math::recycling::{
    Bracket, Counting, Design, Mode, Phases, Seeds, Stream, Subject, Trigger, capacity, n_bounded, simulate_subject, subject,
};
use truebloom_math::{Approximation, Rate, Result};

/// The number of new items in a trial.
pub(super) const ITEMS: u64 = 10_000;

/// The number of new items for every point in the claims.
const CLAIM_ITEMS: u64 = 200_000;

/// The number of bits of the paper's filter.
const BITS: u64 = 1_000;
const PROBES: [u32; 3] = [3, 5, 7];

/// The mode with one phase. Seeds are renewed with each cycle, so that two phases have different
/// positions, as (26) assumes.
const ONE: Mode = Mode { phases: Phases::One, colliding: true, retaining: false, seeds: Seeds::Renewed };

fn two_phases(trigger: Trigger) -> Mode {
    Mode { phases: Phases::Two(trigger), ..ONE }
}

/// The share of new items that the simulated filter reports as seen, with a 99% interval.
fn simulated(trial: Trial, items: u64, seed: u64, make: Maker<'_>) -> Result<Bracket> {
    let mut filter: Box<dyn Subject> = match make(&trial, seed) {
        Some(made) => made,
        None => Box::new(subject(&trial.design, trial.most_items, seed)?),
    };
    Ok(simulate_subject(&mut *filter, trial.design.mode(), Stream::New, items, seed)?.instance)
}

/// The simulation as a cell with three numbers: value, lower and upper end.
fn cell<'a>(name: String, trial: Trial, items: u64, seed: u64, make: Maker<'a>) -> Cell<'a> {
    Cell {
        name: format!("{name} items={items}"),
        steps: items as f64 * (30.0 + 5.0 * f64::from(trial.design.probes())),
        fits: are_shares(3),
        is_experiment: true,
        run: Box::new(move || simulated(trial, items, seed, make).map(|seen| vec![seen.value, seen.lower, seen.upper])),
    }
}

/// One point of figure 3: the probes, sigma, and the model's rate.
struct Modelled {
    design: Design,
    model: f64,
}

impl Modelled {
    /// All points of figure 3, for a filter of 1,000 bits in total.
    fn all(mode: Mode) -> Result<Vec<Modelled>> {
        let bits = BITS / mode.filters();
        let sigmas = (1..10).map(|tenths| tenths * bits / 10);
        let points = PROBES.iter().flat_map(|&probes| sigmas.clone().map(move |sigma| (probes, sigma)));
        points
            .map(|(probes, sigma)| {
                let design = Design::new(bits, probes, sigma, mode)?;
                Ok(Modelled { design, model: design.long_run()?.fpr.value })
            })
            .collect()
    }

    /// The simulated rate of the filter.
    fn simulated<'a>(&self, items: u64, make: Maker<'a>) -> Cell<'a> {
        let (design, mode) = (self.design, self.design.mode());
        let phases = match mode.phases {
            Phases::Two(Trigger::Included) => "two-included",
            Phases::Two(Trigger::Excluded) => "two-excluded",
            _ => "one",
        };
        let name = format!("dozier-3 {phases} k={} sigma={}", design.probes(), design.sigma());
        let seed = design.sigma() * 100 + u64::from(design.probes());
        cell(name, Trial { design, most_items: None }, items, seed, make)
    }

    fn row(&self, seen: &[f64]) -> Vec<f64> {
        [&[self.design.probes().into(), self.design.sigma() as f64, self.model], seen].concat()
    }
}

/// The lower and the upper end of an interval.
type Interval = [f64; 2];

fn bracket(seen: &[f64]) -> Result<Interval> {
    match seen {
        [_, lower, upper] => Ok([*lower, *upper]),
        _ => Err(truebloom_math::Error::out_of_range("numbers of an experiment", seen.len(), "three")),
    }
}

fn inside(model: f64, [lower, upper]: &Interval) -> bool {
    (*lower..=*upper).contains(&model)
}

/// The largest number of 99% intervals that may miss the model's rate. If the model is right, more
/// misses have a probability below 1e-3, so they count as a contradiction.
fn may_miss(points: usize) -> usize {
    let (mut left, mut chance) = (1.0, libm::pow(0.99, points as f64));
    for misses in 0..points {
        left -= chance;
        if left < 1e-3 {
            return misses;
        }
        chance *= (points - misses) as f64 / (misses + 1) as f64 * 0.01 / 0.99;
    }
    points
}

/// The smallest expected number of false positives for which a point is compared.
const FEWEST: f64 = 50.0;

fn interval_claim(names: [&'static str; 3], models: &[f64], seen: &[Interval]) -> Claim {
    let visible: Vec<_> = models.iter().zip(seen).filter(|(model, _)| **model * CLAIM_ITEMS as f64 >= FEWEST).collect();
    let hits = visible.iter().filter(|(model, seen)| inside(**model, seen)).count();
    let rare = match models.len() - visible.len() {
        0 => String::new(),
        rare => format!("; at {rare} other points, false positives are too rare to measure"),
    };
    Claim::statement(
        names,
        "at all points",
        visible.len() - hits <= may_miss(visible.len()),
        format!("the rate is inside the interval at {hits} of {} points{rare}", visible.len()),
    )
}

fn figure_3_claims(make: Maker<'_>, known: &Known) -> Result<Vec<Claim>> {
    let points = |mode| {
        let models = Modelled::all(mode)?;
        let seen = models.iter().map(|point| bracket(&point.simulated(CLAIM_ITEMS, make).value(known)?)).collect::<Result<Vec<_>>>()?;
        Ok::<_, truebloom_math::Error>((models.iter().map(|point| point.model).collect::<Vec<_>>(), seen))
    };
    let one = points(ONE)?;
    let excluded = points(two_phases(Trigger::Excluded))?;
    let included = points(two_phases(Trigger::Included))?;
    let claim = |names, model: &(Vec<f64>, _), filter: &(_, Vec<Interval>)| interval_claim(names, &model.0, &filter.1);
    let corrected = claim(["", "", ""], &included, &included);
    Ok(vec![
        claim(
            ["figure-3-one", "figure 3", "for one phase, the model's rate is inside the 99% confidence interval of the rate of a simulated filter; M = 1,000; points: k = 3, 5, 7 with sigma = 100 to 900"],
            &one,
            &one,
        ),
        claim(
            [
                "figure-3-two",
                "section II-C and figure 3",
                "for two phases, the model's rate (formula (26)) is inside the 99% confidence interval of the rate of a simulated filter; this filter inserts each item before it compares the number of set bits with sigma; two filters of 500 bits; points: k = 3, 5, 7 with sigma = 50 to 450",
            ],
            &excluded,
            &included,
        )
        .unless("the claim is true of another model, in which the bits of the item that ends a phase (the trigger) stay in the frozen filter", corrected.verdict == crate::Verdict::Confirmed, "D10"),
        claim(
            ["figure-3-two-excluded", "formula (24) and figure 3", "for two phases, the model's rate (formula (26)) is inside the 99% confidence interval of the rate of a simulated filter; in this simulation, the item that ends a phase (the trigger) is removed from the frozen filter; two filters of 500 bits; points: k = 3, 5, 7 with sigma = 50 to 450"],
            &excluded,
            &excluded,
        ),
    ])
}

/// A point of figure 4: the rates for one number of probes and items.
struct Counted {
    probes: u32,
    items: u64,
    /// The rates f_o and f_a by the printed formulas; `exact` has the same rates by a Markov chain.
    printed: [f64; 2],
    exact: [f64; 2],
}

impl Counted {
    fn all() -> Result<Vec<Counted>> {
        let points = PROBES.iter().flat_map(|&probes| (1..=6).map(move |i| (probes, 50 * i)));
        points
            .map(|(probes, items)| {
                let oracle = n_bounded(BITS, probes, items, Counting::Oracle)?;
                let real = n_bounded(BITS, probes, items, Counting::Real)?;
                let (printed, exact) = ([oracle.printed, real.printed], [oracle.fpr.value, real.fpr.value]);
                Ok(Counted { probes, items, printed, exact })
            })
            .collect()
    }

    fn simulated<'a>(&self, arrivals: u64, make: Maker<'a>) -> Result<Cell<'a>> {
        let design = Design::new(BITS, self.probes, BITS - 1, Mode::default())?;
        let trial = Trial { design, most_items: Some(self.items) };
        let name = format!("dozier-4 k={} n={}", self.probes, self.items);
        Ok(cell(name, trial, arrivals, self.items * 10 + u64::from(self.probes), make))
    }
}

fn figure_4_claims(make: Maker<'_>, known: &Known) -> Result<Vec<Claim>> {
    let points = Counted::all()?;
    let held = |holds: &dyn Fn(&Counted) -> bool| points.iter().filter(|point| holds(point)).count();
    let statement = |names, printed, count: usize| {
        Claim::statement(names, printed, count == points.len(), format!("the claim held at {count} of {} points", points.len()))
    };
    let exact: Vec<f64> = points.iter().map(|point| point.exact[1]).collect();
    let seen = points.iter().map(|point| bracket(&point.simulated(CLAIM_ITEMS, make)?.value(known)?)).collect::<Result<Vec<_>>>()?;
    let below = held(&|point| point.printed[0] <= point.exact[1] && point.printed[1] <= point.exact[1]);
    Ok(vec![
        statement(
            [
                "figure-4-bounds",
                "figure 4",
                "if a filter is emptied each time N items have set a new bit, the approximations f_o and f_a are below the average rate; M = 1,000; points: k = 3, 5, 7 with N up to 300",
            ],
            "holds",
            below,
        ),
        statement(
            [
                "figure-4-tighter",
                "figure 4",
                "if a filter is emptied each time N items have set a new bit, the approximation f_a is closer to the average rate than f_o; M = 1,000; points: k = 3, 5, 7 with N up to 300",
            ],
            "holds",
            held(&|point| point.printed[0] < point.printed[1]),
        ),
        interval_claim(
            [
                "figure-4-exact",
                "figure 4",
                "if a filter is emptied each time N items have set a new bit, the exact average rate is inside the 99% confidence interval of the simulated rate; M = 1,000; points: k = 3, 5, 7 with N up to 300",
            ],
            &exact,
            &seen,
        ),
    ])
}

/// The item counts that filters of one size hold at one rate, each planned in a different way.
struct Held {
    /// The number of items N of a filter planned by f_w, formula (1), as in the paper.
    worst: f64,
    /// The number of items N of a filter planned by f_a, as printed.
    counted: f64,
    /// The mean number of items per cycle, E[N_0], of a filter with one phase that is emptied by
    /// sigma.
    sigma: f64,
}

impl Held {
    fn new(bits: u64, rate: &str) -> Result<Held> {
        let rate: Rate = rate.parse()?;
        let worst = worst_items(bits, rate.to_f64()) as f64;
        let sigma = capacity(bits, &rate, Mode::default())?.map_or(0.0, |found| found.run.items_per_cycle.value);
        Ok(Held { worst, counted: counted_items(bits, rate.to_f64()) as f64, sigma })
    }

    fn row(&self, first: f64) -> Vec<f64> {
        vec![first, self.worst, self.counted, self.sigma, self.worst / self.sigma, self.counted / self.sigma]
    }

    /// The percentage by which a filter planned by f_w holds fewer items than one planned by sigma.
    fn reduction(&self) -> f64 {
        100.0 * (1.0 - self.worst / self.sigma)
    }
}

/// The largest N whose rate by (1) is at most `rate`, over up to 32 probes.
fn worst_items(bits: u64, rate: f64) -> u64 {
    let most = |probes: u32| {
        let k = f64::from(probes);
        (libm::log1p(-libm::pow(rate, 1.0 / k)) / (k * libm::log1p(-1.0 / bits as f64))) as u64
    };
    (1..=32).map(most).max().unwrap_or(0)
}

/// The largest N whose f_a, as printed, is at most `rate`, over up to 32 probes.
fn counted_items(bits: u64, rate: f64) -> u64 {
    let most = |probes: u32| {
        let (mut items, mut passed) = (0u64, 0.0);
        loop {
            let f = Approximation::SeveranceLohman.value(bits, items, probes).unwrap_or(f64::NAN);
            let more = passed + f / (1.0 - f);
            // The f_a for one more item.
            if more.is_nan() || more / ((items + 1) as f64 + more) > rate {
                return items;
            }
            (items, passed) = (items + 1, more);
        }
    };
    (1..=32).map(most).max().unwrap_or(0)
}

const SIZES: [u64; 8] = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000];
const RATES: [&str; 11] = ["0.2", "0.1", "0.05", "0.02", "0.01", "0.005", "0.002", "0.001", "1e-4", "1e-5", "1e-6"];
/// The number of bits in figure 6.
const LARGE: u64 = 100_000;

fn number(rate: &str) -> Result<f64> {
    Ok(rate.parse::<Rate>()?.to_f64())
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, 0.0), |(low, high), &value| (value.min(low), value.max(high)))
}

fn capacity_claims() -> Result<Vec<Claim>> {
    let by_size: Vec<Held> = SIZES.iter().map(|&bits| Held::new(bits, "0.01")).collect::<Result<_>>()?;
    let by_rate: Vec<Held> = RATES.iter().map(|rate| Held::new(LARGE, rate)).collect::<Result<_>>()?;
    let (least, most) = range(&by_size.iter().map(Held::reduction).collect::<Vec<_>>());
    let (near, far) = range(&by_size.iter().map(|held| 100.0 * (held.counted / held.sigma - 1.0).abs()).collect::<Vec<_>>());
    let reductions: Vec<f64> = by_rate.iter().map(Held::reduction).collect();
    let list = |numbers: &[f64]| crate::listed(RATES.iter().zip(numbers).map(|(rate, number)| format!("{number:.1}% at p = {rate}")));
    let gains: Vec<f64> = by_rate.iter().map(|held| 100.0 * (held.sigma / held.worst - 1.0)).collect();
    let (lowest, highest) = range(&reductions);
    let falls = reductions.windows(2).all(|pair| pair[0] > pair[1]);
    let overshoot = n_bounded(BITS, 6, 155, Counting::Real)?.fpr.value;
    Ok(vec![
        Claim::statement(
            ["figure-5-reduction", "section V-B and figure 5", "a filter planned by f_w (the highest rate of a cycle) holds over 30% fewer items than one planned by the model; p = 0.01, M = 100 to 100,000"],
            "holds",
            least > 30.0,
            format!("a filter planned by f_w holds {least:.1}% to {most:.1}% fewer items"),
        ),
        Claim::statement(
            ["figure-5-counted", "section V-B and figure 5", "f_a is a good approximation: a filter planned by f_a and a filter planned by the model hold the same number of items, within 3%; p = 0.01, M = 100 to 100,000"],
            "holds",
            far <= 3.0,
            format!("the item counts differ by {near:.1}% to {far:.1}%"),
        )
        .see("D16"),
        Claim::statement(
            ["figure-5-keeps", "section V-B and figure 5", "the rate of a filter planned by f_a is at most p = 0.01; M = 1,000, k = 6, N = 155"],
            "holds",
            overshoot <= 0.01,
            format!("the rate is {}", crate::shown(overshoot)),
        )
        .see("D16"),
        Claim::statement(
            ["figure-6-reduction", "section V-B and figure 6", "how many percent fewer items a filter planned by f_w (the highest rate of a cycle) holds than one planned by the model; M = 100,000"],
            "30%",
            lowest > 25.0 && highest < 35.0,
            list(&reductions),
        )
        .unless("the percentage falls as p falls, from 48% at p = 0.2 to 18% at p = 1e-6", falls && highest > 47.0 && lowest < 19.0, "D17"),
        Claim::statement(
            ["thirty-percent", "abstract and section I", "a filter planned by the model holds at least 30% more items than one planned by f_w (the highest rate of a cycle); M = 100,000"],
            "holds",
            gains.iter().all(|gain| *gain >= 30.0),
            format!("a filter planned by the model holds more items by these shares: {}", list(&gains)),
        )
        .unless("the claim is true if p is at least 1e-4", gains[..9].iter().all(|gain| *gain >= 30.0), "D17"),
    ])
}

/// The number of items of one phase, divided by that of each of two phases in the same memory. The
/// first ratio is for two phases without the trigger, as in (24); the second is for two phases that
/// keep the trigger.
fn ratios(bits: u64, rate: &str) -> Result<[f64; 2]> {
    let rate: Rate = rate.parse()?;
    let items =
        |mode| Ok::<f64, truebloom_math::Error>(capacity(bits, &rate, mode)?.map_or(f64::NAN, |found| found.run.items_per_cycle.value));
    let one = items(ONE)?;
    Ok([one / items(two_phases(Trigger::Excluded))?, one / items(two_phases(Trigger::Included))?])
}

fn figure_7_claims() -> Result<Vec<Claim>> {
    let ratios: Vec<[f64; 2]> = RATES.iter().map(|rate| ratios(LARGE, rate)).collect::<Result<_>>()?;
    let both = crate::listed(RATES.iter().zip(&ratios).map(|(rate, [_, kept])| format!("{:.2} at p = {rate}", kept / 2.0)));
    Ok(vec![
        Claim::statement(
            [
                "figure-7-one",
                "section V-C and figure 7",
                "in the same memory, a filter with one phase holds more items than each phase of a filter with two phases, whether or not the bits of the item that ends a phase (the trigger) stay in the frozen filter; M = 100,000",
            ],
            "holds",
            ratios.iter().flatten().all(|ratio| *ratio > 1.0),
            format!("a filter with one phase holds {} to {} times as many items as each phase of a filter with two phases", crate::shown(ratios[RATES.len() - 1][0]), crate::shown(ratios[0][1])),
        ),
        Claim::statement(
            [
                "figure-7-match",
                "section I and figure 7",
                "in the same memory, a filter with two phases holds nearly as many items as a filter with one phase, which holds at most 1.1 times as many; M = 100,000",
            ],
            "holds",
            ratios.iter().all(|[_, kept]| kept / 2.0 < 1.1),
            format!("the filter with one phase holds more items by these factors: {both}"),
        )
        .unless(
            "the factor falls slowly as p falls, but is still above 1.2 at p = 1e-6",
            ratios.windows(2).all(|pair| pair[0][1] > pair[1][1]),
            "D18",
        ),
    ])
}

/// Claims that follow from the formulas, for a small chain and in closed form.
fn formula_claims() -> Result<Vec<Claim>> {
    let cycle = Design::new(6, 2, 4, Mode::default())?.long_run()?.items_per_cycle.value;
    let (bits, sigma) = (BITS, 300u64);
    let run = Design::new(bits, 1, sigma, Mode::default())?.long_run()?;
    let sum: f64 = (0..=sigma).map(|j| 1.0 / (bits - j) as f64).sum();
    let closed = 1.0 - (sigma + 1) as f64 / (bits as f64 * sum);
    Ok(vec![
        Claim::misprint(
            ["cycle", "formulas (20) to (23)", "E[N_0], the mean number of items per cycle; M = 6, k = 2, sigma = 4"],
            "3.0702",
            cycle,
            "4.6060",
            "D1",
        ),
        Claim::statement(
            ["one-probe", "formula (19)", "for k = 1, formula (19) gives the model's rate; checked in the simpler form 1 - (sigma + 1)/(M S), where S is the sum of 1/(M - j) over j = 0 to sigma; M = 1,000, sigma = 300"],
            "holds",
            (closed / run.fpr.value - 1.0).abs() < 1e-12,
            format!("the simpler form gives {}, and the model gives {}", crate::shown(closed), crate::shown(run.fpr.value)),
        )
        .see("D22"),
    ])
}

pub(super) fn claims(make: Maker<'_>, known: &Known) -> Result<Vec<Claim>> {
    let mut claims = formula_claims()?;
    claims.extend(figure_3_claims(make, known)?);
    claims.extend(figure_4_claims(make, known)?);
    claims.extend(fixed_claims(known)?);
    claims.extend(capacity_claims()?);
    claims.extend(figure_7_claims()?);
    Ok(claims)
}

const MODELLED: [&str; 6] = ["probes", "sigma", "model", "simulated", "lower", "upper"];
const CAPACITIES: [&str; 5] = ["f_w items", "f_a items", "sigma items", "f_w ratio", "f_a ratio"];

/// The simulations: figures 3 and 4, each with the given effort and with the effort of the claims,
/// and the paper's own experiment.
pub(super) fn cells<'a>(effort: &Effort, make: Maker<'a>) -> Vec<Cell<'a>> {
    let wanted = |items: u64| [items, CLAIM_ITEMS].into_iter().filter(|items| *items > 0);
    let third = MODES.iter().filter_map(|&(_, _, mode)| Modelled::all(mode).ok()).flatten();
    let third = third.flat_map(|point| wanted(effort.items_3).map(move |items| point.simulated(items, make)).collect::<Vec<_>>());
    let fourth = Counted::all().unwrap_or_default().into_iter();
    let fourth =
        fourth.flat_map(|point| wanted(effort.items_4).filter_map(move |items| point.simulated(items, make).ok()).collect::<Vec<_>>());
    let own = [false, true].map(|two| [false, true].map(|renewed| own_experiment(two, renewed)));
    third.chain(fourth).chain(own.into_iter().flatten().flatten().map(|(_, cell)| cell)).collect()
}

/// The paper's own experiment at the points of figure 3: for each point, the model's rate, and a
/// simulation over epochs with the same 1,000 messages. The model of two phases is (26) if
/// positions are fixed; if positions are renewed, it is the model that keeps the trigger.
fn own_experiment(two: bool, renewed: bool) -> Vec<(Modelled, Cell<'static>)> {
    let mode = match (two, renewed) {
        (false, _) => ONE,
        (true, false) => two_phases(Trigger::Excluded),
        (true, true) => two_phases(Trigger::Included),
    };
    let with_cell = |point: Modelled| {
        let (bits, probes, sigma) = (point.design.bits(), point.design.probes(), point.design.sigma());
        let experiment = Experiment { bits, probes, sigma, two, renewed };
        let name =
            format!("dozier-3 fixed{}{} k={probes} sigma={sigma}", if two { " two" } else { "" }, if renewed { " renewed" } else { "" });
        let cell = Cell {
            name,
            steps: if two { 6e7 } else { 3e7 },
            fits: Box::new(|values| values.len() == 4 && values.iter().all(|value| value.is_finite()) && (0.0..=1.0).contains(&values[0])),
            is_experiment: true,
            run: Box::new(move || Ok(experiment.run().numbers())),
        };
        (point, cell)
    };
    Modelled::all(mode).unwrap_or_default().into_iter().map(with_cell).collect()
}

/// Returns three results for the points with enough false positives: the number of intervals that
/// contain the model's rate, the number of points, and a text about the point whose mean differs
/// most from the model.
fn inside_epochs(two: bool, renewed: bool, known: &Known) -> Result<(usize, usize, String)> {
    let (mut hits, mut all, mut worst, mut farthest) = (0, 0, String::new(), 0.0);
    for (point, cell) in own_experiment(two, renewed) {
        let epochs = Epochs::of(&cell.value(known)?);
        if point.model * epochs.new < FEWEST {
            continue;
        }
        all += 1;
        hits += usize::from(inside(point.model, &[epochs.lower, epochs.upper]));
        let off = (epochs.mean - point.model).abs() / (epochs.upper - epochs.lower);
        if off > farthest {
            let design = point.design;
            farthest = off;
            worst = format!(
                "k = {}, sigma = {}, where the model gives {} and the simulation {} to {}",
                design.probes(),
                design.sigma(),
                crate::shown(point.model),
                crate::shown(epochs.lower),
                crate::shown(epochs.upper)
            );
        }
    }
    Ok((hits, all, worst))
}

fn fixed_claims(known: &Known) -> Result<Vec<Claim>> {
    let claim = |names, two| {
        let (hits, all, worst) = inside_epochs(two, false, known)?;
        let (renewed_hits, renewed_all, _) = inside_epochs(two, true, known)?;
        let renewed = match two {
            true => "if the items have new positions in every phase, and the model keeps the bits of the trigger",
            false => "if the items have new positions in every cycle",
        };
        let found = format!(
            "the rate is inside the interval at {hits} of {all} points; {renewed}, at {renewed_hits} of {renewed_all} points; with fixed positions, the largest difference is at {worst}"
        );
        let claim = Claim::statement(names, "at all points", all - hits <= may_miss(all), found);
        Ok::<_, truebloom_math::Error>((claim, renewed_all - renewed_hits <= may_miss(renewed_all)))
    };
    let (one, one_renewed) = claim(
        [
            "figure-3-own-experiment",
            "section V-A1 and figure 3",
            "for one phase, the model's rate is inside the 99% confidence interval of the simulated rate; 7 simulations of 100,000 arrivals each, drawn from one set of 1,000 items; M = 1,000; points: k = 3, 5, 7 with sigma = 100 to 900",
        ],
        false,
    )?;
    let (two, two_renewed) = claim(
        [
            "figure-3-own-two-phases",
            "section V-A1 and figure 3",
            "for two phases, the model's rate (formula (26)) is inside the 99% confidence interval from 10 simulations (epochs) of 100,000 arrivals each; all arrivals are drawn from one set of 1,000 items; two filters of 500 bits; points: k = 3, 5, 7 with sigma = 50 to 450",
        ],
        true,
    )?;
    Ok(vec![
        one.unless("the claim is true if the items have new positions in every cycle, as in the model", one_renewed, "D29"),
        two.unless(
            "the claim is true if the items have new positions in every phase, and if the model keeps the bits of the item that ends a phase (the trigger) in the frozen filter",
            two_renewed,
            "D29",
        ),
    ])
}

/// The names and modes of the three panels of figure 3.
const MODES: [(&str, &str, Mode); 3] = [
    (
        "dozier-3-one",
        "false-positive rates of a filter with one phase of 1,000 bits; bands: the 99% confidence interval of a simulated filter",
        ONE,
    ),
    (
        "dozier-3-two-excluded",
        "two phases of 500 bits; the trigger (the item that ends a phase) is removed from the frozen filter, as in formula (24); bands: the 99% confidence interval of a simulated filter",
        Mode { phases: Phases::Two(Trigger::Excluded), ..ONE },
    ),
    (
        "dozier-3-two-included",
        "two phases of 500 bits; the bits of the trigger (the item that ends a phase) stay in the frozen filter, because the filter inserts first; bands: the 99% confidence interval of a simulated filter",
        Mode { phases: Phases::Two(Trigger::Included), ..ONE },
    ),
];

pub(super) fn figures(effort: &Effort, make: Maker<'_>, known: &Known) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (name, text, mode) in MODES {
        let rows = Modelled::all(mode)?.iter().map(|point| Ok(point.row(&point.simulated(effort.items_3, make).value(known)?))).collect();
        let mut figure = Figure::new(name, text, &MODELLED, rows)?;
        if mode.phases == Phases::Two(Trigger::Included) {
            // The curve that the paper draws beside such a filter.
            figure.columns.push("formula 26".to_owned());
            figure.rows.iter_mut().zip(Modelled::all(two_phases(Trigger::Excluded))?).for_each(|(row, point)| row.push(point.model));
        }
        figures.push(figure);
    }
    let row = |point: &Counted| {
        let seen = point.simulated(effort.items_4, make)?.value(known)?;
        Ok([&[point.probes.into(), point.items as f64][..], &point.printed, &point.exact, &seen].concat())
    };
    let columns = |first: &'static str| [&[first][..], &CAPACITIES].concat();
    let by_size = SIZES.iter().map(|&bits| Ok(Held::new(bits, "0.01")?.row(bits as f64))).collect();
    let by_rate = RATES.iter().map(|rate| Ok(Held::new(LARGE, rate)?.row(number(rate)?))).collect();
    let seven = [1_000, 10_000, LARGE].iter().flat_map(|&bits| RATES.iter().map(move |&rate| (bits, rate)));
    let seven = seven.map(|(bits, rate)| {
        let [excluded, included] = ratios(bits, rate)?;
        Ok(vec![bits as f64, number(rate)?, excluded, included])
    });
    figures.extend([
        Figure::new(
            "dozier-4",
            "1,000 bits; f_o and f_a: the formulas as printed; points and bands: a simulated filter that is emptied after N items that set a new bit, with its 99% confidence interval",
            &["probes", "items", "f_o printed", "f_a printed", "f_o exact", "f_a exact", "simulated", "lower", "upper"],
            Counted::all()?.iter().map(row).collect(),
        )?,
        Figure::new("dozier-5", "number of items at a false-positive rate of 0.01, divided by the number of items of a filter that is emptied when more than sigma bits are set", &columns("bits"), by_size)?,
        Figure::new("dozier-6", "number of items in 100,000 bits, divided by the number of items of a filter that is emptied when more than sigma bits are set", &columns("rate"), by_rate)?,
        Figure::new(
            "dozier-7",
            "number of items of a filter with one phase, divided by the number of items of each phase of a filter with two phases in the same memory; trigger: the item that ends a phase",
            &["bits", "rate", "trigger excluded", "trigger included"],
            seven.collect(),
        )?,
    ]);
    for (two, name, text) in [
        (
            false,
            "dozier-3-own",
            "the simulation that the paper describes: one set of 1,000 messages, 7 epochs of 100,000 arrivals, one phase; bands: the 99% confidence interval from the epochs",
        ),
        (
            true,
            "dozier-3-own-two",
            "the simulation that the paper describes: one set of 1,000 messages, 10 epochs of 100,000 arrivals, two phases of 500 bits; lines: formula (26); bands: the 99% confidence interval from the epochs",
        ),
    ] {
        let row = |(point, cell): (Modelled, Cell<'_>)| {
            let epochs = Epochs::of(&cell.value(known)?);
            Ok(point.row(&[epochs.mean, epochs.lower, epochs.upper]))
        };
        figures.push(Figure::new(name, text, &MODELLED, own_experiment(two, false).into_iter().map(row).collect())?);
    }
    Ok(figures)
}

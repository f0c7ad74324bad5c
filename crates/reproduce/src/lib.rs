//! The results of five papers, computed again by this library. The results are numbers that the
//! papers print, statements that numbers can test, and the data of every figure.
//!
//! A [`Claim`] is one printed number, or one statement that numbers can test. Its [`Verdict`]
//! follows from the numbers. A printed number is confirmed if our number agrees with all its
//! digits. The number is corrected if our number agrees only with the correction in
//! `docs/ERRATA.md`. Otherwise, it is refuted. A statement about filters of all sizes is tested on
//! the range that the claim's text names. A counterexample in this range refutes the statement.
//! Without a counterexample, nothing is proven about sizes beyond the range.
//!
//! ```
//! use truebloom_reproduce::{Paper, Verdict};
//! let claims = Paper::Grandi.claims()?;
//! let best = claims.iter().find(|claim| claim.id == "s1-best-standard").expect("is listed");
//! assert!(best.printed == "5" && best.ours == "5" && best.verdict == Verdict::Confirmed);
//! # Ok::<(), truebloom_math::Error>(())
//! ```

mod burns;
mod cells;
mod charts;
mod dozier;
mod fixed_messages;
mod grandi;
mod kirsch_mitzenmacher;
mod kirsch_mitzenmacher_sketch;
mod kirsch_mitzenmacher_trials;
mod lehr;
mod report;

pub use cells::{Done, Known};
pub use report::{Chapter, MARK, report};

use std::fmt;
use std::str::FromStr;
use truebloom_math::recycling::{Design, Subject};
use truebloom_math::{Error, Result, Variant};

/// A paper whose numbers are recomputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Paper {
    /// Burns, *On Occupancy Moments and Bloom Filter Efficiency*: sections 3.2 to 5, figures 6
    /// to 10.
    Burns,
    /// Grandi, *On the analysis of Bloom filters*: section 3, figure 1.
    Grandi,
    /// Lehr, *The Bloom Filter Hashing Solution*: the whole paper.
    Lehr,
    /// Kirsch and Mitzenmacher, *Building a Better Bloom Filter*: sections 3 to 8, figures 1 and 2.
    KirschMitzenmacher,
    /// Dozier, Salamatian and Rubenstein, *Modeling Average False Positive Rates of Recycling Bloom
    /// Filters*: sections IV and V, figures 3 to 7.
    Dozier,
}

/// A recycling filter, which forgets old items, for a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The design of the filter. The filter is recycled (emptied) when the number of set bits
    /// exceeds the recycle threshold of the design (`sigma`).
    pub design: Design,
    /// If a number is given, the filter is also recycled when this number of items have set bits
    /// since the last recycle.
    pub most_items: Option<u64>,
}

/// A function that makes the filter of a trial from a seed. If the function returns `None`, the
/// filter of [`truebloom_math::recycling::subject`] is simulated. With such a function, a program
/// can compare other filters with the models.
pub type Maker<'a> = &'a (dyn Fn(&Trial, u64) -> Option<Box<dyn Subject>> + Sync);

/// The amount of simulation for the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The number of filters for every point of figures 1 and 2 of Kirsch and Mitzenmacher. The
    /// paper used 10,000.
    pub(crate) filters: u64,
    /// The number of new items for every point of figure 3 of Dozier et al. The paper used 7 epochs
    /// of 100,000 arrivals.
    pub(crate) items_3: u64,
    /// The number of new items for every point of figure 4 of Dozier et al. The paper used 14
    /// epochs of 1,000,000 arrivals.
    pub(crate) items_4: u64,
}

impl Effort {
    /// One hundredth of the filters that the papers simulate, and a fraction of the items. With
    /// this effort, the figures take less than a minute.
    pub const QUICK: Effort = Effort { filters: 100, items_3: 200_000, items_4: 500_000 };
    /// The same numbers of filters and items as in the papers. With this effort, the figures take a
    /// few minutes.
    pub const FULL: Effort = Effort { filters: 10_000, items_3: 700_000, items_4: 14_000_000 };

    /// No simulation for figures. This effort is for programs that need only the claims, which are
    /// the same with every effort.
    pub const CLAIMS: Effort = Effort { filters: 0, items_3: 0, items_4: 0 };

    /// Creates an effort with `trials` simulated filters for every point of a figure. For recycling
    /// filters, `10,000 * trials` new items are simulated for every point instead.
    #[must_use]
    pub fn trials(trials: u64) -> Effort {
        let items = trials.saturating_mul(dozier::ITEMS);
        Effort { filters: trials, items_3: items, items_4: items }
    }
}

/// A [`Maker`] that makes no filters.
const NO_MAKER: Maker<'static> = &|_, _| None;

impl Paper {
    /// All papers.
    pub const ALL: [Paper; 5] = [Paper::Burns, Paper::Grandi, Paper::Lehr, Paper::KirschMitzenmacher, Paper::Dozier];

    /// Returns the short name of the paper, such as `burns` or `kirsch-mitzenmacher`.
    pub fn name(self) -> &'static str {
        match self {
            Paper::Burns => "burns",
            Paper::Grandi => "grandi",
            Paper::Lehr => "lehr",
            Paper::KirschMitzenmacher => "kirsch-mitzenmacher",
            Paper::Dozier => "dozier",
        }
    }

    /// Returns the authors and the title of the paper.
    pub fn title(self) -> &'static str {
        match self {
            Paper::Burns => "Burns, On Occupancy Moments and Bloom Filter Efficiency",
            Paper::Grandi => "Grandi, On the analysis of Bloom filters",
            Paper::Lehr => "Lehr, The Bloom Filter Hashing Solution",
            Paper::KirschMitzenmacher => "Kirsch and Mitzenmacher, Building a Better Bloom Filter",
            Paper::Dozier => "Dozier, Salamatian and Rubenstein, Modeling Average False Positive Rates of Recycling Bloom Filters",
        }
    }

    /// Returns the letters and terms in the claims of the paper, each with its meaning. A meaning
    /// may use the letters before it.
    pub fn notation(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Paper::Burns => &[
                ("m", "the number of bits"),
                ("n", "the number of items"),
                ("k", "the number of probes per item"),
                ("best probe count", "the k with the lowest false-positive rate of the filter"),
                ("p", "a required rate"),
                ("standard", "a filter with independent probes, which can coincide; f_S is its rate, and k_S its best probe count"),
                ("classic", "a filter with k distinct probes per item; f_C is its rate, and k_C its best probe count"),
                ("U", "(1 - (1 - k/m)^n)^k, an upper bound on both rates"),
                ("L", "formula (64) of the paper, a lower bound on both rates"),
                ("M", "(1 - (1 - 1/m)^(nk))^k, an approximation of the rates"),
                ("E", "(1 - e^(-nk/m))^k, another approximation"),
                (
                    "efficiency",
                    "n log2(1/f) / m, where f is the rate; for given m and k, the largest efficiency over all n is the peak efficiency; for a given m, the largest efficiency over all n and k is the greatest efficiency",
                ),
                ("C(a, b)", "the binomial coefficient"),
            ],
            Paper::Grandi => &[
                ("m", "the number of bits"),
                ("n", "the number of items"),
                ("k", "the number of probes per item"),
                ("best probe count", "the k with the lowest false-positive rate of the filter"),
                ("C", "the rate of the classic filter, which has k distinct probes per item"),
                ("S", "the rate of the standard filter, which has independent probes"),
                ("A1", "(1 - (1 - 1/m)^(nk))^k, an approximation of S; its error is a percentage of S, like all errors and differences"),
                ("A2", "(1 - e^(-nk/m))^k, an approximation of S"),
                ("A3", "formula (11) of the paper, an approximation of S"),
                ("S1, S2", "the two settings of the paper: m = 128 and n = 16 in S1, m = 128 and n = 8 in S2"),
            ],
            Paper::Lehr => &[
                ("N", "the number of bits"),
                ("m", "the number of items"),
                ("k", "the number of probes per item; a throw is a single probe"),
                ("C", "1 - 1/N"),
                ("E_i", "the mean number of set bits after i throws"),
                ("E", "the mean number of set bits after all km throws"),
                ("f_S", "the exact mean false-positive rate of the filter"),
            ],
            Paper::KirschMitzenmacher => &[
                ("m", "the number of bits"),
                ("n", "the number of items"),
                ("k", "the number of probes per item"),
                ("c", "m/n, the number of bits per item"),
                ("Pr", "the mean false-positive rate over all hash functions"),
                ("f", "(1 - e^(-k/c))^k, the limit of this rate for large filters"),
                ("n (Pr - f)", "n times the difference between the rate and its limit"),
                ("y", "e^(-k/c)"),
                ("double hashing", "computes the probes of an item from two hashes, h1 and h2"),
                (
                    "partition",
                    "a scheme that also computes the probes from two hashes, but in which each probe has its own slice of m/k bits",
                ),
                ("d, w", "the number of rows of a Count-Min sketch, and the number of counters in each row (section 9)"),
                ("epsilon", "an error as a share of the total count (section 9)"),
                ("delta", "the largest allowed probability of an error above epsilon (section 9)"),
            ],
            Paper::Dozier => &[
                ("M", "the total number of bits"),
                ("k", "the number of probes per item"),
                ("p", "a required false-positive rate"),
                (
                    "sigma, N",
                    "the limits of the two designs: a filter is emptied when more than sigma bits are set, or after N items that set a new bit",
                ),
                ("cycle", "the time from one emptying to the next"),
                (
                    "two phases",
                    "two filters that take turns: when the active filter is full, it becomes the frozen filter, which answers queries but receives no items",
                ),
                ("trigger", "the item that ends a cycle or a phase"),
                (
                    "model",
                    "the paper's model of a filter that is emptied by sigma; it gives the average rate and the mean number of items per cycle",
                ),
                ("E[N_0]", "this mean number of items"),
                ("f_w", "the rate after N items, which is the highest rate of a cycle"),
                ("f_o", "an approximation of the average rate: the average over the first N items of a cycle"),
                ("f_a", "an approximation of the average rate: the average over all items of a cycle with N items that set a new bit"),
                (
                    "planned by",
                    "a filter planned by f_w, by f_a or by the model holds the largest number of items for which this rate is at most p",
                ),
            ],
        }
    }

    /// Returns the claims of the paper, in the order of the paper. The computation takes less than
    /// two seconds, but longer for Dozier et al. No error is expected, because the sizes are those
    /// of the papers.
    pub fn claims(self) -> Result<Vec<Claim>> {
        self.claims_of(NO_MAKER, &Known::new())
    }

    /// Like [`claims`](Self::claims), with two differences. For Dozier et al., the function `make`
    /// makes the simulated filters. Results that `known` contains are not computed again (see
    /// [`Paper::experiments`]).
    pub fn claims_of(self, make: Maker<'_>, known: &Known) -> Result<Vec<Claim>> {
        match self {
            Paper::Burns => burns::claims(),
            Paper::Grandi => grandi::claims(),
            Paper::Lehr => lehr::claims(),
            Paper::KirschMitzenmacher => kirsch_mitzenmacher::claims(),
            Paper::Dozier => dozier::claims(make, known),
        }
    }

    /// Returns the data of the paper's figures, with a hundred trials of every experiment. Lehr's
    /// paper has no figures. For his paper, the result contains his sequence and the design tables
    /// that he describes. The computation takes a few seconds, but half a minute for Kirsch and
    /// Mitzenmacher.
    pub fn figures(self) -> Result<Vec<Figure>> {
        self.figures_of(&Effort::trials(100), NO_MAKER, &Known::new())
    }

    /// Like [`figures`](Self::figures), but `effort` sets the amount of simulation. The function
    /// `make` makes the recycling filters. Results that `known` contains are not computed again
    /// (see [`Paper::experiments`]). The random generator of the simulations is the same in every
    /// version of this crate.
    pub fn figures_of(self, effort: &Effort, make: Maker<'_>, known: &Known) -> Result<Vec<Figure>> {
        match self {
            Paper::Burns => burns::figures(),
            Paper::Grandi => grandi::figures(),
            Paper::Lehr => lehr::figures(),
            Paper::KirschMitzenmacher => kirsch_mitzenmacher_trials::figures(effort, known),
            Paper::Dozier => dozier::figures(effort, make, known),
        }
    }

    /// Runs the experiments for the claims and the figures on `threads` threads, and adds the
    /// numbers to `known`. Experiments whose numbers are already in `known` are not run again. The
    /// function `done` is called after each experiment. If `done` returns false, the run stops. The
    /// numbers do not depend on `threads`, and are the same if a run is stopped and continued
    /// later.
    ///
    /// ```
    /// use truebloom_reproduce::{Effort, Known, Paper};
    /// let mut known = Known::new();
    /// Paper::KirschMitzenmacher.experiments(&Effort::trials(2), &|_, _| None, &mut known, 2, |done| done.share < 0.01)?;
    /// assert!(!known.is_empty());
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    pub fn experiments(
        self,
        effort: &Effort,
        make: Maker<'_>,
        known: &mut Known,
        threads: usize,
        done: impl FnMut(&Done<'_>) -> bool,
    ) -> Result<()> {
        let cells = match self {
            Paper::KirschMitzenmacher => kirsch_mitzenmacher_trials::cells(effort),
            Paper::Dozier => dozier::cells(effort, make),
            _ => Vec::new(),
        };
        cells::run(&cells, known, threads, done)
    }
}

impl FromStr for Paper {
    type Err = Error;

    fn from_str(text: &str) -> Result<Paper> {
        let found = Paper::ALL.into_iter().find(|paper| paper.name() == text);
        found.ok_or_else(|| Error::out_of_range("paper", text, format!("one of {}", Paper::ALL.map(Paper::name).join(", "))))
    }
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Our number agrees with every printed digit, or the statement held in all cases that the
    /// claim's text lists.
    Confirmed,
    /// The claim is wrong as printed, but a corrected form of the claim is confirmed.
    Corrected,
    /// The claim is wrong as printed, and no corrected form is confirmed.
    Refuted,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Verdict; 3] = [Verdict::Confirmed, Verdict::Corrected, Verdict::Refuted];

    /// Returns the verdict in one word.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Confirmed => "confirmed",
            Verdict::Corrected => "corrected",
            Verdict::Refuted => "refuted",
        }
    }

    /// Returns the meaning of the verdict.
    pub fn meaning(self) -> &'static str {
        match self {
            Verdict::Confirmed => "our number agrees with every printed digit, or the statement held in all cases that the claim lists",
            Verdict::Corrected => "wrong as printed; the corrected form is confirmed",
            Verdict::Refuted => "wrong as printed; no corrected form is confirmed",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One claim of a paper, and what this library computes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    /// A short name, unique within the paper.
    pub id: &'static str,
    /// The section or figure.
    pub place: &'static str,
    /// A short form of the claim in our own words, or a description of the printed number.
    pub text: &'static str,
    /// The number, formula or statement as printed. This is `holds` if `text` states the whole
    /// claim.
    pub printed: &'static str,
    /// The correct form of the claim if the verdict is [`Verdict::Corrected`], and otherwise
    /// `None`.
    pub corrected: Option<&'static str>,
    /// Our result. Numbers have up to six significant digits.
    pub ours: String,
    /// The verdict, which follows from the numbers.
    pub verdict: Verdict,
    /// The entry of `docs/ERRATA.md` about this claim. All corrected and refuted claims have one.
    /// For some confirmed claims, a row adds a note.
    pub erratum: Option<&'static str>,
}

impl Claim {
    /// A claim about a printed number. If `%` follows the number, the number and `ours` are both
    /// percentages.
    fn number(id: &'static str, place: &'static str, text: &'static str, printed: &'static str, ours: f64) -> Claim {
        let unit = if printed.ends_with('%') { "%" } else { "" };
        let verdict = if agrees(ours, printed) { Verdict::Confirmed } else { Verdict::Refuted };
        Claim { id, place, text, printed, corrected: None, ours: format!("{}{unit}", shown(ours)), verdict, erratum: None }
    }

    /// A claim about a wrong printed number, with the right number.
    fn misprint(
        [id, place, text]: [&'static str; 3],
        printed: &'static str,
        ours: f64,
        corrected: &'static str,
        erratum: &'static str,
    ) -> Claim {
        Claim::number(id, place, text, printed, ours).unless(corrected, agrees(ours, corrected), erratum)
    }

    /// A claim in words, whether it held as printed, and what was found.
    fn statement([id, place, text]: [&'static str; 3], printed: &'static str, holds: bool, ours: impl Into<String>) -> Claim {
        let verdict = if holds { Verdict::Confirmed } else { Verdict::Refuted };
        Claim { id, place, text, printed, corrected: None, ours: ours.into(), verdict, erratum: None }
    }

    /// Sets the corrected form of a claim that failed as printed, and whether that form held.
    fn unless(mut self, corrected: &'static str, holds: bool, erratum: &'static str) -> Claim {
        if self.verdict == Verdict::Refuted && holds {
            (self.verdict, self.corrected) = (Verdict::Corrected, Some(corrected));
        }
        self.see(erratum)
    }

    fn see(self, erratum: &'static str) -> Claim {
        Claim { erratum: Some(erratum), ..self }
    }
}

/// The data of one figure. The table has a row for each point, and a column for each curve.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// The paper's name and the figure's number.
    pub name: &'static str,
    /// A description of what the figure shows.
    pub text: &'static str,
    /// The names of the columns. The first column is the horizontal axis.
    pub columns: Vec<String>,
    /// The rows. Each row has one number for every column. Missing numbers are NaN.
    pub rows: Vec<Vec<f64>>,
    /// Further columns, which contain words. Each of them has a name, and one word for every row.
    pub words: Vec<(String, Vec<&'static str>)>,
}

impl Figure {
    fn new(name: &'static str, text: &'static str, columns: &[&str], rows: Result<Vec<Vec<f64>>>) -> Result<Figure> {
        Ok(Figure { name, text, columns: columns.iter().map(|&column| column.to_owned()).collect(), rows: rows?, words: Vec::new() })
    }

    /// Returns the figure as comma-separated values. The first line contains the names of the
    /// columns, and the columns of words come last. Numbers are written with enough digits to give
    /// exactly the same number when they are parsed. Missing numbers are left empty.
    pub fn csv(&self) -> String {
        let row = |(number, row): (usize, &Vec<f64>)| {
            let words = self.words.iter().map(|(_, words)| words.get(number).copied().unwrap_or_default().to_owned());
            row.iter().map(|&value| plain(value)).chain(words).collect::<Vec<_>>().join(",") + "\n"
        };
        let names: Vec<&str> = self.columns.iter().chain(self.words.iter().map(|(name, _)| name)).map(String::as_str).collect();
        std::iter::once(names.join(",") + "\n").chain(self.rows.iter().enumerate().map(row)).collect()
    }
}

/// The shortest text that parses to the same number.
fn plain(value: f64) -> String {
    match value {
        _ if value.is_nan() => String::new(),
        _ if value.fract() == 0.0 => format!("{value}"),
        _ => format!("{value:?}"),
    }
}

/// Whether the number, rounded to as many digits as are printed, equals the printed one: `5`,
/// `0.023`, `4.59e-4`, `11.18%`.
fn agrees(ours: f64, printed: &str) -> bool {
    let printed = printed.trim_end_matches('%');
    let mantissa = printed.split('e').next().unwrap_or(printed);
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    printed == if mantissa.len() < printed.len() { format!("{ours:.decimals$e}") } else { format!("{ours:.decimals$}") }
}

/// Joins the texts with commas, and `and` before the last one.
fn listed(texts: impl IntoIterator<Item = String>) -> String {
    let mut texts: Vec<String> = texts.into_iter().collect();
    match (texts.pop(), texts.is_empty()) {
        (Some(last), false) => format!("{} and {last}", texts.join(", ")),
        (last, _) => last.unwrap_or_default(),
    }
}

/// Writes a number to six digits.
fn shown(value: f64) -> String {
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() };
    match exponent {
        -3..=9 => trim(&format!("{value:.*}", (5 - exponent).max(0) as usize)),
        _ => format!("{}e{exponent}", trim(mantissa)),
    }
}

fn standard(bits: u64, items: u64, probes: u32) -> Result<f64> {
    Ok(Variant::Standard.fpr(bits, items, probes)?.value)
}

fn classic(bits: u64, items: u64, probes: u32) -> Result<f64> {
    Ok(Variant::Classic.fpr(bits, items, probes)?.value)
}

/// The percentage by which `value` exceeds `base`.
fn percent_above(value: f64, base: f64) -> f64 {
    100.0 * (value / base - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_to_the_printed_digits() {
        for (ours, printed) in [(4.5864e-4, "4.59e-4"), (0.022_539, "0.023"), (9.5045, "9.50%"), (5.0, "5"), (141.96, "142")] {
            assert!(agrees(ours, printed), "{ours} {printed}");
        }
        for (ours, printed) in [(4.5849e-4, "4.59e-4"), (4.59e-3, "4.59e-4"), (9.494, "9.50%"), (4.4, "5"), (f64::NAN, "5")] {
            assert!(!agrees(ours, printed), "{ours} {printed}");
        }
    }

    #[test]
    fn numbers_are_shown_to_six_digits() {
        for (value, text) in
            [(5.0, "5"), (0.022_539_072_9, "0.0225391"), (4.441e-11, "4.441e-11"), (0.5, "0.5"), (12_345_678.0, "12345678")]
        {
            assert_eq!(shown(value), text);
        }
    }
}

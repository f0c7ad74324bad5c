//! The papers rerun: every number that Burns, Grandi and Lehr print in their comparisons, and the
//! data of every figure, computed by this library.
//!
//! A [`Claim`] is one printed number, or one statement that numbers can decide. Its [`Verdict`]
//! follows from the numbers: what agrees with all printed digits is confirmed, what agrees only
//! with the correction of `docs/ERRATA.md` is confirmed with a correction, what neither saves is
//! refuted. Statements about all sizes are decided on the range that their text names: a
//! counterexample refutes, the lack of one there proves nothing beyond.
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
    /// Lehr, *The Bloom Filter Hashing Solution*: all of it.
    Lehr,
    /// Kirsch and Mitzenmacher, *Building a Better Bloom Filter*: sections 3 to 8, figures 1 and 2.
    KirschMitzenmacher,
    /// Dozier, Salamatian and Rubenstein, *Modeling Average False Positive Rates of Recycling Bloom
    /// Filters*: sections IV and V, figures 3 to 7.
    Dozier,
}

/// A recycling filter to be simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// When more than its sigma bits are set, it is recycled.
    pub design: Design,
    /// As it is when so many items have set bits, if that is earlier.
    pub most_items: Option<u64>,
}

/// Makes the filter of a trial from a seed, or leaves it to the one of
/// [`truebloom_math::recycling::subject`]. So real filters, which this crate does not know, stand
/// beside their models.
pub type Maker<'a> = &'a (dyn Fn(&Trial, u64) -> Option<Box<dyn Subject>> + Sync);

/// How much is simulated for the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Filters of every point of figures 1 and 2 of Kirsch and Mitzenmacher, who made 10,000.
    pub(crate) filters: u64,
    /// New items of every point of figure 3 of Dozier et al., who had 7 epochs of 100,000 arrivals.
    pub(crate) items_3: u64,
    /// New items of every point of their figure 4: 14 epochs of 1,000,000.
    pub(crate) items_4: u64,
}

impl Effort {
    /// A hundredth of the filters and a share of the items: less than a minute.
    pub const QUICK: Effort = Effort { filters: 100, items_3: 200_000, items_4: 500_000 };
    /// The papers' own numbers: some minutes.
    pub const FULL: Effort = Effort { filters: 10_000, items_3: 700_000, items_4: 14_000_000 };

    /// Nothing for figures: the claims alone, which are the same with every effort.
    pub const CLAIMS: Effort = Effort { filters: 0, items_3: 0, items_4: 0 };

    /// So many filters of every point, or 10,000 times as many new items.
    #[must_use]
    pub fn trials(trials: u64) -> Effort {
        let items = trials.saturating_mul(dozier::ITEMS);
        Effort { filters: trials, items_3: items, items_4: items }
    }
}

/// Leaves it.
const NO_MAKER: Maker<'static> = &|_, _| None;

impl Paper {
    /// All of them.
    pub const ALL: [Paper; 5] = [Paper::Burns, Paper::Grandi, Paper::Lehr, Paper::KirschMitzenmacher, Paper::Dozier];

    /// Its name, the authors' in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Paper::Burns => "burns",
            Paper::Grandi => "grandi",
            Paper::Lehr => "lehr",
            Paper::KirschMitzenmacher => "kirsch-mitzenmacher",
            Paper::Dozier => "dozier",
        }
    }

    /// Author and title.
    pub fn title(self) -> &'static str {
        match self {
            Paper::Burns => "Burns, On Occupancy Moments and Bloom Filter Efficiency",
            Paper::Grandi => "Grandi, On the analysis of Bloom filters",
            Paper::Lehr => "Lehr, The Bloom Filter Hashing Solution",
            Paper::KirschMitzenmacher => "Kirsch and Mitzenmacher, Building a Better Bloom Filter",
            Paper::Dozier => "Dozier, Salamatian and Rubenstein, Modeling Average False Positive Rates of Recycling Bloom Filters",
        }
    }

    /// Its claims, in the order of the paper. Below two seconds, for Dozier et al. some more; the
    /// sizes are the papers', so no error is expected.
    pub fn claims(self) -> Result<Vec<Claim>> {
        self.claims_of(NO_MAKER, &Known::new())
    }

    /// The same of filters made elsewhere, where filters are simulated (Dozier et al.), and with
    /// what is known already: see [`Paper::experiments`].
    pub fn claims_of(self, make: Maker<'_>, known: &Known) -> Result<Vec<Claim>> {
        match self {
            Paper::Burns => burns::claims(),
            Paper::Grandi => grandi::claims(),
            Paper::Lehr => lehr::claims(),
            Paper::KirschMitzenmacher => kirsch_mitzenmacher::claims(),
            Paper::Dozier => dozier::claims(make, known),
        }
    }

    /// The data of its figures (for Lehr, who draws none, of his sequence and of the design tables
    /// that he describes), with a hundred trials of every experiment. Some seconds, for Kirsch and
    /// Mitzenmacher half a minute.
    pub fn figures(self) -> Result<Vec<Figure>> {
        self.figures_of(&Effort::trials(100), NO_MAKER, &Known::new())
    }

    /// The same with so much simulated, of filters made elsewhere where those recycle, and with
    /// what is known already: see [`Paper::experiments`]. Trials are drawn from a frozen generator.
    pub fn figures_of(self, effort: &Effort, make: Maker<'_>, known: &Known) -> Result<Vec<Figure>> {
        match self {
            Paper::Burns => burns::figures(),
            Paper::Grandi => grandi::figures(),
            Paper::Lehr => lehr::figures(),
            Paper::KirschMitzenmacher => kirsch_mitzenmacher_trials::figures(effort, known),
            Paper::Dozier => dozier::figures(effort, make, known),
        }
    }

    /// Runs the experiments behind the claims and the figures on so many threads and adds their
    /// numbers to `known`, leaving out those that are there. Each that ends is reported to `done`,
    /// which says whether to go on. The numbers do not depend on the threads, nor on where a run
    /// was stopped and taken up again.
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

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Ours agrees with every printed digit, or the statement held wherever its text says that it
    /// was tried.
    Confirmed,
    /// As printed it is wrong; ours agrees with the corrected form.
    Corrected,
    /// As printed it is wrong, and no correction makes it a claim of the same kind.
    Refuted,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 3] = [Verdict::Confirmed, Verdict::Corrected, Verdict::Refuted];

    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Confirmed => "confirmed",
            Verdict::Corrected => "corrected",
            Verdict::Refuted => "refuted",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Confirmed => "confirmed",
            Verdict::Corrected => "confirmed with a correction",
            Verdict::Refuted => "refuted",
        })
    }
}

/// One thing that a paper says, and what this library computes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    /// A short name, unique within the paper.
    pub id: &'static str,
    /// The section or figure.
    pub place: &'static str,
    /// What is claimed, in a few words of ours.
    pub text: &'static str,
    /// As printed.
    pub printed: &'static str,
    /// What is right instead, where the verdict is [`Verdict::Corrected`].
    pub corrected: Option<&'static str>,
    /// As computed here; numbers to six digits.
    pub ours: String,
    /// What follows.
    pub verdict: Verdict,
    /// The row of `docs/ERRATA.md`: always with a correction or a refutation, as a note with some
    /// that are confirmed.
    pub erratum: Option<&'static str>,
}

impl Claim {
    /// A printed number (`%` after it: a percentage, and so is `ours`).
    fn number(id: &'static str, place: &'static str, text: &'static str, printed: &'static str, ours: f64) -> Claim {
        let unit = if printed.ends_with('%') { "%" } else { "" };
        let verdict = if agrees(ours, printed) { Verdict::Confirmed } else { Verdict::Refuted };
        Claim { id, place, text, printed, corrected: None, ours: format!("{}{unit}", shown(ours)), verdict, erratum: None }
    }

    /// A printed number that is wrong, and the right one.
    fn misprint(
        [id, place, text]: [&'static str; 3],
        printed: &'static str,
        ours: f64,
        corrected: &'static str,
        erratum: &'static str,
    ) -> Claim {
        Claim::number(id, place, text, printed, ours).unless(corrected, agrees(ours, corrected), erratum)
    }

    /// A statement in words, whether it held as printed, and what was found.
    fn statement([id, place, text]: [&'static str; 3], printed: &'static str, holds: bool, ours: impl Into<String>) -> Claim {
        let verdict = if holds { Verdict::Confirmed } else { Verdict::Refuted };
        Claim { id, place, text, printed, corrected: None, ours: ours.into(), verdict, erratum: None }
    }

    /// Where it failed as printed: the corrected form, and whether that held.
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

/// The data of one figure: a row a point, a column a curve.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// The paper's name and the figure's number.
    pub name: &'static str,
    /// What is in it.
    pub text: &'static str,
    /// The names of the columns, the abscissa first.
    pub columns: Vec<String>,
    /// As many numbers each as there are columns; not a number where there is none.
    pub rows: Vec<Vec<f64>>,
    /// More columns, of words: name, and a word a row.
    pub words: Vec<(String, Vec<&'static str>)>,
}

impl Figure {
    fn new(name: &'static str, text: &'static str, columns: &[&str], rows: Result<Vec<Vec<f64>>>) -> Result<Figure> {
        Ok(Figure { name, text, columns: columns.iter().map(|&column| column.to_owned()).collect(), rows: rows?, words: Vec::new() })
    }

    /// The figure as comma-separated values, a line of column names first; numbers so that they
    /// read back the same, nothing where there is none, and the columns of words last.
    pub fn csv(&self) -> String {
        let row = |(number, row): (usize, &Vec<f64>)| {
            let words = self.words.iter().map(|(_, words)| words.get(number).copied().unwrap_or_default().to_owned());
            row.iter().map(|&value| plain(value)).chain(words).collect::<Vec<_>>().join(",") + "\n"
        };
        let names: Vec<&str> = self.columns.iter().chain(self.words.iter().map(|(name, _)| name)).map(String::as_str).collect();
        std::iter::once(names.join(",") + "\n").chain(self.rows.iter().enumerate().map(row)).collect()
    }
}

/// The shortest text that reads back as the same number.
fn plain(value: f64) -> String {
    match value {
        _ if value.is_nan() => String::new(),
        _ if value.fract() == 0.0 => format!("{value}"),
        _ => format!("{value:?}"),
    }
}

/// Whether the number, rounded to as many digits as are printed, is what is printed: `5`, `0.023`,
/// `4.59e-4`, `11.18%`.
fn agrees(ours: f64, printed: &str) -> bool {
    let printed = printed.trim_end_matches('%');
    let mantissa = printed.split('e').next().unwrap_or(printed);
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    printed == if mantissa.len() < printed.len() { format!("{ours:.decimals$e}") } else { format!("{ours:.decimals$}") }
}

/// A number to six digits.
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

/// By how many percent `value` is above `base`.
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

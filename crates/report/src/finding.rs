//! The rate of another library's filter of one size, and a verdict on this rate.

use crate::charts::{self, Given};
use crate::show::{plural, rate as rate_text};
use std::fmt;
use truebloom_audit::{PROFILES, Profile, Simulation, Size, find, ideal, rate, share, simulate};
use truebloom_math::{Fpr, Rate, Result};
use truebloom_plot::Chart;

/// Returns the library with this name, in upper or lower case.
///
/// # Errors
/// Fails if the name is not known; the message lists all names.
pub fn library(name: &str) -> std::result::Result<&'static Profile, String> {
    find(&name.to_lowercase()).ok_or_else(|| {
        let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
        format!("`{name}` is not a known library; choose one of {}", names.join(", "))
    })
}

/// What is known about one library's filter of one size.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The library.
    pub profile: &'static Profile,
    /// The number of items.
    pub items: u64,
    /// The size of the filter, which the library chooses or which was given.
    pub size: Size,
    /// The rate that a filter of this size would have with independent positions.
    pub ideal: Fpr,
    /// The rate according to a formula. `None` if there is no formula for this library.
    pub law: Option<Fpr>,
    /// The rate that equal hashes alone cause: the probability that a new key has the same hash as
    /// an item of the filter.
    pub floor: f64,
    /// The result of a simulation, if there was one.
    pub simulation: Option<Simulation>,
    /// A lower bound on the share of filters whose own rate is at most the requested rate.
    pub share: Option<f64>,
}

impl Finding {
    /// Returns the finding for a size, without a simulation.
    ///
    /// # Errors
    /// Fails if the numbers are out of range, or if evaluating the formula would take too long.
    pub fn by_law(profile: &'static Profile, size: Size, items: u64, asked: Option<&Rate>) -> Result<Finding> {
        let share = asked.map(|asked| share(profile, size, items, asked)).transpose()?.flatten();
        Ok(Finding {
            profile,
            items,
            size,
            ideal: ideal(size, items)?,
            law: rate(profile, size, items)?,
            floor: profile.arithmetic.hash_floor(size, items),
            simulation: None,
            share,
        })
    }

    /// Returns the number of queries that a simulation needs to measure the rate to a few percent.
    /// This number is limited, so that the simulation takes at most about a second. Returns `None`
    /// if a formula gives the rate.
    #[must_use]
    pub fn queries(&self) -> Option<u64> {
        self.law.is_none().then(|| (10_000.0 / self.ideal.value).clamp(1e6, 2e7) as u64)
    }

    /// Adds a simulation with this many queries.
    ///
    /// # Errors
    /// Fails if a number is out of range, or if the simulation would take too many steps.
    pub fn simulated(self, queries: u64, seed: u64) -> Result<Finding> {
        let simulation = Some(simulate(self.profile, self.size, self.items, queries, seed)?);
        Ok(Finding { simulation, ..self })
    }

    /// Returns the rate, and the lower and the upper end of its interval. All three come from the
    /// formula if there is one, and otherwise from the simulation. None of the three is below
    /// [`floor`](Self::floor), the rate that equal hashes alone cause. Without a formula and a
    /// simulation, the rate is NaN and the interval is 0 to 1.
    #[must_use]
    pub fn rate(&self) -> (f64, f64, f64) {
        match (&self.law, &self.simulation) {
            (Some(fpr), _) => (fpr.value, fpr.lower, fpr.upper),
            (None, Some(found)) => (found.rate.max(self.floor), found.lower.max(self.floor), found.upper.max(self.floor)),
            (None, None) => (f64::NAN, 0.0, 1.0),
        }
    }

    /// Returns the number of hits if the simulation was too short, and otherwise `None`. The
    /// simulation was too short if its interval is so wide that it says almost nothing. This
    /// happens if too few of the simulated filters had hits. It also happens if too few filters
    /// were simulated to rule out that some filters have many hits.
    #[must_use]
    pub fn too_short(&self) -> Option<u64> {
        let found = self.simulation.as_ref().filter(|_| self.law.is_none())?;
        (found.upper > USELESS * found.rate.max(self.floor)).then_some(found.hits)
    }

    /// Returns a short text that says how the rate was obtained, for one line of a table. `write`
    /// formats a rate.
    #[must_use]
    pub fn known_by(&self, write: impl Fn(f64) -> String) -> String {
        let (_, lower, upper) = self.rate();
        match (&self.law, self.too_short()) {
            (Some(law), _) => law.method.to_string(),
            (None, Some(hits)) => format!("simulation, too short ({})", plural(hits, "hit")),
            (None, None) => format!("simulation, {} to {}", write(lower), write(upper)),
        }
    }

    /// Returns the interval of the simulation as text, or a note that the simulation was too short.
    #[must_use]
    pub fn interval(&self, found: &Simulation, write: impl Fn(f64) -> String) -> String {
        match self.too_short() {
            Some(_) => format!("simulation too short; the rate is below {}", write(found.upper)),
            None => format!("99% interval {} to {}", write(found.lower), write(found.upper)),
        }
    }

    /// Returns a chart of the rate for different numbers of items, from a quarter of the given
    /// number to twice this number.
    #[must_use]
    pub fn chart(&self, asked: Option<Rate>) -> Chart {
        let by_law = |items: u64| rate(self.profile, self.size, items).ok()?.map(|fpr| fpr.value);
        let ideal = |items: u64| ideal(self.size, items).ok().map(|fpr| fpr.value);
        let asked = asked.map(|rate| rate.to_f64());
        let note = format!("{}, {}", plural(self.size.bits, "bit"), plural(self.size.probes.into(), "probe"));
        truebloom_math::as_one_call(|| charts::library(self.profile.title, self.items, asked, by_law, ideal, self.rate())).note(note)
    }

    /// Returns the row of this library in a chart of all libraries ([`charts::libraries`]).
    #[must_use]
    pub fn given(&self) -> Given {
        let name = self.profile.name;
        let (value, lower, upper) = self.rate();
        match self.too_short() {
            // The interval is left out, because it would be a bar across the whole chart.
            Some(_) => Given { library: format!("{name} (too short)"), ideal: self.ideal.value, rate: (value, f64::NAN, f64::NAN) },
            None => Given { library: name.to_owned(), ideal: self.ideal.value, rate: (value, lower, upper) },
        }
    }

    /// Returns a text that says how the rate was obtained.
    #[must_use]
    pub fn method(&self) -> String {
        self.law.map_or("simulation".to_owned(), |fpr| fpr.method.to_string())
    }

    /// Returns a number of queries that may be enough for a verdict, written as `20M`. Returns
    /// `None` unless too few queries were simulated to tell whether the rate is at most the
    /// requested rate.
    #[must_use]
    pub fn more_queries(&self, asked: Rate) -> Option<String> {
        let (asked, (_, lower, upper)) = (asked.to_f64(), self.rate());
        let is_open = self.law.is_none() && self.floor <= asked && lower <= asked && asked < upper;
        self.simulation.as_ref().filter(|_| is_open).map(|found| more(found.queries))
    }

    /// Decides whether the rate is at most the requested rate.
    #[must_use]
    pub fn verdict(&self, asked: Option<Rate>) -> Verdict {
        let Some(rate) = asked else { return Verdict::NothingAsked };
        let asked = rate.to_f64();
        let (value, lower, upper) = self.rate();
        let is_by_hashes = self.floor > asked;
        if !is_by_hashes && upper <= asked {
            Verdict::Kept
        } else if !is_by_hashes && lower <= asked {
            self.more_queries(rate).map_or(Verdict::TooClose, Verdict::TooFew)
        } else {
            let hash_bits = is_by_hashes.then(|| self.profile.arithmetic.hash_bits(self.size));
            Verdict::Missed { times: value / asked, hash_bits }
        }
    }
}

/// Whether a rate is at most the requested rate. `{}` formats the verdict as text.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// No rate was requested.
    NothingAsked,
    /// The rate is at most the requested rate.
    Kept,
    /// Too few queries were simulated to decide. The text is a number of queries that may be
    /// enough, written as `20M`.
    TooFew(String),
    /// The rate may be below or above the requested rate.
    TooClose,
    /// The rate is above the requested rate.
    Missed {
        /// The rate divided by the requested rate.
        times: f64,
        /// The number of bits of a hash, if equal hashes alone cause a rate above the requested
        /// rate.
        hash_bits: Option<u32>,
    },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::NothingAsked => f.write_str("nothing asked"),
            Verdict::Kept => f.write_str("kept"),
            Verdict::TooFew(_) => f.write_str("too few queries for a verdict"),
            Verdict::TooClose => f.write_str("too close for a verdict"),
            Verdict::Missed { times, hash_bits: None } if *times < 1.5 => write!(f, "missed by {}%", rate_text(100.0 * (times - 1.0), 2)),
            Verdict::Missed { times, hash_bits } => {
                write!(f, "missed: {} times the requested rate", rate_text(*times, 2))?;
                hash_bits.map_or(Ok(()), |bits| write!(f, "; collisions of the {bits}-bit hash alone already exceed the requested rate"))
            }
        }
    }
}

/// The interval of a simulation is useless if it ends at more than this many times the measured
/// rate.
const USELESS: f64 = 30.0;

/// The number of queries that a message suggests, such as `20M`: ten times as many as before, and
/// at least twenty million.
fn more(queries: u64) -> String {
    let wanted = queries.saturating_mul(10).max(20_000_000).div_ceil(10_000_000) * 10;
    if wanted.is_multiple_of(1_000) { format!("{}G", wanted / 1_000) } else { format!("{wanted}M") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More queries are suggested only if the interval contains the requested rate.
    #[test]
    fn more_queries_only_where_they_may_tell() {
        let asked = |rate: &str| rate.parse::<Rate>().expect("a rate");
        let profile = library("guava").expect("known");
        let size = profile.size(1000, 1e-3).expect("a size");
        let found = Finding::by_law(profile, size, 1000, None).expect("in range");
        assert_eq!(found.more_queries(asked("0.1%")), None, "nothing was simulated");
        let found = found.simulated(1_000_000, 1).expect("in range");
        let (_, lower, upper) = found.rate();
        let inside = Rate::try_from(f64::midpoint(lower, upper)).expect("a rate");
        assert_eq!(found.more_queries(inside).as_deref(), Some("20M"));
        assert_eq!(found.verdict(Some(inside)), Verdict::TooFew("20M".to_owned()));
        assert_eq!([asked("1e-6"), asked("5%")].map(|rate| found.more_queries(rate)), [None, None]);
        let words = found.interval(found.simulation.as_ref().expect("one"), |rate| rate_text(rate, 2));
        assert!(found.known_by(|rate| rate_text(rate, 2)).starts_with("simulation, ") && words.starts_with("99% interval"), "{words}");
    }
}

//! The rate that another library gives at one size, and a verdict.

use crate::charts::{self, Given};
use crate::show::{plural, rate as rate_text};
use truebloom_audit::{PROFILES, Profile, Simulation, Size, find, ideal, rate, share, simulate};
use truebloom_math::{Fpr, Rate, Result};
use truebloom_plot::Chart;

/// The library with this name, in upper or lower case.
///
/// # Errors
/// The name is not known; the message lists all names.
pub fn library(name: &str) -> std::result::Result<&'static Profile, String> {
    find(&name.to_lowercase()).ok_or_else(|| {
        let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
        format!("`{name}` is not a known library; take one of {}", names.join(", "))
    })
}

/// What is known about one library at one size.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The library.
    pub profile: &'static Profile,
    /// The number of items.
    pub items: u64,
    /// The size that the library chooses, or that was given.
    pub size: Size,
    /// The rate that the same number of independent positions would have.
    pub ideal: Fpr,
    /// Its rate according to a law, if one applies.
    pub law: Option<Fpr>,
    /// The rate that equal hashes alone cause.
    pub floor: f64,
    /// Its rate according to a simulation.
    pub simulation: Option<Simulation>,
    /// A lower bound on the share of filters that keep the rate asked for.
    pub share: Option<f64>,
}

impl Finding {
    /// The finding for a size, from laws alone.
    ///
    /// # Errors
    /// The errors of the laws.
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

    /// How many queries a simulation needs to measure the rate to a few percent, limited to about a
    /// second; `None` if a law gives the rate.
    #[must_use]
    pub fn queries(&self) -> Option<u64> {
        self.law.is_none().then(|| (10_000.0 / self.ideal.value).clamp(1e6, 2e7) as u64)
    }

    /// Adds a simulation with this many queries.
    ///
    /// # Errors
    /// The errors of the simulation.
    pub fn simulated(self, queries: u64, seed: u64) -> Result<Finding> {
        let simulation = Some(simulate(self.profile, self.size, self.items, queries, seed)?);
        Ok(Finding { simulation, ..self })
    }

    /// The rate and its interval: from the law if there is one, and never below the floor of equal
    /// hashes.
    #[must_use]
    pub fn rate(&self) -> (f64, f64, f64) {
        match (&self.law, &self.simulation) {
            (Some(fpr), _) => (fpr.value, fpr.lower, fpr.upper),
            (None, Some(found)) => (found.rate.max(self.floor), found.lower.max(self.floor), found.upper.max(self.floor)),
            (None, None) => (f64::NAN, 0.0, 1.0),
        }
    }

    /// The number of hits, if the interval of the simulation says almost nothing: too few of its
    /// filters had any, or it had too few filters, to exclude that others have many.
    #[must_use]
    pub fn too_short(&self) -> Option<u64> {
        let found = self.simulation.as_ref().filter(|_| self.law.is_none())?;
        (found.upper > USELESS * found.rate.max(self.floor)).then_some(found.hits)
    }

    /// The chart by number of items, around the number asked for.
    #[must_use]
    pub fn chart(&self, asked: Option<Rate>) -> Chart {
        let by_law = |items: u64| rate(self.profile, self.size, items).ok()?.map(|fpr| fpr.value);
        let ideal = |items: u64| ideal(self.size, items).ok().map(|fpr| fpr.value);
        let asked = asked.map(|rate| rate.to_f64());
        let note = format!("{}, {}", plural(self.size.bits, "bit"), plural(self.size.probes.into(), "probe"));
        truebloom_math::as_one_call(|| charts::library(self.profile.title, self.items, asked, by_law, ideal, self.rate())).note(note)
    }

    /// Its line in a chart of all libraries.
    #[must_use]
    pub fn given(&self) -> Given {
        let name = self.profile.name;
        let (value, lower, upper) = self.rate();
        match self.too_short() {
            // A bar across the whole chart would be all that is seen of it.
            Some(_) => Given { library: format!("{name} (too short)"), ideal: self.ideal.value, rate: (value, f64::NAN, f64::NAN) },
            None => Given { library: name.to_owned(), ideal: self.ideal.value, rate: (value, lower, upper) },
        }
    }

    /// How the rate was obtained.
    #[must_use]
    pub fn method(&self) -> String {
        self.law.map_or("simulation".to_owned(), |fpr| fpr.method.to_string())
    }

    /// Whether the rate is the one asked for. `remedy` ends the sentence if too few queries were
    /// simulated to decide; it gets the number of queries that may be enough.
    #[must_use]
    pub fn verdict(&self, asked: Option<Rate>, remedy: impl Fn(&str) -> String) -> String {
        let Some(asked) = asked.map(|rate| rate.to_f64()) else { return "nothing asked".to_owned() };
        let (value, lower, upper) = self.rate();
        if self.floor > asked {
            let bits = self.profile.arithmetic.hash_bits(self.size);
            format!(
                "missed: {} times what was asked, and equal hashes of {bits} bits alone give more than that",
                rate_text(value / asked, 2)
            )
        } else if upper <= asked {
            "kept".to_owned()
        } else if lower <= asked {
            match &self.simulation {
                Some(found) if self.law.is_none() => format!("too few queries to tell{}", remedy(&more(found.queries))),
                _ => "too close to tell".to_owned(),
            }
        } else if value >= 1.5 * asked {
            format!("missed: {} times what was asked", rate_text(value / asked, 2))
        } else {
            format!("missed by {}%", rate_text(100.0 * (value / asked - 1.0), 2))
        }
    }
}

/// An interval that ends at more than so many times what was measured is useless.
const USELESS: f64 = 30.0;

/// Ten times as many, or twenty million, as that is written: `20M`.
fn more(queries: u64) -> String {
    let wanted = queries.saturating_mul(10).max(20_000_000).div_ceil(10_000_000) * 10;
    if wanted.is_multiple_of(1_000) { format!("{}G", wanted / 1_000) } else { format!("{wanted}M") }
}

//! From what was asked to a design: how large, when to forget, and what that promises.

use super::remember::{Remember, remember};
use crate::args;
use crate::failure::Failure;
use crate::report;
use std::time::Duration;
use truebloom::RecyclingFilter;
use truebloom::recycling::{Phases, Policy};
use truebloom_math::recycling::{Design, Mode, Sized, capacity, min_bits};
use truebloom_math::{Law, Rate, law};

/// Memory unless something else is asked for.
const DEFAULT_BYTES: u64 = 64 << 20;

/// The rate unless another is asked for.
const DEFAULT_RATE: &str = "1e-6";

/// The largest probability that a phase forgets sooner than asked.
const TOO_SOON: f64 = 1e-6;

/// What is asked of the memory.
#[derive(clap::Args)]
#[command(next_help_heading = "Memory")]
pub(super) struct Sizing {
    /// Distinct lines that come before all is forgotten, on average, the one that is too many included; with --remember and a time: that come in this time
    #[arg(short = 'n', long, value_name = "N", value_parser = args::items, allow_hyphen_values = true)]
    items: Option<u64>,

    /// Average rate at which first occurrences may be dropped wrongly: 0.1%, 1e-6, the default
    #[arg(short = 'p', long = "fpr", value_name = "RATE", value_parser = args::rate, allow_hyphen_values = true)]
    rate: Option<Rate>,

    /// Memory for all that is known: 64MiB, 2GB
    #[arg(long, value_name = "BYTES", value_parser = args::bytes, conflicts_with = "items", allow_hyphen_values = true)]
    memory: Option<u64>,

    /// Remember every line while at least so many others come (10M), or for so long (1h): two phases, of which the older is forgotten
    #[arg(long, value_name = "SPAN", value_parser = remember)]
    remember: Option<Remember>,
}

/// A design, and what was asked of it.
pub(super) struct Chosen {
    pub(super) design: Design,
    /// When phases end by time, at most.
    pub(super) age: Option<Duration>,
    /// So many lines are remembered in all but one phase in a million.
    pub(super) items: Option<u64>,
    /// The average rate asked for.
    pub(super) rate: Option<Rate>,
}

impl Sizing {
    /// Whether nothing is asked.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_none() && self.rate.is_none() && self.memory.is_none() && self.remember.is_none()
    }

    pub(super) fn choose(&self) -> Result<Chosen, Failure> {
        let rate = match self.rate {
            Some(rate) => rate,
            None => args::rate(DEFAULT_RATE).map_err(Failure::new)?,
        };
        let (mode, age, items) = match (self.remember, self.items) {
            (None, items) => (Mode::default(), None, items),
            (Some(Remember::Time(age)), items) => (two_phases(), Some(age), items),
            (Some(Remember::Items(_)), Some(_)) => {
                return Err(Failure::new("-n and --remember both give a number of lines; give one of them, or a time to --remember"));
            }
            (Some(Remember::Items(items)), None) => (two_phases(), None, Some(items)),
        };
        if items == Some(0) {
            return Err(Failure::new("a filter for no lines remembers nothing; give -n a number above 0"));
        }
        let phased = self.remember.is_some();
        let sized = match (self.memory, items) {
            (None, Some(items)) if phased => surely_remembering(items, &rate, mode)?,
            (None, Some(items)) => min_bits(items as f64, &rate, mode)?,
            (memory, _) => capacity(memory.unwrap_or(DEFAULT_BYTES).saturating_mul(8), &rate, mode)?,
        };
        let sized = sized.ok_or_else(|| self.too_small(&rate))?;
        let remembered = items.filter(|_| phased);
        if let (Some(items), Some(memory)) = (remembered, self.memory)
            && too_soon(&sized.design, items)? > TOO_SOON
        {
            return Err(not_enough(items, memory, &rate, mode));
        }
        Ok(Chosen { design: sized.design, age, items: remembered, rate: Some(rate) })
    }

    fn too_small(&self, rate: &Rate) -> Failure {
        match self.memory {
            Some(memory) => Failure::new(format_args!(
                "no filter of {} keeps to an average rate of {rate}, however early it forgets; give more --memory, or a higher rate",
                report::bytes(memory)
            )),
            None => {
                Failure::new(format_args!("so many lines at a rate of {rate} need more than 2^62 bits; ask for fewer, or a higher rate"))
            }
        }
    }
}

impl Chosen {
    /// The design of a filter that was there before.
    pub(super) fn of(filter: &RecyclingFilter) -> Result<Chosen, Failure> {
        let policy = filter.policy();
        let mode = if policy.phases == Phases::One { Mode::default() } else { two_phases() };
        let design = Design::new(filter.bits(), filter.probes(), policy.sigma, mode)?;
        Ok(Chosen { design, age: policy.age, items: None, rate: None })
    }

    pub(super) fn policy(&self) -> Policy {
        let sigma = self.design.sigma();
        let policy = if self.design.mode().filters() == 1 { Policy::one_phase(sigma) } else { Policy::two_phases(sigma) };
        Policy { age: self.age, ..policy }
    }

    /// Bytes of all phases.
    pub(super) fn bytes(&self) -> u64 {
        self.design.bits().div_ceil(64) * 8 * self.design.mode().filters()
    }
}

/// Every phase has a seed of its own, so that errors do not repeat.
fn two_phases() -> Mode {
    Mode { shared_hash: false, ..Mode::two_phase() }
}

/// The fewest bits with which a line is still known after `items` others, in all but one phase in a million.
///
/// A line is forgotten when the phase after its own ends. Within a phase every line enters once, so that one ends within `items` lines only if so many fill it: a tail of the law of
/// the fill, whatever the stream.
fn surely_remembering(items: u64, rate: &Rate, mode: Mode) -> Result<Option<Sized>, Failure> {
    // The length of a cycle deviates by less than the root of its mean, so that a few steps are enough.
    for step in 0u32.. {
        let mean = items as f64 + f64::from(step) * (items as f64).sqrt();
        match min_bits(mean, rate, mode)? {
            Some(sized) if too_soon(&sized.design, items)? > TOO_SOON => {}
            found => return Ok(found),
        }
    }
    Ok(None)
}

/// An upper bound of the probability that a phase ends within so many lines.
fn too_soon(design: &Design, items: u64) -> Result<f64, Failure> {
    let fill = law::Standard::new(design.bits(), design.probes())?.fill(items)?;
    Ok(fill.map_or(1.0, |fill| fill.at_least(design.sigma() + 1)))
}

fn not_enough(items: u64, memory: u64, rate: &Rate, mode: Mode) -> Failure {
    let needed = surely_remembering(items, rate, mode)
        .ok()
        .flatten()
        .map_or(String::new(), |sized| format!("; {} would", report::bytes(sized.design.total_bits().div_ceil(8))));
    Failure::new(format_args!("{} do not remember {} at a rate of {rate}{needed}", report::bytes(memory), report::plural(items, "line")))
}
